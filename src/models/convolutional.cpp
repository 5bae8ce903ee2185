// The convolutional model: gated convolutions, attention in every layer of the decoder. Gehring
// et al., 2017, arXiv:1705.03122, with their first values, normed weights and scaled gradients.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "attn/models/seq2seq.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/mechanisms/composed/multi_step_attention.hpp"
#include "attn/nn/module.hpp"
#include "attn/nn/recurrent/decoder_step.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tape.hpp"
#include "models/cached_decoding.hpp"
#include "models/kinds.hpp"
#include "models/token_loss.hpp"
#include "models/words.hpp"

namespace attn::models {
namespace {

/// The deviation of the entries of a word or a position. Scores of attention are not scaled
/// here, and with entries near 1 their softmax would begin at one word.
constexpr double kEntry = 0.1;

/// sqrt(gain (1 - dropout) / fan in): outputs then vary as inputs do. A gate halves what passes
/// it, so that in front of one the gain is 4.
double deviation(double gain, double dropout, std::int64_t fan_in) {
  return std::sqrt(gain * (1.0 - dropout) / static_cast<double>(fan_in));
}

/// y = W x + b, each row of W being a length times a direction. Salimans and Kingma, 2016,
/// arXiv:1602.07868.
class NormedLinear : public nn::Module {
 public:
  NormedLinear(std::int64_t in, std::int64_t out, double spread) {
    const Tensor first = normal({out, in}, 0.0, spread, nn::random());
    length_ = add("length", sqrt(sum(square(first), 1, Axis::keep)));
    direction_ = add("direction", first);
    bias_ = add("bias", Tensor::zeros({out}));
  }

  Tensor operator()(const Tensor& x) const {
    const Tensor norm = sqrt(sum(square(direction_), 1, Axis::keep));
    return linear(x, direction_ * (length_ / norm), bias_);
  }

 private:
  Tensor length_;     ///< [out, 1]
  Tensor direction_;  ///< [out, in]
  Tensor bias_;       ///< [out]
};

/// [a; b] = W [x_t; ...; x_(t + kernel - 1)], out_t = a sigmoid(b). Neighbours are joined and
/// meet one product, since sequences are short and channels many, and lie side by side.
class GatedConvolution : public nn::Module {
 public:
  explicit GatedConvolution(const ModelOptions& options)
      : kernel_(options.kernel),
        product_(add("product",
                     NormedLinear(kernel_ * options.dim, 2 * options.dim,
                                  deviation(4.0, options.dropout, kernel_ * options.dim)))) {}

  /// x [batch, length + kernel - 1, dim] -> [batch, length, dim].
  Tensor operator()(const Tensor& x) const {
    const std::int64_t dim = x.size(2);
    const std::int64_t length = x.size(1) - (kernel_ - 1);
    std::vector<Tensor> neighbours;
    neighbours.reserve(static_cast<std::size_t>(kernel_));
    for (std::int64_t place = 0; place < kernel_; ++place)
      neighbours.push_back(x.slice(1, place, place + length));
    const Tensor both = product_(concat(neighbours, 2));
    return both.slice(2, 0, dim) * sigmoid(both.slice(2, dim, 2 * dim));
  }

 private:
  std::int64_t kernel_;
  NormedLinear product_;  ///< "product" [2 dim, kernel dim]
};

/// a + b with the variance of one of them.
Tensor sum_of(const Tensor& a, const Tensor& b) {
  return (a + b) * std::sqrt(0.5);
}

/// x, but a gradient that comes back is `share` of what arrives: every layer of the decoder
/// sends one to the encoder.
Tensor with_gradient_scaled(const Tensor& x, double share) {
  return x * share + x.detach() * (1.0 - share);
}

/// One step of attention whose projections keep variances.
nn::MultiStepAttention attention_of(const ModelOptions& options) {
  const nn::MultiStepAttention attention({.channels = options.dim,
                                          .embed_dim = options.dim,
                                          .variance = nn::VarianceRule::authors});
  const NoGrad off_the_tape;
  for (Tensor parameter : attention.parameters())
    parameter.copy_from(parameter.rank() == 1
                            ? Tensor::zeros(parameter.shape())
                            : normal(parameter.shape(), 0.0,
                                     deviation(1.0, options.dropout, options.dim),
                                     nn::random()));
  return attention;
}

class ConvolutionalModel final : public CachedModel<ConvolutionalModel> {
 public:
  struct State {
    Tensor encoded;            ///< z [rows, source, dim]
    Tensor embedded;           ///< e, the same
    Tensor lengths;            ///< i64 [rows]
    std::vector<Tensor> past;  ///< of each layer [rows, kernel - 1, dim]
    std::int64_t steps = 0;    ///< done

    void select(const Tensor& rows) {
      encoded = nn::select_rows(encoded, 0, rows);
      embedded = nn::select_rows(embedded, 0, rows);
      lengths = nn::select_rows(lengths, 0, rows);
      for (Tensor& inputs : past) inputs = nn::select_rows(inputs, 0, rows);
    }
  };

  explicit ConvolutionalModel(const ModelOptions& options)
      : kernel_(options.kernel),
        words_(add("words", Words(options))),
        source_positions_(add("source_positions", first_positions(options))),
        target_positions_(add("target_positions", first_positions(options))),
        read_out_(add("read_out", NormedLinear(options.dim, options.dim,
                                               deviation(1.0, options.dropout, options.dim)))) {
    for (std::int64_t layer = 0; layer < options.encoder_layers; ++layer)
      encoder_.push_back(add("encoder." + std::to_string(layer), GatedConvolution(options)));
    for (std::int64_t layer = 0; layer < options.decoder_layers; ++layer) {
      const std::string name = "decoder." + std::to_string(layer);
      decoder_.push_back({add(name + ".conv", GatedConvolution(options)),
                          add(name + ".attention", attention_of(options))});
    }
  }

  Tensor loss(const Batch& batch, const LossOptions& options) const override {
    check_batch(batch, "attn::models::ConvolutionalModel::loss");
    State state = begin(batch.source, batch.source_lengths);
    return token_loss(run(batch.input, state, Want::output).logits, batch.target, options,
                      batch.weights);
  }

  State begin(const Tensor& source, const Tensor& lengths) const {
    // A convolution mixes neighbours, so what lies past a length is 0 in front of each.
    const Tensor kept = length_mask(lengths, source.size(1)).unsqueeze(-1).to(words_.device());
    const Tensor embedded =
        keep_where(with_positions(words_.source(source), source_positions_, 0), kept);
    Tensor h = embedded;
    const std::int64_t before = (kernel_ - 1) / 2;
    for (const GatedConvolution& conv : encoder_) {
      const Tensor around = pad(words_.drop(h), 1, before, kernel_ - 1 - before);
      h = keep_where(sum_of(h, conv(around)), kept);
    }
    const Tensor nothing =
        Tensor::zeros({source.size(0), kernel_ - 1, h.size(2)}, h.dtype(), h.device());
    // In training alone: elsewhere a gradient is that of the loss.
    const double share = training() ? 0.5 / static_cast<double>(decoder_.size()) : 1.0;
    return {with_gradient_scaled(h, share), embedded, lengths,
            std::vector<Tensor>(decoder_.size(), nothing)};
  }

  Prediction step(const Tensor& tokens, State& state) const {
    const Run made = run(tokens.unsqueeze(1), state, Want::output | Want::weights);
    return {log_softmax(made.logits.squeeze(1)), made.weights.squeeze(1)};
  }

 private:
  struct Layer {
    GatedConvolution conv;
    nn::MultiStepAttention attention;  ///< one step of it, without a convolution
  };
  struct Run {
    Tensor logits;   ///< [rows, steps, vocabulary]
    Tensor weights;  ///< [rows, steps, source], if wanted
  };

  static Tensor first_positions(const ModelOptions& options) {
    return normal({options.max_source, options.dim}, 0.0, kEntry, nn::random());
  }

  /// Words and their places, both of the same size. Past the last row all share it.
  Tensor with_positions(const Tensor& words, const Tensor& rows, std::int64_t first) const {
    std::vector<std::int64_t> places(static_cast<std::size_t>(words.size(1)));
    for (std::size_t i = 0; i < places.size(); ++i)
      places[i] = std::min(first + static_cast<std::int64_t>(i), rows.size(0) - 1);
    const Tensor ids = Tensor::from(places, {words.size(1)}).to(rows.device());
    return words * kEntry + words_.drop(embedding(rows, ids));
  }

  /// The inputs of a layer behind those it has seen, of which the last are kept.
  Tensor behind_past(const Tensor& x, Tensor& past) const {
    if (kernel_ == 1) return x;
    const Tensor all = concat({past, x}, 1);
    past = all.slice(1, all.size(1) - (kernel_ - 1), all.size(1));
    return all;
  }

  /// Any number of steps: tokens i64 [rows, steps].
  Run run(const Tensor& tokens, State& state, const Want& want) const {
    const Tensor y = with_positions(words_.target(tokens), target_positions_, state.steps);
    Tensor h = y;
    Tensor weights;
    for (std::size_t layer = 0; layer < decoder_.size(); ++layer) {
      const Tensor inputs = behind_past(words_.drop(h), state.past[layer]);
      const nn::MultiStepResult looked =
          decoder_[layer].attention.forward({.states = decoder_[layer].conv(inputs),
                                             .target_embed = y,
                                             .enc_out = state.encoded,
                                             .enc_embed = state.embedded,
                                             .lengths = state.lengths},
                                            want);
      h = sum_of(h, looked.output);
      if (looked.mean_weights.defined())
        weights = weights.defined() ? weights + looked.mean_weights : looked.mean_weights;
    }
    state.steps += tokens.size(1);
    if (weights.defined()) weights = weights / static_cast<double>(decoder_.size());
    return {words_.logits(read_out_(h)), weights};
  }

  std::int64_t kernel_;
  Words words_;
  Tensor source_positions_;  ///< [max_source, dim]
  Tensor target_positions_;  ///< the same
  NormedLinear read_out_;
  std::vector<GatedConvolution> encoder_;
  std::vector<Layer> decoder_;
};

}  // namespace

std::shared_ptr<Seq2Seq> make_convolutional(const ModelOptions& options) {
  return std::make_shared<ConvolutionalModel>(options);
}

}  // namespace attn::models
