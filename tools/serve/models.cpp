#include "tools/serve/models.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/nn/module.hpp"
#include "attn/tasks/answerer.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tensor/gpu.hpp"
#include "attn/tensor/storage.hpp"
#include "tools/serve/message.hpp"

namespace attn::serve {

void Models::add(const std::string& task, const std::string& name,
                 const std::filesystem::path& folder) {
  tasks::task_named(task);
  ServedModel served{name, tasks::Answerer(folder), 0};
  const tasks::Model& model = served.answerer.model();
  if (model.task().name() != task)
    fail(files::path_text(folder), " is a model for ", model.task().name(), ", not for ", task);
  if (!model.variant().empty()) served.name = model.variant();
  for (const ServedModel& other : models_[task]) {
    if (other.name != served.name) continue;
    if (!model.variant().empty()) return;
    fail("two models for ", task, " have the name ", name);
  }
  served.parameters = model.module().parameter_count();
  if (device_ == Device::gpu) {
    model.module().to(device_);
    gpu::synchronise();  // answers come from other threads
  }
  models_[task].push_back(std::move(served));
}

const ServedModel& Models::find(const std::string& task,
                                const std::optional<std::string>& name) const {
  const auto found = models_.find(task);
  if (found == models_.end()) {
    std::string names;
    for (const auto& [one, models] : models_) names += (names.empty() ? "" : ", ") + one;
    refuse(404, "there is no model for the task " + files::in_quotes(task) +
                    (names.empty() ? "" : "; there are models for " + names));
  }
  if (!name) return found->second.front();
  std::string names;
  for (const ServedModel& one : found->second) {
    if (one.name == *name) return one;
    names += (names.empty() ? "" : ", ") + one.name;
  }
  refuse(404,
         "the task " + task + " has no model " + files::in_quotes(*name) + "; it has " + names);
}

std::string Models::free_name(const std::string& task, const std::string& wanted) const {
  const auto found = models_.find(task);
  const auto taken = [&](const std::string& name) {
    if (found == models_.end()) return false;
    for (const ServedModel& one : found->second)
      if (one.name == name) return true;
    return false;
  };
  std::string name = wanted;
  for (int i = 2; taken(name); ++i) name = wanted + "-" + std::to_string(i);
  return name;
}

nlohmann::json Models::describe() const {
  auto tasks = nlohmann::json::array();
  for (const tasks::Task* task : tasks::all_tasks()) {
    const tasks::TaskCard& card = task->card();
    // No model of it ships: whoever has none has no use for it.
    if (!card.ships && !has(card.name)) continue;
    auto models = nlohmann::json::array();
    if (const auto found = models_.find(card.name); found != models_.end())
      for (const ServedModel& one : found->second)
        models.push_back({{"name", one.name},
                          {"kind", one.answerer.model().kind()},
                          {"parameters", one.parameters}});
    tasks.push_back({{"name", card.name},
                     {"about", card.about},
                     {"metric", card.metric},
                     {"models", std::move(models)},
                     {"example", card.example},
                     {"fields", task->fields()},
                     {"turns", card.reads == tasks::TaskCard::Reads::turns}});
  }
  return tasks;
}

}  // namespace attn::serve
