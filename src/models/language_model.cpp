#include "attn/models/language_model.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/nn/attention/kv_cache.hpp"
#include "attn/nn/attention/multi_head_attention.hpp"
#include "attn/nn/dropout.hpp"
#include "attn/nn/embedding.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/norm.hpp"
#include "attn/nn/position/learned_position.hpp"
#include "attn/nn/transformer/transformer_layer.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/rotary.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::models {
namespace {

constexpr const char* kWhere = "attn::models::LanguageModel";

constexpr nn::LayerConvention kLanguageLayer{
    "self_norm", "self",     nullptr,        nullptr,          "feed_norm",
    "feed.in",   "feed.out", nn::kSelfHeads, nn::kMemoryHeads, nn::FirstWeights::glorot_each};

LanguageModelOptions checked(const LanguageModelOptions& options) {
  validate(options);
  return options;
}

nn::TransformerLayerOptions layer_options(const LanguageModelOptions& options) {
  return {.dim = options.dim,
          .heads = options.heads,
          .feed_forward_dim = options.feed_forward,
          .activation = options.activation,
          .norm = nn::NormOrder::before,
          .layer_norm_eps = options.norm_eps,
          .dropout = options.dropout,
          .norm_kind = options.norm,
          .feed = options.feed,
          .key_value_heads = options.key_value_heads,
          .bias = options.bias};
}

/// Its vectors have a length near 1: as rows of a tied output, logits begin near 0.
nn::Embedding first_words(const LanguageModelOptions& options) {
  nn::Embedding words({.rows = options.vocabulary, .features = options.dim});
  const NoGrad off_the_tape;
  Tensor table = words.weight();
  table.copy_from(table * (1.0 / std::sqrt(static_cast<double>(options.dim))));
  return words;
}

}  // namespace

/// Cosines and sines of the positions of a window; any thread may ask.
struct LanguageModel::Turns {
  std::mutex guard;
  RotaryTable table;
};

void validate(const LanguageModelOptions& options) {
  const auto positive = [](const char* name, std::int64_t value) {
    if (value < 1) fail(kWhere, ": ", name, " is ", value, "; at least 1 is accepted");
  };
  positive("vocabulary", options.vocabulary);
  positive("dim", options.dim);
  positive("layers", options.layers);
  positive("rounds", options.rounds);
  positive("heads", options.heads);
  positive("feed_forward", options.feed_forward);
  positive("window", options.window);
  if (options.dim % options.heads != 0)
    fail(kWhere, ": dim is ", options.dim, " and heads ", options.heads,
         "; heads that divide dim are accepted");
  if (options.key_value_heads < 0 ||
      (options.key_value_heads > 0 && options.heads % options.key_value_heads != 0))
    fail(kWhere, ": key_value_heads is ", options.key_value_heads, " and heads ", options.heads,
         "; a divisor of heads is accepted");
  if (options.positions == TextPositions::rotary && options.dim / options.heads % 2 != 0)
    fail(kWhere, ": a head has ", options.dim / options.heads,
         " features; an even number is accepted with rotary positions");
  if (!(options.dropout >= 0.0 && options.dropout < 1.0))
    fail(kWhere, ": dropout is ", options.dropout, "; 0 to below 1 is accepted");
}

LanguageModel::LanguageModel(const LanguageModelOptions& options)
    : options_(checked(options)),
      words_(add("words", first_words(options))),
      positions_(options.positions == TextPositions::learned
                     ? std::optional(add("positions",
                                         nn::LearnedPosition({.max_positions = options.window,
                                                              .dim = options.dim})))
                     : std::nullopt),
      norm_(add("norm",
                nn::Norm(options.norm, {.features = options.dim, .eps = options.norm_eps}))),
      output_(options.tie ? std::nullopt
                          : std::optional(add(
                                "output", nn::without_bias(options.dim, options.vocabulary)))),
      dropout_(add("dropout", nn::Dropout(options.dropout))),
      turns_(std::make_shared<Turns>()) {
  for (std::int64_t i = 0; i < options.layers; ++i)
    layers_.push_back(add("layers." + std::to_string(i),
                          nn::TransformerLayer(layer_options(options), kLanguageLayer)));
}

RotaryTable LanguageModel::turns(std::int64_t first, std::int64_t count) const {
  if (options_.positions != TextPositions::rotary) return {};
  // Angles of 16-bit words are f32, as rotary() takes them.
  const DType dtype = words_.weight().dtype() == DType::f64 ? DType::f64 : DType::f32;
  const Device device = words_.weight().device();
  RotaryTable all;
  {
    const std::lock_guard lock(turns_->guard);
    RotaryTable& table = turns_->table;
    if (!table.cos.defined() || table.cos.dtype() != dtype || table.cos.device() != device) {
      table = rotary_table(Tensor::arange(options_.window),
                           {.base = options_.rotary_base,
                            .rotary_dim = options_.dim / options_.heads,
                            .pairs = options_.rotary_pairs},
                           dtype);
      table.cos = table.cos.to(device);
      table.sin = table.sin.to(device);
    }
    all = table;
  }
  all.cos = all.cos.slice(1, first, first + count);
  all.sin = all.sin.slice(1, first, first + count);
  return all;
}

Tensor LanguageModel::read(const Tensor& ids, Reading* before,
                           std::vector<Tensor>* weights) const {
  if (!ids.defined() || ids.rank() != 2 || ids.dtype() != DType::i64)
    fail(kWhere, ": ids ", ids.defined() ? ids.text() : "none",
         "; i64 [batch, positions] are accepted");
  const std::int64_t first = before == nullptr ? 0 : before->length();
  if (first + ids.size(1) > options_.window)
    fail(kWhere, ": ", ids.size(1), " tokens behind ", first, "; a window of ", options_.window,
         " is read");
  if (before != nullptr && before->caches_.empty())
    before->caches_.assign(layers_.size() * static_cast<std::size_t>(options_.rounds),
                           nn::KvCache(options_.window));
  nn::AttentionContext context{
      .keep = spec::causal(),
      .rotary = turns(first, ids.size(1)),
      .want = weights == nullptr ? Want::output : Want::output | Want::weights};
  Tensor x = words_(ids.to(words_.weight().device()));
  if (positions_) x = (*positions_)(x, first);
  x = dropout_(x);
  for (std::size_t at = 0; at < layers_.size() * static_cast<std::size_t>(options_.rounds);
       ++at) {
    if (before != nullptr) context.cache = &before->caches_[at];
    const auto result = layers_[at % layers_.size()].forward(x, context);
    x = result.output;
    if (weights != nullptr) weights->push_back(result.self_weights);
  }
  const Tensor normal = norm_(x);
  return output_ ? (*output_)(normal) : linear(normal, words_.weight());
}

std::vector<Tensor> LanguageModel::weights(const Tensor& ids) const {
  std::vector<Tensor> all;
  read(ids, nullptr, &all);
  return all;
}

}  // namespace attn::models
