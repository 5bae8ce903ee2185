// attn models: lists the models that ship.

// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/invocation.hpp"
#include "tools/attn/model_folder.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;

struct ModelFacts {
  std::string name;
  std::string task;
  std::string purpose;  ///< the title of its card
  std::string score;    ///< of its card; else that on the development part
  std::uintmax_t bytes = 0;
  fs::path folder;
};

/// The text between `before` and `after` in the first line that begins with `line_begin`.
std::string cut(const std::string& text, const std::string& line_begin,
                const std::string& before, const std::string& after) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(line_begin)) continue;
    const auto begin = line.find(before);
    if (begin == std::string::npos) return "";
    line.erase(0, begin + before.size());
    return after.empty() ? line : line.substr(0, line.find(after));
  }
  return "";
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

std::vector<ModelFacts> facts_of_models() {
  std::vector<ModelFacts> all;
  for (const auto& [name, folder] : shipped_models()) {
    const nlohmann::json config = files::read_json(folder / "config.json");
    if (!config.is_object() || !config.contains("task") || !config["task"].is_string())
      continue;  // another program's folder of that name
    const std::string card = card_of(folder);
    const std::string tested = cut(card, "| test |", "**", "**");
    all.push_back({.name = name,
                   .task = config["task"].get<std::string>(),
                   .purpose = cut(card, "# ", ": ", ""),
                   .score = tested.empty() ? development_score(config) : tested,
                   .bytes = bytes_of(folder),
                   .folder = folder});
  }
  return all;
}

nlohmann::json json_of_models(const std::vector<ModelFacts>& all) {
  nlohmann::json json = nlohmann::json::array();
  for (const ModelFacts& model : all)
    json.push_back({{"name", model.name},
                    {"task", model.task},
                    {"purpose", model.purpose},
                    {"score", model.score},
                    {"bytes", model.bytes},
                    {"folder", model.folder.string()}});
  return json;
}

void print_models(const std::vector<ModelFacts>& all, const Streams& streams) {
  for (const ModelFacts& model : all) {
    fmt::print(streams.out, "{}{}\n", files::printable(model.name),
               model.purpose.empty() ? "" : ": " + files::printable(model.purpose));
    fmt::print(streams.out, "    task {}, {:.1f} MiB{}\n", files::printable(model.task),
               static_cast<double>(model.bytes) / (1 << 20),
               model.score.empty() ? "" : ", " + files::printable(model.score));
    fmt::print(streams.out, "    {}\n", files::printable(model.folder.string(), 400));
  }
  fmt::print(
      streams.out, "{}",
      as_invoked("\nThe command of a task takes the model of its name by itself; --model "
                 "takes another:\n    attn pronounce colonel --model pronounce-local\n"));
}

int models(bool as_json, const Streams& streams) {
  const std::vector<ModelFacts> all = facts_of_models();
  if (as_json) {
    fmt::print(streams.out, "{}\n", json_of_models(all).dump(2));
  } else if (all.empty()) {
    fail<FileError>(
        "no model is beside this program; set ATTN_MODELS to a folder of models, or ",
        "train one: attn train pronounce --out DIR");
  } else {
    print_models(all, streams);
  }
  return success;
}

}  // namespace

void add_models(CLI::App& app, Action& action) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command =
      app.add_subcommand("models", "List the models that ship: purpose, size, score, folder");
  command->footer(
      "\nEach has a card, README.md in its folder: data, split, score, and the command that\n"
      "trained it. --model of the other commands takes these names, or the folder of a model "
      "of\n"
      "your own.\n"
      "\nExamples:\n"
      "    attn models\n"
      "    attn models --json");
  command->add_flag("--json", *json, "Print JSON");
  command->callback([json, &action] {
    action = [json](const Streams& streams) { return models(*json, streams); };
  });
}

}  // namespace attn::tools
