#include "attn/nn/recurrent/rnn_encoder.hpp"

#include "attn/nn/embedding.hpp"
#include "attn/nn/recurrent.hpp"
#include "nn/padding.hpp"

namespace attn::nn {

RnnEncoder::RnnEncoder(const RnnEncoderOptions& options)
    : embedding_(add("embedding",
                     Embedding({.rows = options.vocabulary, .features = options.embedding}))),
      rnn_(add(
          "rnn",
          Gru({.in = options.embedding, .hidden = options.hidden, .layers = options.layers}))) {
}

GruResult RnnEncoder::forward(const Tensor& source, const Tensor& lengths) const {
  return rnn_(embedding_(padding::zero_ids_past(source, lengths)), {}, lengths);
}

}  // namespace attn::nn
