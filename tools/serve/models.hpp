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

#include "attn/nn/module.hpp"
#include "attn/tasks/caption.hpp"
#include "attn/tasks/reply.hpp"
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

  /// Reads a folder. A model of another task, or a name twice, is an InvalidArgument.
  void add(const std::string& task, const std::string& name,
           const std::filesystem::path& folder);

  /// Reads a model that describes pictures, which is known by how it looks. Another that looks
  /// the same way makes room for it.
  void add_captioner(const std::filesystem::path& folder);
  /// "soft" or "hard"; null when there is none.
  const tasks::CaptionModel* captioner(const std::string& looking) const;

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
  void move(const nn::Module& module) const;

  Device device_ = Device::cpu;
  std::map<std::string, std::vector<ServedModel>> models_;
  std::map<std::string, tasks::CaptionModel> captioners_;
};

}  // namespace attn::serve
