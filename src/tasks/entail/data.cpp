#include "tasks/entail/data.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/prepared.hpp"
#include "attn/text/sha256.hpp"
#include "attn/text/unicode.hpp"
#include "tasks/entail/network.hpp"
#include "tasks/entail/words.hpp"
#include "tasks/loading.hpp"

namespace attn::tasks::entail {
namespace {

constexpr std::uint64_t kLargestFile = std::uint64_t{1} << 30;
constexpr std::size_t kLinesNamed = 5;
/// Of a user's premises, for development and as much again for the test.
constexpr double kShareAside = 0.1;

std::vector<std::string> split_columns(std::string_view line) {
  std::vector<std::string> columns;
  for (;;) {
    const std::size_t tab = line.find('\t');
    columns.emplace_back(line.substr(0, tab));
    if (tab == std::string_view::npos) return columns;
    line.remove_prefix(tab + 1);
  }
}

/// The label of that name or first letter; "" for what is none.
std::string label_of(std::string_view text) {
  const std::string name = text::lower(text::normalise(text));
  for (const std::string& label : labels())
    if (name == label || name == label.substr(0, 1)) return label;
  return "";
}

/// What is wrong with a label, a premise and a hypothesis; "": nothing.
std::string fault_of(std::string_view line, const std::vector<std::string>& columns) {
  if (!files::is_utf8(line)) return "is not UTF-8";
  if (line.find('\0') != std::string_view::npos) return "has a NUL in it";
  if (columns.size() != 3)
    return "has " + std::to_string(columns.size()) +
           (columns.size() == 1 ? " column" : " columns") +
           "; label<TAB>premise<TAB>hypothesis is accepted";
  if (label_of(columns[0]).empty())
    return "has the label " + files::in_quotes(columns[0]) +
           "; entailment, neutral and contradiction are accepted";
  if (words_of(columns[1]).empty()) return "has a premise without words";
  if (words_of(columns[2]).empty()) return "has a hypothesis without words";
  return "";
}

}  // namespace

const PreparedFile& prepared_pairs() {
  static const PreparedFile kFile{
      "nli.tsv.xz", "73bb3f14384347639ae70595dbf86290861abc20046a9c086c7ebcbbce19fab3",
      "SNLI (github OanaMariaCamburu/e-SNLI), counterfactual SNLI (github "
      "acmi-lab/counterfactually-augmented-data), MultiNLI's development part (github "
      "felipessalvatore/NLI_datasets) and Breaking NLI (github BIU-NLP/Breaking_NLI), merged, "
      "leaks removed, as CC BY-SA 4.0"};
  return kFile;
}

Example example_of(std::string id, std::string label, std::string premise,
                   std::string hypothesis) {
  Example example{std::move(id), "", {std::move(label)}};
  example.parts.emplace(kPremise, std::move(premise));
  example.parts.emplace(kHypothesis, std::move(hypothesis));
  return example;
}

const std::string& premise_of(const Example& example) {
  return std::get<std::string>(example.parts.at(kPremise));
}

const std::string& hypothesis_of(const Example& example) {
  return std::get<std::string>(example.parts.at(kHypothesis));
}

Corpus parse_prepared(std::string_view text, TestSet test, const std::string& where) {
  const std::string_view test_split = test == TestSet::snli ? "test" : "test2";
  Corpus corpus;
  corpus.name = test == TestSet::snli ? "SNLI" : "Breaking NLI";
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    const std::vector<std::string> columns = split_columns(line);
    const std::string label = columns.size() == 5 ? label_of(columns[2]) : "";
    if (label.empty())
      fail<FileError>(where, ": line ", number,
                      " is not split, source, label, premise, hypothesis between tabs");
    std::vector<Example>* part = columns[0] == "train"      ? &corpus.train
                                 : columns[0] == "dev"      ? &corpus.development
                                 : columns[0] == test_split ? &corpus.test
                                                            : nullptr;
    if (part != nullptr)
      part->push_back(
          example_of(columns[1] + " " + std::to_string(number), label, columns[3], columns[4]));
  }
  return corpus;
}

Corpus read_own(const std::filesystem::path& path) {
  const std::string text = files::read_text(path, kLargestFile);
  const std::string where = files::path_text(path);
  Corpus corpus;
  corpus.name = path.filename().string();
  corpus.file = std::filesystem::absolute(path).lexically_normal();
  corpus.checksum = text::sha256_hex(std::as_bytes(std::span(text)));
  std::string named;
  std::size_t faults = 0;
  std::set<std::string> classes;
  std::string_view rest = text;
  if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);
  for (std::size_t number = 1; !rest.empty(); ++number) {
    std::string_view line = take_line(rest);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::vector<std::string> columns = split_columns(line);
    if (const std::string fault = fault_of(line, columns); !fault.empty()) {
      if (++faults <= kLinesNamed) named += "\n  line " + std::to_string(number) + " " + fault;
      continue;
    }
    const std::string label = label_of(columns[0]);
    classes.insert(label);
    const double place = split_place(columns[1]);
    std::vector<Example>& part = place < kShareAside       ? corpus.development
                                 : place < 2 * kShareAside ? corpus.test
                                                           : corpus.train;
    part.push_back(example_of("line " + std::to_string(number), label, columns[1], columns[2]));
  }
  if (faults > 0)
    fail<FileError>(where, ": ", faults, faults == 1 ? " line is" : " lines are",
                    " no pair with a label:", named, faults > kLinesNamed ? "\n  ..." : "");
  if (classes.empty()) fail<FileError>(where, " is empty");
  if (classes.size() < 2)
    fail<FileError>(where, ": every label is ", *classes.begin(),
                    "; two or more of them are needed to learn from");
  if (corpus.train.empty() || corpus.development.empty() || corpus.test.empty())
    fail<FileError>(where, " has ", corpus.train.size(), " pairs to learn from, ",
                    corpus.development.size(), " for development and ", corpus.test.size(),
                    " for the test; each part needs one, so give more different premises");
  return corpus;
}

}  // namespace attn::tasks::entail
