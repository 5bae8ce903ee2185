// The tasks that learn from pairs of texts, behind the interface of every task.

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/models/search.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/tasks/task.hpp"
#include "tasks/pairs/pair_answers.hpp"
#include "tasks/tasks.hpp"

namespace attn::tasks {
namespace {

class TextTask final : public Task {
 public:
  explicit TextTask(const PairTask& recipe) : recipe_(recipe) {}

  const TaskCard& card() const override { return recipe_.card; }
  const models::SearchOptions* search() const override { return &recipe_.search; }

  std::unique_ptr<Model> load(const std::filesystem::path& folder) const override {
    PairModel model = load_model(folder);
    if (model.task != name())
      fail(files::path_text(folder), " is a model for ", model.task, ", not for ", name());
    return answering(std::move(model), *this);
  }

 private:
  const PairTask& recipe_;
};

}  // namespace

const std::vector<PairTask>& all_pair_tasks() {
  static const std::vector<PairTask> kTasks{pronounce_task(), translate_task(),
                                            summarise_task(), pairs_task()};
  return kTasks;
}

const PairTask& pair_task_named(std::string_view name) {
  std::string names;
  for (const PairTask& task : all_pair_tasks()) {
    if (task.card.name == name) return task;
    names += (names.empty() ? "" : ", ") + task.card.name;
  }
  fail("there is no task on pairs of texts ", files::in_quotes(name), "; there are ", names);
}

std::vector<const Task*> shipped_tasks() {
  static const std::vector<TextTask> kTexts(all_pair_tasks().begin(), all_pair_tasks().end());
  std::vector<const Task*> tasks;
  for (const TextTask& task : kTexts) tasks.push_back(&task);
  tasks.push_back(&caption_task());
  return tasks;
}

}  // namespace attn::tasks
