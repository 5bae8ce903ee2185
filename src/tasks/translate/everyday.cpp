#include "tasks/translate/everyday.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/prepared.hpp"
#include "tasks/loading.hpp"

namespace attn::tasks {
namespace {

const std::string kSource =
    "tatoeba.org (github Helsinki-NLP/Tatoeba-Challenge and the Anki files of manythings.org; "
    "columns train|dev|test, kind d|p|t, English, other), CC BY 2.0 FR";

const PreparedFile& file_named(const std::string& name) {
  const auto files = everyday_files();
  const auto at = std::find_if(files.begin(), files.end(),
                               [&](const PreparedFile& file) { return file.name == name; });
  if (at == files.end()) fail("there is no prepared file ", files::in_quotes(name));
  return *at;
}

/// The names are the same in both languages.
constexpr std::string_view kCities[] = {"Boston", "Chicago", "Toronto", "Sydney",  "Madrid",
                                        "Oslo",   "Miami",   "Dallas",  "Houston", "Seattle",
                                        "Kobe",   "Osaka",   "Kyoto",   "Nairobi", "Lima"};
constexpr std::string_view kPeople[] = {"Tom", "Mary", "John", "Emily", "Bill", "Ann",
                                        "Ken", "Bob",  "Jim",  "Lucy",  "Anna", "Marco"};
/// How often an epoch has each.
constexpr std::int64_t kTimesOfDay = 8;

using Row = std::array<std::string_view, 4>;

Row row_of(std::string_view line, const std::string& where, std::size_t number) {
  Row row;
  std::string_view rest = line;
  std::size_t columns = 0;
  for (std::string_view& field : row) {
    const std::size_t end = std::min(rest.find('\t'), rest.size());
    field = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    columns += field.empty() ? 0 : 1;
  }
  const bool part = row[0] == "train" || row[0] == "dev" || row[0] == "test";
  if (columns != row.size() || !rest.empty() || !part || !files::is_utf8(line))
    fail<FileError>(where, ", line ", number, ": ", files::in_quotes(line),
                    "; accepted is train, dev or test, a kind, English and the other "
                    "language, between tabs, in UTF-8");
  return row;
}

}  // namespace

std::span<const PreparedFile> everyday_files() {
  static const std::vector<PreparedFile> kFiles{
      {"en-it.tsv.xz", "63aa2f6cc8d51c7bb769236fc896eedc7f5956ec31c570b6ee2deef21aa30209",
       kSource},
      {"zh-en.tsv.xz", "86c76432575371d38871a114bb2a3ca2f10550d7acbe4c6ec671ad4769af655f",
       kSource},
      {"en-fr.tsv.xz", "775c2b8a7162900a772e6fb12f52d0b26de688d10a8f753bcf5a75004ed70da7",
       kSource},
      {"en-de.tsv.xz", "f71417dee0417a53f541fb9468dadcea32a0ac25bb5d169992649698fb6c83ff",
       kSource},
      {"en-es.tsv.xz", "8d8247e4c1799fc7d07d5cd443fd4da4cacfa21853243c9237adcdef8050864f",
       kSource}};
  return kFiles;
}

void add_everyday(std::string_view text, const std::string& where, const Everyday& how,
                  Corpus& corpus) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const Row row = row_of(take_line(text), where, number);
    const std::string_view source = how.into_english ? row[3] : row[2];
    const std::string_view target = how.into_english ? row[2] : row[3];
    Example example{"everyday " + how.other + ":" + std::to_string(number),
                    how.mark + std::string(source),
                    {std::string(target)}};
    if (row[0] == "train") {
      example.times = row[1] == "d" ? how.direct : 1;
      corpus.train.push_back(std::move(example));
    } else {
      (row[0] == "dev" ? corpus.development : corpus.test).push_back(std::move(example));
    }
  }
}

void add_times_of_day(Corpus& corpus) {
  const auto add = [&](const std::string& english, const std::string& italian) {
    Example example{"composed:" + english, english, {italian}};
    example.times = kTimesOfDay;
    corpus.train.push_back(std::move(example));
  };
  for (const std::string_view city : kCities)
    add("What time is it in " + std::string(city) + "?",
        "Che ora \u00e8 a " + std::string(city) + "?");
  for (const std::string_view person : kPeople)
    add("What time is it, " + std::string(person) + "?",
        "Che ora \u00e8, " + std::string(person) + "?");
}

void add_everyday(const Everyday& how, Corpus& corpus) {
  add_everyday(read_prepared(file_named(how.file), "translate"), how.file, how, corpus);
}

}  // namespace attn::tasks
