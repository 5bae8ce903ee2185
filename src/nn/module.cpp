#include "attn/nn/module.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/storage.hpp"
#include "attn/tensor/tape.hpp"
#include "nn/replace.hpp"

namespace attn::nn {

struct Module::State {
  std::vector<NamedTensor> parameters;
  std::vector<NamedTensor> buffers;
  std::vector<std::pair<std::string, std::shared_ptr<State>>> children;
  bool training = true;

  bool has(std::string_view name) const {
    for (const auto& entry : parameters)
      if (entry.name == name) return true;
    for (const auto& entry : buffers)
      if (entry.name == name) return true;
    for (const auto& [child, state] : children)
      if (child == name) return true;
    return false;
  }
  void check(std::string_view name) const {
    if (name.empty() || has(name))
      fail("attn::nn::Module::add: the name '", name,
           name.empty() ? "' is empty" : "' is taken", "; each needs its own");
  }
};

Tensor find_tensor(const std::vector<NamedTensor>& tensors, std::string_view name) {
  for (const auto& [own, tensor] : tensors)
    if (own == name) return tensor;
  return {};
}

Module::Module() : state_(std::make_shared<State>()) {}

Tensor Module::add(std::string_view name, Tensor parameter) {
  if (!parameter.defined()) return parameter;
  state_->check(name);
  parameter.set_requires_grad();
  state_->parameters.push_back({std::string(name), parameter});
  return parameter;
}

Tensor Module::add_buffer(std::string_view name, Tensor buffer) {
  state_->check(name);
  state_->buffers.push_back({std::string(name), buffer});
  return buffer;
}

void Module::add_child(std::string_view name, const Module& child) {
  state_->check(name);
  state_->children.emplace_back(std::string(name), child.state_);
}

void Module::adopt(const Module& child) {
  state_->children.emplace_back(std::string(), child.state_);
}

void Module::collect(const State& state, const std::string& prefix, bool buffers,
                     std::vector<NamedTensor>& into) {
  for (const auto& [name, tensor] : buffers ? state.buffers : state.parameters)
    into.push_back({prefix + name, tensor});
  for (const auto& [name, child] : state.children)
    collect(*child, name.empty() ? prefix : prefix + name + ".", buffers, into);
}

std::vector<NamedTensor> Module::named_parameters() const {
  std::vector<NamedTensor> all;
  collect(*state_, "", false, all);
  return all;
}

std::vector<NamedTensor> Module::named_buffers() const {
  std::vector<NamedTensor> all;
  collect(*state_, "", true, all);
  return all;
}

std::vector<Tensor> Module::parameters() const {
  std::vector<Tensor> all;
  for (auto& [name, tensor] : named_parameters()) all.push_back(std::move(tensor));
  return all;
}

std::int64_t Module::parameter_count() const {
  std::int64_t count = 0;
  for (const auto& [name, tensor] : named_parameters()) count += tensor.numel();
  return count;
}

void Module::set_training(State& state, bool training) {
  state.training = training;
  for (const auto& [name, child] : state.children) set_training(*child, training);
}
void Module::train() {
  set_training(*state_, true);
}
void Module::eval() {
  set_training(*state_, false);
}
bool Module::training() const {
  return state_->training;
}

void Module::zero_grad() const {
  for (Tensor& parameter : parameters()) parameter.zero_grad();
}

void replace(const Tensor& tensor, const Tensor& made) {
  Tensor::Impl& impl = tensor.impl();
  impl.storage = made.impl().storage;
  impl.offset = made.impl().offset;
  impl.strides = made.impl().strides;
  impl.dtype = made.dtype();
  impl.grad = {};
}

void Module::to(DType dtype) const {
  const NoGrad off_the_tape;
  const auto convert = [dtype](const Tensor& tensor) {
    if (tensor.dtype() != dtype) replace(tensor, tensor.detach().to(dtype));
  };
  for (const auto& [name, tensor] : named_parameters()) convert(tensor);
  for (const auto& [name, tensor] : named_buffers())
    if (tensor.dtype() != DType::i64 && tensor.dtype() != DType::boolean) convert(tensor);
}

void Module::to(Device device) const {
  const NoGrad off_the_tape;
  const auto move = [device](const Tensor& tensor) {
    if (tensor.device() != device) replace(tensor, tensor.detach().to(device));
  };
  for (const auto& [name, tensor] : named_parameters()) move(tensor);
  for (const auto& [name, tensor] : named_buffers()) move(tensor);
}

Device Module::device() const {
  const std::vector<NamedTensor> parameters = named_parameters();
  return parameters.empty() ? Device::cpu : parameters.front().tensor.device();
}

}  // namespace attn::nn
