/// Module: named parameters and child modules. A module is a handle, as a Tensor is: copies
/// share their parameters.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/storage.hpp"
#include "attn/tensor/tensor.hpp"  // IWYU pragma: export

namespace attn::nn {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

/// The tensor of that name; not defined when there is none.
Tensor find_tensor(const std::vector<NamedTensor>& tensors, std::string_view name);

/// Names join with dots, in the order of registration: "encoder.rnn.weight_ih_l0".
class Module {
 public:
  /// What training changes.
  std::vector<NamedTensor> named_parameters() const;
  std::vector<Tensor> parameters() const;
  /// What is saved beside the parameters and not trained, such as running means.
  std::vector<NamedTensor> named_buffers() const;
  std::int64_t parameter_count() const;

  /// Dropout and batch normalisation behave by this; modules begin in training.
  void train();
  void eval();
  bool training() const;
  Phase phase() const { return training() ? Phase::train : Phase::eval; }

  void zero_grad() const;
  /// Converts all parameters and buffers in place; every copy of the module sees it.
  void to(DType dtype) const;
  /// Moves them likewise; an optimiser made before keeps its state where it was.
  void to(Device device) const;
  /// Where its parameters lie; the CPU if it has none.
  Device device() const;

 protected:
  Module();

  /// Registers a parameter; it requires a gradient from now on. An undefined tensor is no
  /// parameter and is returned as it is.
  Tensor add(std::string_view name, Tensor parameter);
  Tensor add_buffer(std::string_view name, Tensor buffer);
  /// Registers a child: `query_(add("query", Linear({...})))`.
  template <std::derived_from<Module> M>
  M add(std::string_view name, M child) {
    add_child(name, child);
    return child;
  }
  /// Registers a child whose parts are called as if they were this module's own.
  template <std::derived_from<Module> M>
  M add_unnamed(M child) {
    adopt(child);
    return child;
  }

 private:
  struct State;

  void add_child(std::string_view name, const Module& child);
  void adopt(const Module& child);
  static void collect(const State& state, const std::string& prefix, bool buffers,
                      std::vector<NamedTensor>& into);
  static void set_training(State& state, bool training);

  std::shared_ptr<State> state_;
};

}  // namespace attn::nn
