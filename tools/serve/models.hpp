/// The models that are served: loaded once, read by all.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attn/tasks/answerer.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tensor/storage.hpp"

namespace attn::serve {

class ServedModel {
 public:
  ServedModel(std::string name, tasks::Answerer answerer);
  /// One of a package: read when it is first asked, since it takes memory.
  ServedModel(const tasks::ModelPackage& package, const tasks::ModelPackage::Item& item);

  const std::string& name() const { return name_; }
  const std::string& kind() const { return kind_; }
  std::int64_t parameters() const { return parameters_; }
  /// Whether it is read; otherwise answerer() takes a while.
  bool ready() const;
  /// FileError where it could not be read. Any thread may ask.
  const tasks::Answerer& answerer() const;

 private:
  struct Later;

  std::string name_;
  std::string kind_;
  std::int64_t parameters_ = 0;
  std::shared_ptr<Later> later_;
};

class Models {
 public:
  Models() = default;
  /// Models lie on the device.
  explicit Models(Device device) : device_(device) {}

  /// Reads a folder. A model of another task, or a name twice, is an InvalidArgument. One that
  /// is a variant of its task goes by that name, and by none where another has it already.
  void add(const std::string& task, const std::string& name,
           const std::filesystem::path& folder);
  /// The models of the task's package that are there.
  void add_packaged(const tasks::Task& task);

  /// The named one, or the task's first; a Refusal with status 404 lists what there is.
  const ServedModel& find(const std::string& task,
                          const std::optional<std::string>& name) const;

  /// Whether a task has a model.
  bool has(const std::string& task) const { return models_.contains(task); }
  /// A name that no model of the task has yet, made of this one.
  std::string free_name(const std::string& task, const std::string& wanted) const;

  /// The task of that name; null where there is none.
  static const tasks::Task* find_task(std::string_view name);

  /// The "tasks" of GET /api/info.
  nlohmann::json describe() const;

 private:
  Device device_ = Device::cpu;
  std::map<std::string, std::vector<ServedModel>> models_;
};

}  // namespace attn::serve
