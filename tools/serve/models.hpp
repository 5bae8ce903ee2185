/// The models that are served: loaded once, read by all.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "attn/tasks/answerer.hpp"
#include "attn/tensor/storage.hpp"

namespace attn::serve {

struct ServedModel {
  std::string name;
  tasks::Answerer answerer;
  std::int64_t parameters = 0;
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

  /// The named one, or the task's first; a Refusal with status 404 lists what there is.
  const ServedModel& find(const std::string& task,
                          const std::optional<std::string>& name) const;

  /// Whether a task has a model.
  bool has(const std::string& task) const { return models_.contains(task); }
  /// A name that no model of the task has yet, made of this one.
  std::string free_name(const std::string& task, const std::string& wanted) const;

  /// The "tasks" of GET /api/info.
  nlohmann::json describe() const;

 private:
  Device device_ = Device::cpu;
  std::map<std::string, std::vector<ServedModel>> models_;
};

}  // namespace attn::serve
