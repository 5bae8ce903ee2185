/// A linear layer for decoding: its weight is laid out once and streamed at every step, since a
/// product of few rows would spend its time laying the weight out again. A weight that came
/// from bf16 is streamed as bf16: a product of few rows waits for memory, and that is half of
/// it. So is one of whole multiples of a step, as 8-bit files have it; the step goes into x.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/tensor/storage.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::models {

enum class Then { nothing, relu };

/// Off the tape. In f32 the weight is a copy, so later changes of the layer are not seen; other
/// types are multiplied as they are.
class PackedLinear {
 public:
  /// weight [out, in], bias [out].
  PackedLinear(const Tensor& weight, const Tensor& bias);
  /// then(x W^T + b), x [..., in] -> [..., out].
  Tensor operator()(const Tensor& x, Then then = Then::nothing) const;
  /// x W^T + b + added, which has the shape of the result.
  Tensor plus(const Tensor& x, const Tensor& added) const;

  /// Whether 16 bits a number are streamed.
  bool is_narrow() const { return panels_.defined() && panels_.dtype() == DType::bf16; }

 private:
  Tensor multiply(const Tensor& x, const Tensor& added) const;
  void multiply_columns(const Tensor& x, const Tensor& added, const Tensor& out,
                        std::int64_t first_panel, std::int64_t last_panel) const;

  Tensor weight_;
  Tensor bias_;
  Tensor panels_;      ///< f32, or bf16 if that says the same; not defined in other types
  float step_ = 1.0f;  ///< by which the panels have to be multiplied
};

/// The packed layers of a model, laid out when first asked for and again when a weight has
/// changed since, or has been to another device: laying out takes as long as a short answer.
/// Any thread may ask.
class PackedLayers {
 public:
  PackedLinear get(const Tensor& weight, const Tensor& bias);
  /// Of an nn::Linear with a bias.
  template <class Linear>
  PackedLinear get(const Linear& layer) {
    return get(layer.weight(), layer.bias());
  }

 private:
  struct Entry {
    // The memory, not the tensors: a tensor may be given other memory later.
    std::shared_ptr<const Storage> weight;
    std::shared_ptr<const Storage> bias;
    std::int64_t offset;   ///< of the weight
    std::uint64_t writes;  ///< to both, when it was packed
    PackedLinear packed;
  };
  std::mutex guard_;
  std::vector<Entry> entries_;
};

}  // namespace attn::models
