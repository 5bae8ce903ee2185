#include "attn/nn/state.hpp"

#include <algorithm>
#include <cstddef>
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
#include "nn/state_bytes.hpp"
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

/// What differs between a file and a module.
struct Difference {
  std::vector<std::string> missing;
  std::vector<std::string> left_over;
  std::string misshapen;  ///< a line each
  std::size_t fitting = 0;
};

Difference compare(const std::vector<NamedTensor>& wanted, const files::Safetensors& file,
                   const std::string& prefix) {
  Difference result;
  std::set<std::string> names;
  for (const auto& [name, tensor] : wanted) {
    const std::string there = prefix + name;
    names.insert(there);
    const files::ArrayView* array = file.find(there);
    if (array == nullptr) {
      result.missing.push_back(there);
    } else if (Shape(std::span(array->shape)) == tensor.shape() &&
               op::is_real(tensor.dtype()) && is_compressed(file, *array)) {
      names.insert(scale_name(there));
      ++result.fitting;
    } else if (!(Shape(std::span(array->shape)) == tensor.shape()) ||
               op::is_real(array->dtype) != op::is_real(tensor.dtype())) {
      result.misshapen += "\n  misshapen: " + there + " is " +
                          std::string(name_of(array->dtype)) + files::shape_text(array->shape) +
                          " in the file, " + tensor.text() + " in the module";
    } else {
      ++result.fitting;
    }
  }
  for (const files::ArrayView& array : file.tensors())
    if (array.name.starts_with(prefix) && !names.contains(array.name))
      result.left_over.push_back(array.name);
  return result;
}

/// What keeps the file from being loaded; empty if nothing does.
std::string obstacle(const Difference& difference, const std::vector<NamedTensor>& wanted,
                     const LoadOptions& options) {
  std::string wrong = difference.misshapen;
  const bool nothing_fits = difference.fitting == 0 && !wanted.empty();
  if (!options.strict && !(nothing_fits && wrong.empty())) return wrong;
  for (const std::string& name : difference.missing) {
    const auto same = [&](const NamedTensor& entry) {
      return options.prefix + entry.name == name;
    };
    wrong += "\n  missing: " + name + " " + std::ranges::find_if(wanted, same)->tensor.text();
  }
  for (const std::string& name : difference.left_over) wrong += "\n  extra: " + name;
  if (!wrong.empty() && !options.prefix.empty() && difference.left_over.empty())
    wrong += "\n  no other name of the file begins with " + options.prefix;
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

LoadedState load_state(const std::filesystem::path& path, const Module& module,
                       const LoadOptions& options) {
  const files::Safetensors file = files::read_safetensors(path);
  std::vector<NamedTensor> wanted = all_tensors(module);
  Difference difference = compare(wanted, file, options.prefix);
  const std::string wrong = obstacle(difference, wanted, options);
  if (!wrong.empty())
    fail("attn::nn::load_state: ", path.string(), " does not fit the module; nothing was ",
         "loaded:", wrong);
  const NoGrad off_the_tape;
  for (auto& [name, tensor] : wanted) {
    const files::ArrayView* array = file.find(options.prefix + name);
    if (array == nullptr) continue;
    const bool whole = op::is_real(tensor.dtype()) && is_compressed(file, *array);
    tensor.copy_from(whole ? expanded(file, *array) : from_array(*array));
  }
  return {file.metadata(), std::move(difference.missing), std::move(difference.left_over)};
}

files::Metadata load_state(const std::filesystem::path& path, const Module& module) {
  return load_state(path, module, LoadOptions{}).metadata;
}

}  // namespace attn::nn
