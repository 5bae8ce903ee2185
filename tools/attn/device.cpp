#include "tools/attn/device.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>

#include "attn/core/error.hpp"
#include "attn/nn/module.hpp"
#include "attn/tasks/caption.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tensor/gpu.hpp"
#include "attn/tensor/storage.hpp"

namespace attn::tools {
namespace {

void move(const nn::Module& module, Device device) {
  if (device == Device::cpu) return;
  module.to(device);
  gpu::synchronise();  // other threads have streams of their own
}

}  // namespace

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

tasks::PairModel load_model_on(Device device, const std::filesystem::path& folder,
                               const std::string& command) {
  check_device(device, command);
  tasks::PairModel model = tasks::load_model(folder);
  move(*model.model, device);
  return model;
}

tasks::CaptionModel load_caption_model_on(Device device, const std::filesystem::path& folder,
                                          const std::string& command) {
  check_device(device, command);
  tasks::CaptionModel model = tasks::load_caption_model(folder);
  move(*model.model, device);
  return model;
}

}  // namespace attn::tools
