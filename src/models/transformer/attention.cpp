#include "models/transformer/attention.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

#include "attn/models/options.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/position/relative_shaw.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/rotary.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/heads/split_heads.hpp"
#include "nn/heads/weight_dropout.hpp"

namespace attn::models::transformer {
namespace {

/// Distances that have vectors of their own, on either side; the paper's large model has 16.
constexpr std::int64_t kMaxDistance = 16;

}  // namespace

nn::Linear projection(std::int64_t in, std::int64_t out, std::int64_t parts) {
  nn::Linear layer({.in = in, .out = parts * out});
  const NoGrad off_the_tape;
  const double bound = std::sqrt(6.0 / static_cast<double>(in + out));
  Tensor(layer.weight()).copy_from(nn::uniform_within({parts * out, in}, bound));
  Tensor(layer.bias()).fill(0.0);
  return layer;
}

SelfAttention::SelfAttention(const ModelOptions& options)
    : options_(options),
      in_(add("in", projection(options.dim, options.dim, 3))),
      out_(add("out", projection(options.dim, options.dim))) {
  const std::int64_t channels = options.dim / options.heads;
  if (options.positions == Positions::relative)
    relative_ = add("relative", nn::RelativeShaw({.key_dim = channels,
                                                  .value_dim = channels,
                                                  .max_distance = kMaxDistance}));
}

SelfAttention::Projected SelfAttention::split(const Tensor& made,
                                              const RotaryTable& turns) const {
  const std::vector<Tensor> parts = nn::split_parts(made, 3, options_.heads);
  if (!turns.cos.defined()) return {parts[0], {parts[1], parts[2]}};
  return {rotary(parts[0], turns), {rotary(parts[1], turns), parts[2]}};
}

Attended SelfAttention::look(const Tensor& q, const KeysValues& at, const Keep& keep,
                             const Want& want) const {
  Attended looked = relative_ ? relative_->forward(q, at.keys, at.values, keep, want)
                              : attend(q, at.keys, at.values, spec::scaled_dot(), keep,
                                       nn::softmax_with_dropout(*this, options_.dropout), want);
  looked.output = nn::join_heads(looked.output);
  return looked;
}

Tensor SelfAttention::operator()(const Tensor& x, const SelfPlaces& places) const {
  const Projected made = split(in_(x), places.turns);
  return out_(look(made.q, made.now, places.keep).output);
}

Attended SelfAttention::attended(const Tensor& x, const SelfPlaces& places) const {
  const Projected made = split(in_(x), places.turns);
  Attended looked = look(made.q, made.now, places.keep, Want::output | Want::weights);
  looked.output = out_(looked.output);
  return looked;
}

MemoryAttention::MemoryAttention(const ModelOptions& options)
    : options_(options),
      query_(add("query", projection(options.dim, options.dim))),
      key_value_(add("key_value", projection(options.dim, options.dim, 2))),
      out_(add("out", projection(options.dim, options.dim))) {}

Attended MemoryAttention::look(const Tensor& made, const Memory& memory) const {
  const Tensor q = nn::split_heads(made, options_.heads);
  const std::vector<Tensor> parts = nn::split_parts(memory.at, 2, options_.heads);
  // Weights that are looked at, or copied by, are whole.
  const auto normaliser = memory.want.has(Want::weights)
                              ? spec::softmax()
                              : nn::softmax_with_dropout(*this, options_.dropout);
  Attended looked = attend(q, parts[0], parts[1], memory.steering.of(spec::scaled_dot()),
                           memory.steering.keep, normaliser, memory.want);
  looked.output = nn::join_heads(looked.output);
  return looked;
}

Attended MemoryAttention::operator()(const Tensor& x, const Memory& memory) const {
  Attended looked = look(query_(x), memory);
  looked.output = out_(looked.output);
  return looked;
}

}  // namespace attn::models::transformer
