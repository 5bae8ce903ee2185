#include "tools/attn/device.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/nn/module.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tensor/gpu.hpp"
#include "attn/tensor/storage.hpp"

namespace attn::tools {
void add_device_flag(CLI::App& command, Device& device, const std::string& help) {
  command
      .add_option_function<std::string>(
          "--device",
          [&device](const std::string& name) {
            device = name == name_of(Device::gpu) ? Device::gpu : Device::cpu;
          },
          help)
      ->type_name("cpu|gpu")
      ->check(CLI::IsMember({"cpu", "gpu"}));
}

void check_device(Device device, const std::string& command) {
  if (device != Device::gpu || gpu::available()) return;
  std::string reason = gpu::describe();  // "none: why", or a GPU and why it is not used
  if (reason.starts_with("none: ")) reason.erase(0, 6);
  fail(command, ": --device gpu cannot be used here: ", reason);
}

void move_model(const tasks::Model& model, Device device, const std::string& command) {
  check_device(device, command);
  if (device == Device::cpu) return;
  if (!model.runs_on(device))
    fail(command, ": --device ", name_of(device), ": models of the kind ", model.kind(),
         " compute on the CPU alone");
  model.module().to(device);
  gpu::synchronise();  // other threads have streams of their own
}

std::shared_ptr<const tasks::Model> load_model_of(const tasks::Task& task, Device device,
                                                  const std::filesystem::path& folder,
                                                  const std::string& command) {
  check_device(device, command);
  // A file is another program's, and so is a folder of a package: the task alone knows which.
  std::error_code ignored;
  const bool foreign =
      std::filesystem::is_regular_file(folder, ignored) ||
      (task.package() != nullptr && !std::filesystem::exists(folder / "config.json", ignored));
  std::shared_ptr<const tasks::Model> model = foreign ? task.load(folder) : tasks::load(folder);
  if (model->task().name() != task.name())
    fail(files::path_text(folder), " is a model for ", model->task().name(), ", not for ",
         task.name());
  move_model(*model, device, command);
  return model;
}

std::shared_ptr<const tasks::Model> taken_model_of(const tasks::Task& task, Device device,
                                                   const std::string& variant,
                                                   const std::string& command) {
  std::shared_ptr<const tasks::Model> model = task.taken(variant);
  if (model == nullptr) return nullptr;
  check_device(device, command);
  move_model(*model, device, command);
  return model;
}

}  // namespace attn::tools
