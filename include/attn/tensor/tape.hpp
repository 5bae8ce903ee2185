/// The tape: what ops record so that gradients can walk back.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn {

/// While one lives, nothing is recorded on this thread.
class NoGrad {
 public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  bool before_;
};

/// Whether ops record on this thread.
bool grad_enabled();

using Gradients = std::vector<Tensor>;  ///< not defined: none arrived, or none is wanted
using Needs = std::vector<bool>;        ///< which inputs want a gradient

/// One gradient for each input, given one for each output. Runs under NoGrad.
using Backward = std::function<Gradients(const Gradients& grads, const Needs& needs)>;

/// A tensor kept for the backward pass: its numbers without its history, so that a node never
/// owns what owns it. get() throws if somebody wrote to it in between.
class Saved {
 public:
  Saved() = default;
  Saved(const Tensor& tensor);  // NOLINT(google-explicit-constructor)

  const Tensor& get() const;
  bool defined() const { return tensor_.defined(); }

 private:
  Tensor tensor_;
  std::uint64_t version_ = 0;
};

/// One recorded op.
class Node {
 public:
  struct Edge {
    std::shared_ptr<Node> node;          ///< null: a leaf, or no gradient wanted
    int output = 0;                      ///< which output of that node
    std::shared_ptr<Tensor::Impl> leaf;  ///< where the gradient is added, if it is one
  };

  const char* name = "";
  std::uint64_t order = 0;  ///< rises; inputs were recorded before
  std::vector<Edge> inputs;
  Needs needs;
  std::vector<Shape> output_shapes;
  std::vector<DType> output_dtypes;
  Backward backward;
  bool released = false;

  Node() = default;
  /// Takes long chains apart without recursion.
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
};

/// Puts an op on the tape: `outputs` were computed from `inputs`, whose gradients `backward`
/// tells. Does nothing unless an input requires a gradient. Undefined inputs are allowed.
void record(const char* name, std::span<const Tensor> inputs, std::span<Tensor> outputs,
            Backward backward);

/// The same for one output, which is returned.
Tensor record(const char* name, std::initializer_list<Tensor> inputs, Tensor output,
              Backward backward);

/// Whether one of the inputs takes part in the tape, now.
bool wants_grad(std::initializer_list<Tensor> inputs);
bool wants_grad(std::span<const Tensor> inputs);

/// Gradients of sum(outputs * seeds) for several outputs at once; an undefined seed counts as
/// ones for one number. Adds to the leaves.
void backward(std::span<const Tensor> outputs, std::span<const Tensor> seeds);

}  // namespace attn
