#include "attn/nn/state.hpp"

#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/files/array.hpp"
#include "attn/files/safetensors.hpp"
#include "attn/nn/module.hpp"
#include "attn/tensor/from_array.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/op.hpp"

namespace attn::nn {
namespace {

std::vector<NamedTensor> all_tensors(const Module& module) {
  std::vector<NamedTensor> all = module.named_parameters();
  for (NamedTensor& buffer : module.named_buffers()) all.push_back(std::move(buffer));
  return all;
}

void write(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors,
           const files::Metadata& metadata) {
  std::vector<files::ArrayView> arrays;
  arrays.reserve(tensors.size());
  for (const auto& [name, tensor] : tensors) arrays.push_back(to_array(name, tensor));
  files::write_safetensors(path, arrays, metadata);
}

/// What keeps the file from being loaded; empty if nothing does.
std::string mismatch(const std::vector<NamedTensor>& wanted, const files::Safetensors& file) {
  std::string wrong;
  std::set<std::string> names;
  for (const auto& [name, tensor] : wanted) {
    names.insert(name);
    const files::ArrayView* array = file.find(name);
    if (array == nullptr) {
      wrong += "\n  missing: " + name + " " + tensor.text();
    } else if (!(Shape(std::span(array->shape)) == tensor.shape()) ||
               op::is_real(array->dtype) != op::is_real(tensor.dtype())) {
      wrong += "\n  misshapen: " + name + " is " + std::string(name_of(array->dtype)) +
               files::shape_text(array->shape) + " in the file, " + tensor.text() +
               " in the module";
    }
  }
  for (const files::ArrayView& array : file.tensors())
    if (!names.contains(array.name)) wrong += "\n  extra: " + array.name;
  return wrong;
}

}  // namespace

void save_state(const std::filesystem::path& path, const Module& module,
                const files::Metadata& metadata) {
  std::vector<NamedTensor> tensors = all_tensors(module);
  for (NamedTensor& entry : tensors)
    entry.tensor = entry.tensor.detach().to(Device::cpu).contiguous();
  write(path, tensors, metadata);
}

void save_state(const std::filesystem::path& path, const Module& module, DType dtype,
                const files::Metadata& metadata) {
  std::vector<NamedTensor> tensors = all_tensors(module);
  for (NamedTensor& entry : tensors) {
    entry.tensor = entry.tensor.detach().to(Device::cpu).contiguous();
    if (op::is_real(entry.tensor.dtype())) entry.tensor = entry.tensor.to(dtype);
  }
  write(path, tensors, metadata);
}

files::Metadata load_state(const std::filesystem::path& path, const Module& module) {
  const files::Safetensors file = files::read_safetensors(path);
  std::vector<NamedTensor> wanted = all_tensors(module);
  const std::string wrong = mismatch(wanted, file);
  if (!wrong.empty())
    fail("attn::nn::load_state: ", path.string(), " does not fit the module; nothing was ",
         "loaded:", wrong);
  const NoGrad off_the_tape;
  for (auto& [name, tensor] : wanted) tensor.copy_from(from_array(file.at(name)));
  return file.metadata();
}

}  // namespace attn::nn
