#include "attn/tasks/pairs/read_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "attn/tasks/corpus.hpp"
#include "tasks/split_place.hpp"
#include "tasks/tell.hpp"

namespace attn::tasks {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 30;
constexpr std::size_t kLinesNamed = 5;

enum class Part { train, development, test };

void validate(const PairOptions& options) {
  const auto is_share = [](double share) { return share >= 0.0 && share < 1.0; };
  if (!is_share(options.development) || !is_share(options.test) ||
      options.development + options.test >= 1.0)
    fail("attn::tasks::read_pairs: shares of development ", options.development, " and test ",
         options.test, "; each must be at least 0 and their sum below 1");
}

/// What is wrong with a line, or "" when it is a pair.
std::string fault_of(std::string_view line, const std::vector<std::string>& fields) {
  if (!files::is_utf8(line)) return "is not UTF-8";
  if (line.empty()) return "is empty";
  if (fields.size() < 2) return "has one column, where source<TAB>target is needed";
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (fields[i].find_first_not_of(" \r") == std::string::npos)
      return "has nothing in column " + std::to_string(i + 1);
  return "";
}

std::vector<std::string> split_columns(std::string_view line) {
  std::vector<std::string> fields;
  for (;;) {
    const std::size_t tab = line.find('\t');
    fields.emplace_back(line.substr(0, tab));
    if (tab == std::string_view::npos) return fields;
    line.remove_prefix(tab + 1);
  }
}

/// Keeps count of wrong lines and names the first few.
class Faults {
 public:
  void add(std::size_t line, const std::string& fault) {
    if (++count_ <= kLinesNamed) named_ += "\n  line " + std::to_string(line) + " " + fault;
  }
  void report(const std::string& where) const {
    if (count_ == 0) return;
    if (count_ == 1) fail<FileError>(where, ": a line is not a pair:", named_);
    fail<FileError>(where, ": ", count_, " lines are not pairs:", named_,
                    count_ > kLinesNamed ? "\n  ..." : "");
  }

 private:
  std::size_t count_ = 0;
  std::string named_;
};

std::vector<Example> parse(std::string_view text, const std::string& where) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::vector<Example> pairs;
  Faults faults;
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    std::vector<std::string> fields = split_columns(line);
    const std::string fault = fault_of(line, fields);
    if (!fault.empty()) {
      faults.add(number, fault);
      continue;
    }
    Example pair{"line " + std::to_string(number), std::move(fields[0]), {}};
    pair.targets.assign(std::make_move_iterator(fields.begin() + 1),
                        std::make_move_iterator(fields.end()));
    pairs.push_back(std::move(pair));
  }
  faults.report(where);
  if (pairs.empty())
    fail<FileError>(where, " is empty; source<TAB>target, a pair a line, is wanted");
  return pairs;
}

/// Sources in the order of their hashes: the first are test, the next development. Counts are
/// exact, so that a small file has something in every part that was asked for.
std::unordered_map<std::string, Part> parts_of(const std::vector<Example>& pairs,
                                               const PairOptions& options,
                                               const std::string& where) {
  std::unordered_map<std::string, Part> parts;
  for (const Example& pair : pairs) parts.emplace(pair.source, Part::train);
  std::vector<std::pair<std::uint64_t, std::string_view>> order;
  order.reserve(parts.size());
  for (const auto& [source, part] : parts)
    order.emplace_back(split_hash(source, options.seed), source);
  std::sort(order.begin(), order.end());

  const auto count = [&](double share) {
    const auto exact = share * static_cast<double>(order.size());
    return share > 0.0 ? std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(exact)))
                       : std::size_t{0};
  };
  const std::size_t test = count(options.test);
  const std::size_t development = count(options.development);
  if (test + development >= order.size())
    fail<FileError>(where, ": ", order.size(), " different sources; ", test,
                    " for the test and ", development,
                    " for development leave none to learn from");
  for (std::size_t i = 0; i < test + development; ++i)
    parts[std::string(order[i].second)] = i < test ? Part::test : Part::development;
  return parts;
}

/// One example a source, with all its targets, in the order of first appearance.
std::vector<Example> merged(std::vector<Example> pairs) {
  std::vector<Example> out;
  std::unordered_map<std::string, std::size_t> places;
  for (Example& pair : pairs) {
    const auto [place, is_new] = places.emplace(pair.source, out.size());
    if (is_new) {
      out.push_back(std::move(pair));
      continue;
    }
    std::vector<std::string>& targets = out[place->second].targets;
    for (std::string& target : pair.targets)
      if (std::find(targets.begin(), targets.end(), target) == targets.end())
        targets.push_back(std::move(target));
  }
  return out;
}

}  // namespace

Corpus read_pairs(const fs::path& path, const PairOptions& options, const Say& say) {
  validate(options);
  const std::string where = files::path_text(path);
  tell(say, "reading " + where);
  std::vector<Example> pairs = parse(files::read_text(path, kMostBytes), where);
  const auto parts = parts_of(pairs, options, where);

  Corpus corpus{
      .name = path.stem().string(), .train = {}, .development = {}, .test = {}, .notes = {}};
  for (Example& pair : pairs) {
    const Part part = parts.at(pair.source);
    (part == Part::test          ? corpus.test
     : part == Part::development ? corpus.development
                                 : corpus.train)
        .push_back(std::move(pair));
  }
  corpus.development = merged(std::move(corpus.development));
  corpus.test = merged(std::move(corpus.test));
  return corpus;
}

}  // namespace attn::tasks
