// attn tasks: lists the tasks, with what the models that ship reach and had to reach.

// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "attn/files/printable.hpp"
#include "attn/tasks/task.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/invocation.hpp"
#include "tools/attn/model_facts.hpp"

namespace attn::tools {
namespace {

/// The models of a task, that which answers where none is named first.
std::vector<ModelFacts> models_of(const tasks::Task& task, const std::vector<ModelFacts>& all) {
  std::vector<ModelFacts> models;
  for (const ModelFacts& model : all)
    if (model.task == task.name()) models.push_back(model);
  const auto answers = std::find_if(models.begin(), models.end(), [&](const ModelFacts& model) {
    return model.name == task.card().shipped();
  });
  if (answers != models.end()) std::rotate(models.begin(), answers, answers + 1);
  return models;
}

nlohmann::json json_of_model(const ModelFacts& model) {
  return {{"name", model.name},     {"purpose", model.purpose},
          {"score", model.score},   {"floor", model.floor},
          {"goal", model.goal},     {"size", model.bytes},
          {"figure", model.figure}, {"folder", model.folder.string()}};
}

/// Models that others trained, which `attn data TASK` fetches.
nlohmann::json packaged_json(const tasks::ModelPackage& package) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& item : package.items())
    list.push_back({{"name", item.name},
                    {"purpose", item.about},
                    {"score", item.score},
                    {"here", package.has(item.name)}});
  return list;
}

/// Score, floor, goal and figure are those of the model that answers where none is named; the
/// figure that of another where it has none. The size is that of all.
nlohmann::json json_of_task(const tasks::Task& task, const std::vector<ModelFacts>& models) {
  const ModelFacts first = models.empty() ? ModelFacts{} : models.front();
  const auto drawn = std::find_if(models.begin(), models.end(), [](const ModelFacts& model) {
    return !model.figure.empty();
  });
  std::uintmax_t bytes = 0;
  nlohmann::json list = nlohmann::json::array();
  for (const ModelFacts& model : models) {
    bytes += model.bytes;
    list.push_back(json_of_model(model));
  }
  nlohmann::json json{{"name", task.name()},
                      {"about", task.card().about},
                      {"metric", task.card().metric},
                      {"score", first.score},
                      {"floor", first.floor},
                      {"goal", first.goal},
                      {"size", bytes},
                      {"figure", drawn == models.end() ? "" : drawn->figure},
                      {"models", std::move(list)}};
  if (const tasks::ModelPackage* package = task.package(); package != nullptr) {
    json["fetched"] = packaged_json(*package);
    json["score"] = package->items().front().score;
    json["figure"] = package->figure();
  }
  return json;
}

void print_task(const tasks::Task& task, const std::vector<ModelFacts>& models,
                const Streams& streams) {
  fmt::print(streams.out, "{}: {}\n", files::printable(task.name()),
             files::printable(task.card().about));
  const tasks::ModelPackage* package = task.package();
  if (package != nullptr) {
    for (const auto& item : package->items())
      fmt::print(streams.out, "    {}, {}: {}\n", files::printable(item.name),
                 package->has(item.name) ? "here" : "to be fetched",
                 files::printable(item.score, 200));
    fmt::print(streams.out, "        {}\n        figure {}\n", package->how(),
               package->figure());
  } else if (models.empty()) {
    fmt::print(streams.out, "    no model ships\n");
  }
  for (const ModelFacts& model : models) {
    fmt::print(streams.out, "    {}, {:.1f} MiB{}\n", files::printable(model.name),
               static_cast<double>(model.bytes) / (1 << 20),
               model.score.empty() ? "" : ": " + files::printable(model.score, 200));
    if (!model.floor.empty() || !model.goal.empty())
      fmt::print(streams.out, "        {}{}{}{}\n",
                 model.floor.empty() ? "" : "floor " + files::printable(model.floor),
                 model.floor.empty() || model.goal.empty() ? "" : "; ",
                 model.goal.empty() ? "" : "goal ", files::printable(model.goal));
    if (!model.figure.empty())
      fmt::print(streams.out, "        figure {}\n", files::printable(model.figure, 200));
  }
}

int list_tasks(bool as_json, const Streams& streams) {
  const std::vector<ModelFacts> all = facts_of_models();
  nlohmann::json list = nlohmann::json::array();
  for (const tasks::Task* task : tasks::all_tasks()) {
    const std::vector<ModelFacts> models = models_of(*task, all);
    if (as_json) {
      list.push_back(json_of_task(*task, models));
    } else {
      print_task(*task, models, streams);
    }
  }
  if (as_json) {
    fmt::print(streams.out, "{}\n", list.dump(2));
  } else {
    fmt::print(streams.out, "{}",
               as_invoked("\n'attn help TASK' tells what the command of a task takes, "
                          "'attn data TASK' shows its data.\n"));
  }
  return success;
}

}  // namespace

void add_tasks(CLI::App& app, Action& action) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand(
      "tasks", "List the tasks: what they do, and what their models reach and had to reach");
  command->footer(
      "\nThe score is that of the test part. The floor is the least that is wanted, the goal "
      "what is\n"
      "hoped for. Both stand in the card of a model, README.md in its folder, beside the\n"
      "published numbers. The figure is a file of docs/gallery.md.\n"
      "\nExamples:\n"
      "    attn tasks\n"
      "    attn tasks --json");
  command->add_flag("--json", *json, "Print JSON; sizes are bytes");
  command->callback([json, &action] {
    action = [json](const Streams& streams) { return list_tasks(*json, streams); };
  });
}

}  // namespace attn::tools
