#include "tools/attn/model_facts.hpp"

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/files/read_file.hpp"
#include "tools/attn/model_folder.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;

/// The text between `before` and `after`; "" where one of them is missing.
std::string text_between(const std::string& text, const std::string& before,
                         const std::string& after) {
  const std::size_t begin = text.find(before);
  if (begin == std::string::npos) return "";
  const std::size_t end = text.find(after, begin + before.size());
  return end == std::string::npos
             ? ""
             : text.substr(begin + before.size(), end - begin - before.size());
}

struct CardRow {
  std::string name;
  std::string text;
};

/// The rows "| name | text |" of a card's table.
std::vector<CardRow> rows_of_card(const std::string& card) {
  std::vector<CardRow> rows;
  std::istringstream lines(card);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t bar = line.find(" | ");
    if (!line.starts_with("| ") || bar == std::string::npos || !line.ends_with(" |")) continue;
    rows.push_back({line.substr(2, bar - 2), line.substr(bar + 3, line.size() - bar - 5)});
  }
  return rows;
}

std::string row_named(const std::vector<CardRow>& rows, const std::string& name) {
  for (const CardRow& row : rows)
    if (row.name == name) return row.text;
  return "";
}

/// What stands in bold first in the row "test", or in each of "test, everyday" and its like.
std::string test_score(const std::vector<CardRow>& rows) {
  const std::string kinds = "test, ";
  std::string score;
  for (const CardRow& row : rows) {
    const bool of_kind = row.name.starts_with(kinds);
    if (row.name != "test" && !of_kind) continue;
    const std::string bold = text_between(row.text, "**", "**");
    if (bold.empty()) continue;
    if (!score.empty()) score += "; ";
    score += of_kind ? row.name.substr(kinds.size()) + " " + bold : bold;
  }
  return score;
}

std::string card_of(const fs::path& folder) {
  constexpr std::uint64_t kLargest = 1 << 20;
  try {
    return files::read_text(folder / "README.md", kLargest);
  } catch (const FileError&) {
    return "";  // a card is no part of a model
  }
}

std::uintmax_t bytes_of(const fs::path& folder) {
  std::uintmax_t bytes = 0;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code unknown;
    const std::uintmax_t size = entry->file_size(unknown);
    if (!unknown) bytes += size;
  }
  return bytes;
}

/// What training wrote down of the development part: "BLEU 52.3, chrF 74.4".
std::string development_score(const nlohmann::json& config) {
  const nlohmann::json history = config.value("history", nlohmann::json::object());
  if (!history.is_object() || !history.contains("development")) return "";
  std::string text;
  for (const auto& [metric, value] : history["development"].items())
    if (value.is_number())
      text += fmt::format("{}{} {:.1f}", text.empty() ? "" : ", ", metric, value.get<double>());
  return text.empty() ? "" : text + " on the development part";
}

}  // namespace

std::vector<ModelFacts> facts_of_models() {
  std::vector<ModelFacts> all;
  for (const auto& [name, folder] : shipped_models()) {
    const nlohmann::json config = files::read_json(folder / "config.json");
    if (!config.is_object() || !config.contains("task") || !config["task"].is_string())
      continue;  // another program's folder of that name
    const std::string card = card_of(folder);
    const std::vector<CardRow> rows = rows_of_card(card);
    const std::string score = test_score(rows);
    all.push_back({.name = name,
                   .task = config["task"].get<std::string>(),
                   .purpose = text_between(card.substr(0, card.find('\n')) + "\n", ": ", "\n"),
                   .score = score.empty() ? development_score(config) : score,
                   .floor = row_named(rows, "floor"),
                   .goal = row_named(rows, "goal"),
                   .figure = text_between(row_named(rows, "figure"), "(../../", ")"),
                   .bytes = bytes_of(folder),
                   .folder = folder});
  }
  return all;
}

}  // namespace attn::tools
