#include "attn/nn/recurrent/decoder_step.hpp"

#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {

Tensor select_rows(const Tensor& x, int axis, const Tensor& index) {
  return x.defined() ? index_select(x, axis, index.to(x.device())) : x;
}

DecoderState select_rows(const DecoderState& state, const Tensor& index) {
  return {select_rows(state.hidden, 1, index), select_rows(state.cell, 1, index),
          select_rows(state.attentional, 0, index)};
}

DecoderSource select_rows(const DecoderSource& source, const Tensor& index) {
  return {select_rows(source.keys, 0, index), select_rows(source.values, 0, index),
          select_rows(source.lengths, 0, index)};
}

}  // namespace attn::nn
