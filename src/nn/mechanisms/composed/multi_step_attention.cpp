#include "attn/nn/mechanisms/composed/multi_step_attention.hpp"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/nn/conv.hpp"
#include "attn/nn/linear.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "nn/padding.hpp"

namespace attn::nn {
namespace {

/// The first half of the channels times the sigmoid of the second. Dauphin et al., 2017,
/// arXiv:1612.08083.
Tensor gated(const Tensor& x) {
  const std::int64_t half = x.size(1) / 2;
  return x.slice(1, 0, half) * sigmoid(x.slice(1, half, 2 * half));
}

/// sqrt(m), m the source items of each row: [batch, 1, 1].
Tensor root_of_lengths(const Tensor& lengths, const Tensor& source) {
  return sqrt(padding::or_full(lengths, source.size(0), source.size(1))
                  .to(source.device())
                  .to(source.dtype()))
      .reshape({source.size(0), 1, 1});
}

}  // namespace

MultiStepAttention::MultiStepAttention(const MultiStepOptions& options) : options_(options) {
  if (options.layers < 1 || options.kernel < 0)
    fail("attn::nn::MultiStepAttention: ", options.layers, " layers and kernel ",
         options.kernel, "; at least 1 layer and a kernel of 0 (none) or more are accepted");
  for (std::int64_t layer = 0; layer < options.layers; ++layer) {
    const std::string name = "layers." + std::to_string(layer);
    std::optional<Conv1d> conv;
    if (options.kernel > 0)
      conv = add(name + ".conv", Conv1d({.in = options.channels,
                                         .out = 2 * options.channels,
                                         .kernel = options.kernel},
                                        {.pad_before = options.kernel - 1}));
    const Linear in_proj =
        add(name + ".in_proj", Linear({.in = options.channels, .out = options.embed_dim}));
    const Linear out_proj =
        add(name + ".out_proj", Linear({.in = options.embed_dim, .out = options.channels}));
    layers_.push_back({conv, in_proj, out_proj});
  }
}

MultiStepResult MultiStepAttention::forward(const MultiStepInputs& in, const Want& want) const {
  const bool normalised = options_.variance == VarianceRule::authors;
  const auto sum_of = [&](const Tensor& a, const Tensor& b) {
    return normalised ? (a + b) * std::sqrt(0.5) : a + b;
  };
  const Mask keep = padding::keys(in.lengths);
  const Tensor values = sum_of(in.enc_out, in.enc_embed);
  Tensor h = in.states;
  std::vector<Tensor> weights;
  for (const Layer& layer : layers_) {
    const Tensor before = h;
    if (layer.conv) h = gated((*layer.conv)(h.transpose(1, 2))).transpose(1, 2);
    const Attended looked =
        attend(sum_of(layer.in_proj(h), in.target_embed), in.enc_out, values, spec::dot(), keep,
               spec::softmax(), want | Want::output);
    const Tensor context =
        normalised ? looked.output * root_of_lengths(in.lengths, in.enc_out) : looked.output;
    h = sum_of(h, layer.out_proj(context));
    if (layer.conv) h = sum_of(before, h);
    if (want.has(Want::weights)) weights.push_back(looked.weights);
  }
  if (weights.empty()) return {h, {}, {}};
  const Tensor all = stack(weights, 1);
  return {h, all, mean(all, 1)};
}

}  // namespace attn::nn
