#include "tools/serve/models.hpp"

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
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

/// What is read when it is first asked.
struct ServedModel::Later {
  std::function<std::unique_ptr<tasks::Model>()> read;
  std::mutex mutex{};
  std::atomic<bool> ready{false};
  std::unique_ptr<const tasks::Answerer> answerer{};
};

ServedModel::ServedModel(std::string name, tasks::Answerer answerer)
    : name_(std::move(name)),
      kind_(answerer.model().kind()),
      parameters_(answerer.model().module().parameter_count()),
      later_(std::make_shared<Later>()) {
  later_->answerer = std::make_unique<const tasks::Answerer>(std::move(answerer));
  later_->ready = true;
}

ServedModel::ServedModel(const tasks::ModelPackage& package,
                         const tasks::ModelPackage::Item& item)
    : name_(item.name),
      kind_(item.kind),
      parameters_(item.parameters),
      later_(std::make_shared<Later>()) {
  later_->read = [&package, name = item.name] { return package.load(name); };
}

bool ServedModel::ready() const {
  return later_->ready;  // not under the lock: reading one takes a while
}

const tasks::Answerer& ServedModel::answerer() const {
  const std::scoped_lock lock(later_->mutex);
  if (!later_->answerer)
    later_->answerer = std::make_unique<const tasks::Answerer>(later_->read());
  later_->ready = true;
  return *later_->answerer;
}

void Models::add_packaged(const tasks::Task& task) {
  const tasks::ModelPackage* package = task.package();
  if (package == nullptr) return;
  for (const auto& item : package->items())
    if (package->has(item.name)) models_[task.name()].emplace_back(*package, item);
}

void Models::add(const std::string& task, const std::string& name,
                 const std::filesystem::path& folder) {
  tasks::task_named(task);
  tasks::Answerer answerer(folder);
  const tasks::Model& model = answerer.model();
  if (model.task().name() != task)
    fail(files::path_text(folder), " is a model for ", model.task().name(), ", not for ", task);
  const std::string known = model.variant().empty() ? name : model.variant();
  for (const ServedModel& other : models_[task]) {
    if (other.name() != known) continue;
    if (!model.variant().empty()) return;
    fail("two models for ", task, " have the name ", name);
  }
  if (device_ == Device::gpu && model.runs_on(device_)) {
    model.module().to(device_);
    gpu::synchronise();  // answers come from other threads
  }
  models_[task].emplace_back(known, std::move(answerer));
}

const ServedModel& Models::find(const std::string& task,
                                const std::optional<std::string>& name) const {
  const auto found = models_.find(task);
  if (found == models_.end()) {
    std::string names;
    for (const auto& [one, models] : models_) names += (names.empty() ? "" : ", ") + one;
    const tasks::Task* known = find_task(task);
    if (known != nullptr && known->package() != nullptr)
      refuse(404, "the models of " + task + " are not on this server: " +
                      known->package()->how() + "; or attn serve --fetch");
    refuse(404, "there is no model for the task " + files::in_quotes(task) +
                    (names.empty() ? "" : "; there are models for " + names));
  }
  if (!name) return found->second.front();
  std::string names;
  for (const ServedModel& one : found->second) {
    if (one.name() == *name) return one;
    names += (names.empty() ? "" : ", ") + one.name();
  }
  refuse(404,
         "the task " + task + " has no model " + files::in_quotes(*name) + "; it has " + names);
}

const tasks::Task* Models::find_task(std::string_view name) {
  for (const tasks::Task* task : tasks::all_tasks())
    if (task->name() == name) return task;
  return nullptr;
}

std::string Models::free_name(const std::string& task, const std::string& wanted) const {
  const auto found = models_.find(task);
  const auto taken = [&](const std::string& name) {
    if (found == models_.end()) return false;
    for (const ServedModel& one : found->second)
      if (one.name() == name) return true;
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
    if (!card.ships && task->package() == nullptr && !has(card.name)) continue;
    auto models = nlohmann::json::array();
    if (const auto found = models_.find(card.name); found != models_.end())
      for (const ServedModel& one : found->second)
        models.push_back(
            {{"name", one.name()}, {"kind", one.kind()}, {"parameters", one.parameters()}});
    const bool to_fetch = task->package() != nullptr && models.empty();
    tasks.push_back({{"name", card.name},
                     {"about", card.about},
                     {"metric", card.metric},
                     {"models", std::move(models)},
                     {"example", card.example},
                     {"fields", task->fields()},
                     {"input_bytes", card.input_bytes},
                     {"missing", to_fetch ? task->package()->how() : ""},
                     {"turns", card.reads == tasks::TaskCard::Reads::turns}});
  }
  return tasks;
}

}  // namespace attn::serve
