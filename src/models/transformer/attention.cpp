#include "models/transformer/attention.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

#include "attn/models/options.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/position/relative_shaw.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/rotary.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "models/head_row.hpp"
#include "nn/heads/split_heads.hpp"
#include "nn/heads/weight_dropout.hpp"

namespace attn::models::transformer {
namespace {

/// Distances that have vectors of their own, on either side; the paper's large model has 16.
constexpr std::int64_t kMaxDistance = 16;

double usual_scale(const Tensor& q) {
  return 1.0 / std::sqrt(static_cast<double>(q.size(-1)));
}

}  // namespace

HeadRow Inside::row(const HeadPlace& place, std::int64_t row) const {
  const auto of_head = [&](const Tensor& x) { return x.select(0, 0).select(0, place.head); };
  HeadRow made;
  made.query = on_cpu(of_head(q).select(0, row));
  KeysValues met{of_head(at.keys), of_head(at.values)};
  if (relative != nullptr) {
    const nn::RelativeShaw::Met moved =
        relative->met(met.keys, met.values, {.queries = q.size(2), .query = row});
    met = {moved.keys, moved.values};
  }
  made.keys = on_cpu(met.keys);
  made.values = on_cpu(met.values);
  made.scale = scale;
  made.scores = product_scores(made.query, made.keys, scale);
  made.open = open_keys(keep, weights.shape(), place, row, weights.device());
  made.weights = on_cpu(of_head(weights).select(0, row));
  made.output = on_cpu(of_head(nn::split_heads(output, q.size(1))).select(0, row));
  return made;
}

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

Inside SelfAttention::inside(const Tensor& x, const SelfPlaces& places) const {
  const Projected made = split(in_(x), places.turns);
  const Attended looked = look(made.q, made.now, places.keep, Want::output | Want::weights);
  return {.q = made.q,
          .at = made.now,
          .scale = usual_scale(made.q),
          .keep = places.keep,
          .weights = looked.weights,
          .output = looked.output,
          .relative = relative_ ? &*relative_ : nullptr};
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

Inside MemoryAttention::inside(const Tensor& x, const Memory& memory) const {
  const Tensor made = query_(x);
  const Tensor q = nn::split_heads(made, options_.heads);
  const std::vector<Tensor> parts = nn::split_parts(memory.at, 2, options_.heads);
  const Attended looked =
      look(made, {memory.at, memory.steering, Want::output | Want::weights});
  return {.q = q,
          .at = {parts[0], parts[1]},
          .scale = usual_scale(q) / memory.steering.temperature,
          .keep = memory.steering.keep,
          .weights = looked.weights,
          .output = looked.output};
}

Attended MemoryAttention::operator()(const Tensor& x, const Memory& memory) const {
  Attended looked = look(query_(x), memory);
  looked.output = out_(looked.output);
  return looked;
}

}  // namespace attn::models::transformer
