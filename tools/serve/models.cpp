#include "tools/serve/models.hpp"

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/models/captioner.hpp"
#include "attn/models/options.hpp"
#include "attn/nn/module.hpp"
#include "attn/tasks/caption.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/reply.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tensor/gpu.hpp"
#include "attn/tensor/storage.hpp"
#include "attn/tensor/tensor.hpp"
#include "tools/serve/message.hpp"

namespace attn::serve {
namespace {

std::string metric_name(tasks::Metric metric) {
  switch (metric) {
    case tasks::Metric::phones:
      return "PER";
    case tasks::Metric::bleu:
      return "BLEU";
    case tasks::Metric::rouge:
      return "ROUGE";
    case tasks::Metric::exact:
      return "CER";
  }
  return "";
}

/// "transformer", as the options' JSON names it.
std::string kind_of(const tasks::PairModel& model) {
  return nlohmann::json::parse(models::to_json(model.options)).at("kind").get<std::string>();
}

std::int64_t count_of(const nn::Module& module) {
  std::int64_t count = 0;
  for (const Tensor& parameter : module.parameters()) count += parameter.numel();
  return count;
}

}  // namespace

void Models::move(const nn::Module& module) const {
  if (device_ == Device::cpu) return;
  module.to(device_);
  gpu::synchronise();  // answers come from other threads
}

void Models::add(const std::string& task, const std::string& name,
                 const std::filesystem::path& folder) {
  tasks::task_named(task);
  ServedModel served{name, tasks::Answerer(folder), 0};
  if (served.answerer.model().task != task)
    fail(files::path_text(folder), " is a model for ", served.answerer.model().task,
         ", not for ", task);
  for (const ServedModel& other : models_[task])
    if (other.name == name) fail("two models for ", task, " have the name ", name);
  served.parameters = count_of(*served.answerer.model().model);
  move(*served.answerer.model().model);
  models_[task].push_back(std::move(served));
}

void Models::add_captioner(const std::filesystem::path& folder) {
  tasks::CaptionModel model = tasks::load_caption_model(folder);
  move(*model.model);
  captioners_.insert_or_assign(models::name_of(model.model->options().looking), model);
}

const tasks::CaptionModel* Models::captioner(const std::string& looking) const {
  const auto found = captioners_.find(looking);
  return found == captioners_.end() ? nullptr : &found->second;
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
  for (const tasks::Task& task : tasks::all_tasks()) {
    // No model of it ships: whoever has none has no use for it.
    if (task.name == "pairs" && !has(task.name)) continue;
    auto models = nlohmann::json::array();
    if (const auto found = models_.find(task.name); found != models_.end())
      for (const ServedModel& one : found->second)
        models.push_back({{"name", one.name},
                          {"kind", kind_of(one.answerer.model())},
                          {"parameters", one.parameters}});
    tasks.push_back({{"name", task.name},
                     {"about", task.about},
                     {"metric", metric_name(task.metric)},
                     {"models", std::move(models)},
                     {"example", task.example}});
  }
  if (captioners_.empty()) return tasks;
  auto models = nlohmann::json::array();
  for (const auto& [looking, one] : captioners_)
    models.push_back(
        {{"name", looking}, {"kind", "captioner"}, {"parameters", count_of(*one.model)}});
  tasks.push_back({{"name", "caption"},
                   {"about", "a picture of digits is described"},
                   {"metric", "exact match"},
                   {"models", std::move(models)},
                   {"example", ""}});
  return tasks;
}

}  // namespace attn::serve
