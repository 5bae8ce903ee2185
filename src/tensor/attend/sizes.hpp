/// The sizes of a call of attend(), and its tensors with four axes whatever they were given.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/tensor/spec/score.hpp"
#include "attn/tensor/spec/sequences.hpp"
#include "attn/tensor/spec/stage.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/attend/kernels.hpp"

namespace attn::op {

struct AttendSizes {
  /// Throws InvalidArgument unless the tensors agree.
  AttendSizes(const Tensor& q, const Tensor& k, const Tensor& v, const spec::Score& score,
              const spec::Sequences& sequences);

  /// Off the tape, with a head axis; without channels where there is no tensor.
  AttendTensors inputs(const Tensor& q, const Tensor& k, const Tensor& v) const;
  /// Puts the head axis in, or takes it out, where the call has none. Off the tape; what is
  /// not defined stays so.
  Tensor with_heads(const Tensor& x) const;
  Tensor without_heads(const Tensor& x) const;

  spec::Problem problem;
  DType storage = DType::f32;  ///< of q, k, v and the output
  bool has_heads = true;
  spec::Sequences sequences;

 private:
  void take_sequences(const Tensor& k, bool given);
};

/// A new tensor with `channels`, heads and positions lying as in `model`: what follows
/// attention usually joins the heads, which is then free.
Tensor empty_like(const Tensor& model, std::int64_t channels);

}  // namespace attn::op
