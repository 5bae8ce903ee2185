#include "attn/tasks/task.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "tasks/tasks.hpp"

namespace attn::tasks {

const std::vector<Task>& all_tasks() {
  static const std::vector<Task> kTasks{pronounce_task(), translate_task(), summarise_task(),
                                        pairs_task()};
  return kTasks;
}

const Task& task_named(std::string_view name) {
  std::string names;
  for (const Task& task : all_tasks()) {
    if (task.name == name) return task;
    names += (names.empty() ? "" : ", ") + task.name;
  }
  fail("there is no task ", files::in_quotes(name), "; there are ", names);
}

}  // namespace attn::tasks
