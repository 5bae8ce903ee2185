#include "attn/nn/seq2seq/decoder_step.hpp"

#include "attn/tensor/ops/attention_decoder.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {
namespace {

Tensor chosen(const Tensor& x, int axis, const Tensor& index) {
  return x.defined() ? index_select(x, axis, index) : x;
}

}  // namespace

DecoderState select_rows(const DecoderState& state, const Tensor& index) {
  return {chosen(state.hidden, 1, index), chosen(state.cell, 1, index),
          chosen(state.attentional, 0, index)};
}

DecoderSource select_rows(const DecoderSource& source, const Tensor& index) {
  return {chosen(source.keys, 0, index), chosen(source.values, 0, index),
          chosen(source.lengths, 0, index)};
}

}  // namespace attn::nn
