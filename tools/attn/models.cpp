// attn models: lists the models that ship.

// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/invocation.hpp"
#include "tools/attn/model_facts.hpp"

namespace attn::tools {
namespace {

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
