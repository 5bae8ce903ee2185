#include "attn/tasks/checkpoint.hpp"

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/files/array.hpp"
#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/safetensors.hpp"
#include "attn/nn/module.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tensor/from_array.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::tasks {
namespace {

namespace fs = std::filesystem;

nlohmann::json json_of(const TrainingState& state) {
  nlohmann::json best = nlohmann::json::array();
  for (const NamedScore& one : state.best) best.push_back({one.name, one.value});
  // Keys use all 64 bits, which JSON readers elsewhere would round.
  return {{"steps", state.steps},
          {"epoch", state.epoch},
          {"batch", state.batch},
          {"random_key", std::to_string(state.random_key)},
          {"random_drawn", std::to_string(state.random_drawn)},
          {"loss_sum", state.loss_sum},
          {"loss_count", state.loss_count},
          {"tokens", state.tokens},
          {"seconds", state.seconds},
          {"processor_seconds", state.processor_seconds},
          {"best", best},
          {"best_step", state.best_step},
          {"without_better", state.without_better}};
}

TrainingState state_of(const nlohmann::json& json, const std::string& where) {
  const auto whole = [&](const char* key) {
    return files::to_int(files::member(json, key, where), where);
  };
  const auto real = [&](const char* key) {
    return files::to_double(files::member(json, key, where), where);
  };
  const auto wide = [&](const char* key) {
    const std::string& digits = files::to_text(files::member(json, key, where), where);
    if (digits.empty() || digits.size() > 20 ||
        digits.find_first_not_of("0123456789") != std::string::npos)
      fail<FileError>(where, ": ", key, " is no whole number: ", files::in_quotes(digits));
    return std::uint64_t{std::stoull(digits)};
  };
  TrainingState state{.steps = whole("steps"),
                      .epoch = whole("epoch"),
                      .batch = whole("batch"),
                      .random_key = wide("random_key"),
                      .random_drawn = wide("random_drawn"),
                      .loss_sum = real("loss_sum"),
                      .loss_count = whole("loss_count"),
                      .tokens = whole("tokens"),
                      .seconds = real("seconds"),
                      .processor_seconds = real("processor_seconds"),
                      .best = {},
                      .best_step = whole("best_step"),
                      .without_better = whole("without_better")};
  for (const nlohmann::json& pair : files::member(json, "best", where)) {
    if (!pair.is_array() || pair.size() != 2) fail<FileError>(where, ": best is damaged");
    state.best.push_back({files::to_text(pair[0], where), files::to_double(pair[1], where)});
  }
  return state;
}

}  // namespace

void save_checkpoint(const fs::path& path, const TrainingState& state, const std::string& what,
                     const std::vector<nn::NamedTensor>& tensors) {
  std::vector<files::ArrayView> arrays;
  arrays.reserve(tensors.size());
  // What lies on the GPU is copied, and stays until it is written.
  std::vector<Tensor> here;
  for (const auto& [name, tensor] : tensors) {
    here.push_back(tensor.detach().to(Device::cpu));
    arrays.push_back(to_array(name, here.back()));
  }
  files::write_safetensors(path, arrays, {{"training", json_of(state).dump()}, {"what", what}});
}

TrainingState load_checkpoint(const fs::path& path, const std::string& what,
                              const std::vector<nn::NamedTensor>& tensors) {
  const std::string where = files::path_text(path);
  const files::Safetensors file = files::read_safetensors(path);
  const auto metadata = [&](const char* key) -> const std::string& {
    const auto at = file.metadata().find(key);
    if (at == file.metadata().end()) fail<FileError>(where, " is no checkpoint: no ", key);
    return at->second;
  };
  if (metadata("what") != what)
    fail(where, " belongs to another training: it was\n  ",
         files::printable(metadata("what"), 2000), "\nand this is\n  ",
         files::printable(what, 2000),
         "\nGive the options and data it began with, or another folder.");
  const TrainingState state = state_of(files::parse_json(metadata("training"), where), where);
  for (const auto& [name, tensor] : tensors) {
    const files::ArrayView& array = file.at(name);
    if (array.dtype != tensor.dtype() || !(Shape(std::span(array.shape)) == tensor.shape()))
      fail<FileError>(where, ": ", name, " is ", name_of(array.dtype),
                      files::shape_text(array.shape), ", not ", tensor.text());
  }
  const NoGrad off_the_tape;
  for (const auto& [name, tensor] : tensors)
    Tensor(tensor).copy_from(from_array(file.at(name)));
  return state;
}

}  // namespace attn::tasks
