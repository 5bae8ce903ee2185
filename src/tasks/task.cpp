#include "attn/tasks/task.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/value.hpp"
#include "tasks/model_folder.hpp"
#include "tasks/tasks.hpp"

namespace attn::tasks {
namespace {

/// The shipped ones first.
std::vector<const Task*>& registry() {
  static std::vector<const Task*> tasks = shipped_tasks();
  return tasks;
}

}  // namespace

const std::string& Input::text() const {
  static const std::string kNone;
  const auto* text = find<std::string>("text");
  return text == nullptr ? kNone : *text;
}

Input Example::input() const {
  if (parts.empty()) return source;
  Input input;
  input.parts = parts;
  return input;
}

Input Task::input_of(const nlohmann::json& request) const {
  Input input;
  for (const std::string& name : fields()) {
    if (!request.contains(name)) fail("the field \"", name, "\" is missing");
    try {
      input.parts.emplace(name, value_of(request.at(name), "the field \"" + name + "\""));
    } catch (const FileError& error) {
      fail(error.what());
    }
  }
  return input;
}

Scores Task::evaluate(const Model& model, std::span<const Example> examples) const {
  std::vector<Input> inputs;
  for (const Example& example : examples) inputs.push_back(example.input());
  return score(examples, model.answer(inputs, {}, {}));
}

std::vector<const Task*> all_tasks() {
  return registry();
}

const Task& task_named(std::string_view name) {
  std::string names;
  for (const Task* task : registry()) {
    if (task->name() == name) return *task;
    names += (names.empty() ? "" : ", ") + task->name();
  }
  fail("there is no task ", files::in_quotes(name), "; there are ", names);
}

TaskRegistration::TaskRegistration(std::unique_ptr<const Task> task) : task_(std::move(task)) {
  for (const Task* other : registry())
    if (other->name() == task_->name())
      fail("attn::tasks::TaskRegistration: there is a task ", task_->name(), " already");
  registry().push_back(task_.get());
}

TaskRegistration::~TaskRegistration() {
  registry().erase(std::remove(registry().begin(), registry().end(), task_.get()),
                   registry().end());
}

std::unique_ptr<Model> load(const std::filesystem::path& folder) {
  const std::string where = files::path_text(folder / kConfig);
  const nlohmann::json config = read_config(folder, "attn train");
  return task_named(files::to_text(files::member(config, "task", where), where)).load(folder);
}

}  // namespace attn::tasks
