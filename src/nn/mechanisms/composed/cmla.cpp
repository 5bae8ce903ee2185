#include "attn/nn/mechanisms/composed/cmla.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/linear.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "nn/padding.hpp"

namespace attn::nn {
namespace {

/// [h_i^T M[k] u]_k: states [batch, tokens, dim], slices [K, dim, dim], u [batch, dim] ->
/// [batch, tokens, K].
Tensor bilinear(const Tensor& states, const Tensor& slices, const Tensor& u) {
  const std::int64_t count = slices.size(0);
  const std::int64_t dim = slices.size(2);
  const Tensor turned = linear(u, slices.reshape({count * dim, dim}));
  return matmul(states, turned.reshape({u.size(0), count, dim}).transpose(1, 2));
}

}  // namespace

CmlaGru::CmlaGru(std::int64_t dim)
    : w_z_(add("W_z", without_bias(dim, dim))),
      w_r_(add("W_r", without_bias(dim, dim))),
      w_h_(add("W_h", without_bias(dim, dim))),
      u_z_(add("U_z", without_bias(dim, dim))),
      u_r_(add("U_r", without_bias(dim, dim))),
      u_h_(add("U_h", without_bias(dim, dim))) {}

Tensor CmlaGru::forward(const Tensor& x, const Tensor& lengths) const {
  const Tensor from_z = w_z_(x);
  const Tensor from_r = w_r_(x);
  const Tensor from_h = w_h_(x);
  const Tensor valid =
      lengths.defined() ? padding::first_places(lengths, x.size(1), x.device()) : Tensor();
  Tensor r = Tensor::zeros({x.size(0), x.size(2)}, x.dtype(), x.device());
  std::vector<Tensor> states;
  for (std::int64_t t = 0; t < x.size(1); ++t) {
    const Tensor z = sigmoid(from_z.select(1, t) + u_z_(r));
    const Tensor reset = sigmoid(from_r.select(1, t) + u_r_(r));
    const Tensor fresh = tanh(from_h.select(1, t) + u_h_(reset * r));
    const Tensor next = r + z * (fresh - r);
    r = valid.defined() ? where(valid.slice(1, t, t + 1), next, r) : next;
    states.push_back(r);
  }
  return stack(states, 1);
}

Cmla::Stream Cmla::add_stream(char name) {
  const std::string end = std::string("_") + name;
  const std::int64_t dim = options_.dim;
  const std::int64_t width = 2 * options_.slices;
  const Shape slices{options_.slices, dim, dim};
  return {add("u" + end, fan_in_uniform({dim}, dim)),
          add("v" + end, fan_in_uniform({width}, width)),
          add("G" + end, fan_in_uniform(slices, dim)),
          add("D" + end, fan_in_uniform(slices, dim)),
          add("Q" + end, without_bias(dim, dim)),
          add("C" + end, Linear({.in = width, .out = options_.classes})),
          add("gru" + end, CmlaGru(width))};
}

Cmla::Cmla(const CmlaOptions& options)
    : options_(options), streams_{add_stream('a'), add_stream('p')} {
  if (options.layers < 1)
    fail("attn::nn::Cmla: ", options.layers, " layers; at least 1 is accepted");
}

/// What one layer does to one stream.
struct Cmla::Turn {
  Tensor r;          ///< [batch, tokens, 2 K]
  Tensor weights;    ///< [batch, 1, tokens]
  Tensor prototype;  ///< [batch, dim]
};

Cmla::Turn Cmla::turn(const Stream& stream, const Tensor& states, const Tensor& own,
                      const Tensor& other, const Tensor& lengths) const {
  const Tensor beta = tanh(concat(
      std::vector<Tensor>{bilinear(states, stream.g, own), bilinear(states, stream.d, other)},
      2));
  const Tensor r = stream.gru.forward(beta, lengths);
  const Tensor scores = linear(r, stream.v.unsqueeze(0)).transpose(1, 2);
  const Attended looked = attend({}, {}, states, spec::given(scores), padding::keys(lengths),
                                 spec::softmax(), Want::output | Want::weights);
  return {r, looked.weights, tanh(stream.q(own)) + looked.output.squeeze(1)};
}

CmlaResult Cmla::forward(const Tensor& states, const Tensor& lengths) const {
  if (states.rank() != 3 || states.size(1) < 1)
    fail("attn::nn::Cmla: states ", states.text(),
         "; [batch, tokens, dim] with at least one token is accepted");
  const Tensor known = padding::zero_past(states, lengths);
  const Shape shape{states.size(0), options_.dim};
  std::array<Tensor, 2> u{streams_[0].u.expand(shape), streams_[1].u.expand(shape)};
  std::array<Tensor, 2> total;
  std::array<std::vector<Tensor>, 2> weights;
  for (std::int64_t layer = 0; layer < options_.layers; ++layer) {
    const std::array<Tensor, 2> old = u;
    for (std::size_t m = 0; m < 2; ++m) {
      const Turn made = turn(streams_[m], known, old[m], old[1 - m], lengths);
      total[m] = layer == 0 ? made.r : total[m] + made.r;
      weights[m].push_back(made.weights);
      u[m] = made.prototype;
    }
  }
  const auto result = [&](std::size_t m) {
    return CmlaStream{concat(weights[m], 1), u[m],
                      padding::zero_past(streams_[m].c(total[m]), lengths)};
  };
  return {result(0), result(1)};
}

}  // namespace attn::nn
