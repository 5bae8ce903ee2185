#include "attn/tasks/pairs/read_pairs.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/csv.hpp"
#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/text/sha256.hpp"
#include "tasks/loading.hpp"

namespace attn::tasks {
namespace {

constexpr std::size_t kLinesNamed = 5;

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

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

std::string id_of(std::size_t line) {
  return "line " + std::to_string(line);
}

/// Calls take(line, number) for each, without its end.
template <class Take>
void for_lines(std::string_view text, const Take& take) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::string_view line = take_line(text);
    if (line.ends_with('\r')) line.remove_suffix(1);
    take(line, number);
  }
}

/// Texts are lines everywhere else, so a line end inside one is a space.
std::string one_line(std::string text) {
  for (char& c : text)
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  return text;
}

// source<TAB>target, without a header.

/// What is wrong with a line, or "" when it is a pair.
std::string fault_of(std::string_view line, const std::vector<std::string>& fields) {
  if (!files::is_utf8(line)) return "is not UTF-8";
  if (line.empty()) return "is empty";
  if (fields.size() < 2)
    return "has one column, where source<TAB>target is needed (CSV with a header is read from "
           "a file that ends with .csv)";
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (is_blank(fields[i])) return "has nothing in column " + std::to_string(i + 1);
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

std::vector<Example> parse_tsv(std::string_view text, Faults& faults) {
  std::vector<Example> pairs;
  for_lines(text, [&](std::string_view line, std::size_t number) {
    std::vector<std::string> fields = split_columns(line);
    if (const std::string fault = fault_of(line, fields); !fault.empty())
      return faults.add(number, fault);
    Example pair{id_of(number), std::move(fields[0]), {}};
    pair.targets.assign(std::make_move_iterator(fields.begin() + 1),
                        std::make_move_iterator(fields.end()));
    pairs.push_back(std::move(pair));
  });
  return pairs;
}

// A table with a header.

std::size_t column_of(const files::Csv& table, const std::string& name,
                      const std::string& where) {
  try {
    return table.find(name);
  } catch (const InvalidArgument& error) {
    fail<FileError>(where, ": ", error.what(),
                    ". Name yours with --source-column and --target-column");
  }
}

std::vector<Example> parse_table(std::string_view text, char separator,
                                 const PairOptions& options, const std::string& where,
                                 Faults& faults) {
  files::Csv table = files::parse_csv(text, where, separator);
  const std::size_t columns[] = {column_of(table, options.source_column, where),
                                 column_of(table, options.target_column, where)};
  std::vector<Example> pairs;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    std::string fault;
    for (const std::size_t column : columns) {
      const std::string& field = table.columns[column][row];
      if (!fault.empty()) break;
      if (!files::is_utf8(field)) fault = "is not UTF-8";
      if (is_blank(field))
        fault = "has nothing in column " + files::in_quotes(table.names[column]);
    }
    if (!fault.empty()) {
      faults.add(table.lines[row], fault);
      continue;
    }
    pairs.push_back({id_of(table.lines[row]),
                     one_line(table.columns[columns[0]][row]),
                     {one_line(table.columns[columns[1]][row])}});
  }
  return pairs;
}

// A JSON object a line.

/// The texts of a member: itself, or those in its list. A fault where there are none.
std::string texts_of(const nlohmann::json& object, const std::string& name,
                     std::vector<std::string>& texts) {
  const std::string quoted = files::in_quotes(name);
  const auto found = object.find(name);
  if (found == object.end()) {
    std::string known;
    for (const auto& [key, value] : object.items())
      known += (known.empty() ? "" : ", ") + files::in_quotes(key);
    return "has no " + quoted + " among its members (" + known +
           "); name yours with --source-column and --target-column";
  }
  const nlohmann::json list = found->is_array() ? *found : nlohmann::json::array({*found});
  for (const nlohmann::json& one : list) {
    if (!one.is_string())
      return "has " + std::string(one.type_name()) + " in " + quoted + ", where text is needed";
    if (is_blank(one.get_ref<const std::string&>())) return "has nothing in " + quoted;
    texts.push_back(one_line(one.get<std::string>()));
  }
  return texts.empty() ? "has nothing in " + quoted : "";
}

/// What is wrong with a line, or "" when it is in `pair`.
std::string read_object(std::string_view line, const PairOptions& options, Example& pair) {
  if (is_blank(line)) return "is empty";
  nlohmann::json object;
  try {
    object = files::parse_json(line, "");
  } catch (const FileError&) {
    return files::is_utf8(line) ? "is not JSON" : "is not UTF-8";
  }
  if (!object.is_object())
    return "is no JSON object, such as {\"source\": ..., \"target\": ...}";
  std::vector<std::string> sources;
  if (std::string fault = texts_of(object, options.source_column, sources); !fault.empty())
    return fault;
  if (sources.size() > 1)
    return "has several texts in " + files::in_quotes(options.source_column);
  pair.source = std::move(sources.front());
  return texts_of(object, options.target_column, pair.targets);
}

std::vector<Example> parse_json_lines(std::string_view text, const PairOptions& options,
                                      Faults& faults) {
  std::vector<Example> pairs;
  for_lines(text, [&](std::string_view line, std::size_t number) {
    Example pair{id_of(number), {}, {}};
    if (const std::string fault = read_object(line, options, pair); !fault.empty())
      return faults.add(number, fault);
    pairs.push_back(std::move(pair));
  });
  return pairs;
}

enum class Format { tsv, table, json_lines };

std::string small_ending(const std::filesystem::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending;
}

/// The ending says it; where it does not, the first letter does.
Format format_of(std::string_view text, const std::filesystem::path& path,
                 const PairOptions& options) {
  const std::string ending = small_ending(path);
  if (ending == ".csv") return Format::table;
  if (ending == ".jsonl" || ending == ".ndjson" || ending == ".json") return Format::json_lines;
  // Columns have names where there is a header.
  const bool named = options.source_column != PairOptions{}.source_column ||
                     options.target_column != PairOptions{}.target_column;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool brace = first != std::string_view::npos && text[first] == '{';
  if (ending != ".tsv" && brace) return Format::json_lines;
  return named ? Format::table : Format::tsv;
}

/// An example a line, with its number as id. `path` tells the format where the text does not.
std::vector<Example> parse_pairs(std::string_view text, const std::filesystem::path& path,
                                 const PairOptions& options) {
  const std::string where = files::path_text(path);
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (is_blank(text))
    fail<FileError>(where, " is empty; source<TAB>target, a pair a line, is wanted");
  Faults faults;
  std::vector<Example> pairs;
  switch (format_of(text, path, options)) {
    case Format::tsv:
      pairs = parse_tsv(text, faults);
      break;
    case Format::table:
      pairs =
          parse_table(text, small_ending(path) == ".tsv" ? '\t' : files::csv_separator(text),
                      options, where, faults);
      break;
    case Format::json_lines:
      pairs = parse_json_lines(text, options, faults);
      break;
  }
  faults.report(where);
  if (pairs.empty()) fail<FileError>(where, " has a header and no pair");
  return pairs;
}

namespace fs = std::filesystem;

constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 30;

enum class Part { train, development, test };

void validate(const PairOptions& options) {
  const auto is_share = [](double share) { return share >= 0.0 && share < 1.0; };
  if (!is_share(options.development) || !is_share(options.test) ||
      options.development + options.test >= 1.0)
    fail("attn::tasks::read_pairs: shares of development ", options.development, " and test ",
         options.test, "; each must be at least 0 and their sum below 1");
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
  const std::string text = files::read_text(path, kMostBytes);
  std::vector<Example> pairs = parse_pairs(text, path, options);
  const auto parts = parts_of(pairs, options, where);

  Corpus corpus;
  corpus.name = path.filename().string();
  corpus.file = std::filesystem::absolute(path).lexically_normal();
  corpus.checksum = text::sha256_hex(std::as_bytes(std::span(text)));
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
