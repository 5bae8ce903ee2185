/// The loop of Luong's decoder: an LSTM, attention with its state, and input feeding. Luong,
/// Pham and Manning, 2015, arXiv:1508.04025.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <functional>

#include "attn/nn/attention/luong_attention.hpp"
#include "attn/nn/attention/multi_head_attention.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/recurrent.hpp"
#include "attn/nn/recurrent/decoder_step.hpp"

namespace attn::nn {

struct LuongLoopOptions {
  std::int64_t embedding;
  std::int64_t hidden;
  std::int64_t attentional;
  std::int64_t layers = 1;
  InputFeeding feeding = InputFeeding::on;
  LuongAttentionOptions attention;
  const char* attention_name = nullptr;  ///< none: its parameters stand beside the loop's
  const char* rnn_name = "rnn";
};

/// h_t = LSTM([y_t; a_{t-1}]), c_t = attention of h_t, a_t = tanh(W_c [c_t; h_t]); without
/// feeding h_t = LSTM(y_t).
///
/// With input feeding it loops over time because a_{t-1} enters the LSTM; the loop is one op
/// (luong_decode) where that has the attention. Without, only the LSTM loops, and the queries
/// of all steps are one call of attend.
class LuongLoop : public Module {
 public:
  explicit LuongLoop(const LuongLoopOptions& options);

  /// What the loop begins with: a_{-1} = 0.
  DecoderState start(const Tensor& hidden, const Tensor& cell) const;

  struct Result {
    Tensor attentional;  ///< [batch, steps, attentional]
    Tensor weights;      ///< [batch, steps, source]
  };
  /// Where attention may go beside what was trained, of `steps` steps from the first.
  using ContextOf = std::function<AttentionContext(std::int64_t first, std::int64_t steps)>;
  /// Any number of steps, y [batch, steps, embedding], of which the first is step `first` of
  /// the target; the state moves on.
  Result run(const Tensor& y, const DecoderSource& source, DecoderState& state,
             std::int64_t first = 0, const ContextOf& context_of = {}) const;

  /// h of one step that leaves the state as it is: y [batch, 1, embedding].
  Tensor query(const Tensor& y, const DecoderState& state) const;
  const LuongAttention& attention() const { return attention_; }

 private:
  Tensor input(const Tensor& y, const DecoderState& state) const;
  Result run_fused(const Tensor& y, const DecoderSource& source, DecoderState& state) const;
  Result run_at_once(const Tensor& in, const DecoderSource& source, DecoderState& state,
                     std::int64_t first, const ContextOf& context_of) const;

  InputFeeding feeding_;
  LuongAttention attention_;
  Lstm rnn_;     ///< embedding (+ attentional) -> hidden
  Linear join_;  ///< "W_c" [attentional, 2 hidden], no bias
};

}  // namespace attn::nn
