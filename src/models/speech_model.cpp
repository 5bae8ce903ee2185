#include "attn/models/speech_model.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/nn/attention/multi_head_attention.hpp"
#include "attn/nn/conv.hpp"
#include "attn/nn/embedding.hpp"
#include "attn/nn/layer_norm.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/transformer/transformer_layer.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/ops/rotary.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "models/packed_linear.hpp"
#include "models/transformer/model.hpp"

namespace attn::models {
namespace {

constexpr const char* kWhere = "attn::models::SpeechModel";

/// Rotary tables of decoding are made for so many positions at a time.
constexpr std::int64_t kPositions = 64;

SpeechModelOptions checked(const SpeechModelOptions& options) {
  validate(options);
  return options;
}

nn::Conv1d convolution(const SpeechModelOptions& options, std::size_t which, std::int64_t in,
                       std::int64_t out, nn::Bias bias) {
  const auto& [kernel, stride] = options.stem[which];
  return nn::Conv1d({.in = in, .out = out, .kernel = kernel, .bias = bias}, {.stride = stride});
}

nn::TransformerLayerOptions layer_options(const SpeechModelOptions& options) {
  return {.dim = options.dim,
          .heads = options.heads,
          .feed_forward_dim = options.encoder_features,
          .activation = Activation::gelu,
          .norm = nn::NormOrder::before,
          .layer_norm_eps = options.norm_eps};
}

nn::TransformerLayer encoder_layer(const SpeechModelOptions& options) {
  return {layer_options(options), nn::kModelEncoder};
}

nn::TransformerLayer decoder_layer(const SpeechModelOptions& options) {
  nn::TransformerLayerOptions layer = layer_options(options);
  layer.feed_forward_dim = options.decoder_features;
  layer.feed = nn::FeedForward::swiglu;
  return {layer, nn::kModelDecoder};
}

/// (x - mean) / sqrt(variance + eps) * scale + shift of all channels and places of a sound at
/// once: x [batch, channels, places].
Tensor group_norm(const Tensor& x, const Tensor& scale, const Tensor& shift, double eps) {
  const Tensor flat = x.reshape({x.size(0), 1, x.size(1) * x.size(2)});
  const Tensor centred = flat - mean(flat, 2, Axis::keep);
  const Tensor root = sqrt(mean(square(centred), 2, Axis::keep) + eps);
  return (centred / root).reshape(x.shape()) * scale + shift;
}

}  // namespace

/// The decoder's products as decoding takes them.
struct SpeechModel::Packed {
  PackedLayers layers;
};

void validate(const SpeechModelOptions& options) {
  const auto positive = [](const char* name, std::int64_t value) {
    if (value < 1) fail(kWhere, ": ", name, " is ", value, "; at least 1 is accepted");
  };
  positive("dim", options.dim);
  positive("encoder_layers", options.encoder_layers);
  positive("decoder_layers", options.decoder_layers);
  positive("heads", options.heads);
  positive("encoder_features", options.encoder_features);
  positive("decoder_features", options.decoder_features);
  positive("vocabulary", options.vocabulary);
  for (const auto& [kernel, stride] : options.stem) {
    positive("kernel", kernel);
    positive("stride", stride);
  }
  if (options.dim % options.heads != 0)
    fail(kWhere, ": dim is ", options.dim, " and heads ", options.heads,
         "; heads that divide dim are accepted");
  if (options.rotary_dim < 2 || options.rotary_dim % 2 != 0 ||
      options.rotary_dim > options.dim / options.heads)
    fail(kWhere, ": rotary_dim is ", options.rotary_dim, " of ", options.dim / options.heads,
         " channels of a head; an even number up to those is accepted");
}

SpeechModel::SpeechModel(const SpeechModelOptions& options)
    : options_(checked(options)),
      first_(add("stem.first", convolution(options, 0, 1, options.dim, nn::Bias::none))),
      group_scale_(add("stem.norm.weight", Tensor::full({options.dim, 1}, 1.0))),
      group_shift_(add("stem.norm.bias", Tensor::zeros({options.dim, 1}))),
      second_(add("stem.second",
                  convolution(options, 1, options.dim, 2 * options.dim, nn::Bias::learnt))),
      third_(add("stem.third",
                 convolution(options, 2, 2 * options.dim, options.dim, nn::Bias::learnt))),
      encoder_norm_(add("encoder.norm",
                        nn::LayerNorm({.features = options.dim, .eps = options.norm_eps}))),
      words_(
          add("words", nn::Embedding({.rows = options.vocabulary, .features = options.dim}))),
      decoder_norm_(add("decoder.norm",
                        nn::LayerNorm({.features = options.dim, .eps = options.norm_eps}))),
      words_bias_(add_buffer("words.bias", Tensor::zeros({options.vocabulary}))),
      packed_(std::make_shared<Packed>()) {
  for (std::int64_t i = 0; i < options.encoder_layers; ++i)
    encoder_.push_back(add("encoder." + std::to_string(i), encoder_layer(options)));
  for (std::int64_t i = 0; i < options.decoder_layers; ++i)
    decoder_.push_back(add("decoder." + std::to_string(i), decoder_layer(options)));
}

std::int64_t SpeechModel::frames(std::int64_t samples) const {
  std::int64_t count = samples;
  for (const auto& [kernel, stride] : options_.stem)
    count = count < kernel ? 0 : (count - kernel) / stride + 1;
  return count;
}

std::int64_t SpeechModel::least_samples() const {
  std::int64_t count = 1;
  for (const auto& [kernel, stride] : options_.stem | std::views::reverse)
    count = (count - 1) * stride + kernel;
  return count;
}

std::int64_t SpeechModel::samples_a_frame() const {
  std::int64_t count = 1;
  for (const auto& step : options_.stem) count *= step.stride;
  return count;
}

RotaryTable SpeechModel::turns(std::int64_t first, std::int64_t count) const {
  const Tensor positions = Tensor::arange(first + count).slice(0, first, first + count);
  const DType dtype = words_.weight().dtype() == DType::f64 ? DType::f64 : DType::f32;
  return rotary_table(positions.contiguous(),
                      {.base = options_.rotary_base,
                       .rotary_dim = options_.rotary_dim,
                       .pairs = RotaryPairs::interleaved},
                      dtype);
}

Tensor SpeechModel::encode(const Tensor& samples) const {
  if (!samples.defined() || samples.rank() != 2 || samples.size(1) < least_samples())
    fail(kWhere, ": samples ", samples.defined() ? samples.text() : "none",
         "; [batch, samples] of at least ", least_samples(), " samples is accepted");
  const Tensor tones = tanh(first_(samples.unsqueeze(1)));
  const Tensor wide =
      gelu(second_(group_norm(tones, group_scale_, group_shift_, options_.norm_eps)));
  Tensor x = gelu(third_(wide)).transpose(1, 2).contiguous();
  const nn::AttentionContext context{.rotary = turns(0, x.size(1))};
  for (const nn::TransformerLayer& layer : encoder_) x = layer.forward(x, context).output;
  return encoder_norm_(x);
}

Tensor SpeechModel::decode(const Tensor& frames, const Tensor& tokens,
                           std::vector<Tensor>* weights) const {
  if (!tokens.defined() || tokens.rank() != 2 || tokens.dtype() != DType::i64 ||
      frames.rank() != 3 || frames.size(0) != tokens.size(0))
    fail(kWhere, ": tokens ", tokens.defined() ? tokens.text() : "none", " over frames ",
         frames.text(), "; i64 [batch, positions] and [batch, frames, dim] are accepted");
  const nn::AttentionContext self{.keep = spec::causal(), .rotary = turns(0, tokens.size(1))};
  const nn::AttentionContext over{.want = weights == nullptr ? Want::output
                                                             : Want::output | Want::weights};
  Tensor x = words_(tokens);
  for (const nn::TransformerLayer& layer : decoder_) {
    const auto result = layer.forward(x, self, frames, over);
    x = result.output;
    if (weights != nullptr) weights->push_back(result.weights);
  }
  return decoder_norm_(x);
}

Tensor SpeechModel::logits(const Tensor& frames, const Tensor& tokens) const {
  return linear(decode(frames, tokens, nullptr), words_.weight());
}

std::vector<Tensor> SpeechModel::weights(const Tensor& frames, const Tensor& tokens) const {
  std::vector<Tensor> all;
  decode(frames, tokens, &all);
  return all;
}

struct SpeechModel::Decoding::State {
  const SpeechModel& model;
  std::vector<Tensor> remembered;  ///< of each layer
  std::vector<transformer::LayerStep> layers;
  PackedLinear output;
  RotaryTable turns;  ///< of kPositions from a multiple of it on
  std::int64_t length = 0;
};

SpeechModel::Decoding::Decoding(const SpeechModel& model, const Tensor& frames) {
  const NoGrad off_the_tape;
  PackedLayers& packed = model.packed_->layers;
  state_ = std::make_unique<State>(
      State{.model = model,
            .remembered = {},
            .layers = {},
            .output = packed.get(model.words_.weight(), model.words_bias_),
            .turns = {}});
  for (const nn::TransformerLayer& layer : model.decoder_) {
    state_->remembered.push_back(layer.memory().remember(frames));
    state_->layers.emplace_back(layer, packed);
  }
}

SpeechModel::Decoding::~Decoding() = default;
SpeechModel::Decoding::Decoding(Decoding&&) noexcept = default;
SpeechModel::Decoding& SpeechModel::Decoding::operator=(Decoding&&) noexcept = default;

Tensor SpeechModel::Decoding::step(std::int64_t token) {
  const NoGrad off_the_tape;
  State& state = *state_;
  const std::int64_t place = state.length % kPositions;
  if (place == 0) state.turns = state.model.turns(state.length, kPositions);
  const RotaryTable turns{.cos = state.turns.cos.slice(1, place, place + 1),
                          .sin = state.turns.sin.slice(1, place, place + 1),
                          .pairs = state.turns.pairs};
  Tensor x = state.model.words_(Tensor::full({1, 1}, static_cast<double>(token), DType::i64));
  for (std::size_t i = 0; i < state.layers.size(); ++i)
    x = state.layers[i](x, turns, state.remembered[i], {}).output;
  ++state.length;
  return state.output(state.model.decoder_norm_(x)).reshape({-1});
}

}  // namespace attn::models
