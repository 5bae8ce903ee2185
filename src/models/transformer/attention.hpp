/// The two attentions of a Transformer's layers.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <optional>

#include "attn/models/options.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/module.hpp"
#include "attn/nn/position/relative_shaw.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/rotary.hpp"
#include "attn/tensor/tensor.hpp"
#include "models/step_steering.hpp"

namespace attn::models::transformer {

/// `parts` projections of the same features in one product, each drawn as Glorot and Bengio's,
/// bias 0.
nn::Linear projection(std::int64_t in, std::int64_t out, std::int64_t parts = 1);

/// Keys and values, [batch, heads, positions, channels] each.
struct KeysValues {
  Tensor keys;
  Tensor values;
};

/// What is the same for every layer of a call; no table without rotary positions.
struct SelfPlaces {
  Keep keep;
  RotaryTable turns;
};

/// What the heads of one call met, [batch, heads, positions, channels] each, and what came of
/// it. `relative` adds to keys and values, if it is there.
struct Inside {
  Tensor q;
  KeysValues at;
  double scale = 1.0;
  Keep keep;
  Tensor weights;  ///< [batch, heads, queries, keys]
  Tensor output;   ///< [batch, queries, heads * channels]
  const nn::RelativeShaw* relative = nullptr;

  /// Of the first of the batch.
  HeadRow row(const HeadPlace& place, std::int64_t row) const;
};

class SelfAttention : public nn::Module {
 public:
  explicit SelfAttention(const ModelOptions& options);

  /// x [batch, positions, dim] -> the same.
  Tensor operator()(const Tensor& x, const SelfPlaces& places) const;
  /// The same for those who look inside.
  Inside inside(const Tensor& x, const SelfPlaces& places) const;

  // The same in pieces, for a decoding, which has the two products laid out for itself and
  // keeps the keys and values.
  struct Projected {
    Tensor q;
    KeysValues now;
  };
  /// Queries, keys and values, turned, of in(x).
  Projected split(const Tensor& made, const RotaryTable& turns) const;
  /// The output goes into out.
  Attended look(const Tensor& q, const KeysValues& at, const Keep& keep,
                const Want& want = Want::output) const;
  const nn::Linear& in() const { return in_; }
  const nn::Linear& out() const { return out_; }

 private:
  ModelOptions options_;
  nn::Linear in_;  ///< q, k, v
  nn::Linear out_;
  std::optional<nn::RelativeShaw> relative_;
};

/// What a decoder layer sees of the source, and what is wanted of its attention there.
struct Memory {
  Tensor at;              ///< as remembered
  StepSteering steering;  ///< lengths included
  Want want = Want::output;
};

/// Attention over what the encoder made.
class MemoryAttention : public nn::Module {
 public:
  explicit MemoryAttention(const ModelOptions& options);

  /// Keys and values side by side, made once a source: [batch, source, dim] -> [batch, source,
  /// 2 dim].
  Tensor remember(const Tensor& memory) const { return key_value_(memory); }

  /// x [batch, positions, dim]; the output has been projected.
  Attended operator()(const Tensor& x, const Memory& memory) const;

  /// The same for those who look inside.
  Inside inside(const Tensor& x, const Memory& memory) const;

  /// The same between the two products: `made` is query(x), the output goes into out.
  Attended look(const Tensor& made, const Memory& memory) const;
  const nn::Linear& query() const { return query_; }
  const nn::Linear& out() const { return out_; }

 private:
  ModelOptions options_;
  nn::Linear query_;
  nn::Linear key_value_;
  nn::Linear out_;
};

}  // namespace attn::models::transformer
