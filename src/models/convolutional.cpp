// The convolutional model: gated convolutions, attention in every layer of the decoder.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "attn/models/seq2seq.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/mechanisms/composed/multi_step_attention.hpp"
#include "attn/nn/position/sinusoidal_encoding.hpp"
#include "attn/nn/recurrent/decoder_step.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "models/cached_decoding.hpp"
#include "models/kinds.hpp"
#include "models/token_loss.hpp"
#include "models/words.hpp"

namespace attn::models {
namespace {

/// [a; b] = W [x_t; ...; x_(t + kernel - 1)], out_t = a sigmoid(b). Neighbours are joined and
/// meet one product, since sequences are short and channels many, and lie side by side.
class GatedConvolution : public nn::Module {
 public:
  GatedConvolution(std::int64_t dim, std::int64_t kernel)
      : kernel_(kernel),
        product_(add("product", nn::Linear({.in = kernel * dim, .out = 2 * dim}))) {}

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
  nn::Linear product_;  ///< "product" [2 dim, kernel dim]
};

/// a + b with the variance of one of them.
Tensor sum_of(const Tensor& a, const Tensor& b) {
  return (a + b) * std::sqrt(0.5);
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
        read_out_(add("read_out", nn::Linear({.in = options.dim, .out = options.dim}))) {
    for (std::int64_t layer = 0; layer < options.encoder_layers; ++layer)
      encoder_.push_back(
          add("encoder." + std::to_string(layer), GatedConvolution(options.dim, kernel_)));
    for (std::int64_t layer = 0; layer < options.decoder_layers; ++layer) {
      const std::string name = "decoder." + std::to_string(layer);
      decoder_.push_back(
          {add(name + ".conv", GatedConvolution(options.dim, kernel_)),
           add(name + ".attention",
               nn::MultiStepAttention({.channels = options.dim,
                                       .embed_dim = options.dim,
                                       .variance = nn::VarianceRule::authors}))});
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
    const Tensor embedded = keep_where(nn::sinusoidal_encoding(words_.source(source)), kept);
    Tensor h = embedded;
    const std::int64_t before = (kernel_ - 1) / 2;
    for (const GatedConvolution& conv : encoder_) {
      const Tensor around = pad(words_.drop(h), 1, before, kernel_ - 1 - before);
      h = keep_where(sum_of(h, conv(around)), kept);
    }
    const Tensor nothing =
        Tensor::zeros({source.size(0), kernel_ - 1, h.size(2)}, h.dtype(), h.device());
    return {h, embedded, lengths, std::vector<Tensor>(decoder_.size(), nothing)};
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

  /// The inputs of a layer behind those it has seen, of which the last are kept.
  Tensor behind_past(const Tensor& x, Tensor& past) const {
    if (kernel_ == 1) return x;
    const Tensor all = concat({past, x}, 1);
    past = all.slice(1, all.size(1) - (kernel_ - 1), all.size(1));
    return all;
  }

  /// Any number of steps: tokens i64 [rows, steps].
  Run run(const Tensor& tokens, State& state, const Want& want) const {
    const Tensor y = nn::sinusoidal_encoding(words_.target(tokens), {.offset = state.steps});
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
  nn::Linear read_out_;
  std::vector<GatedConvolution> encoder_;
  std::vector<Layer> decoder_;
};

}  // namespace

std::shared_ptr<Seq2Seq> make_convolutional(const ModelOptions& options) {
  return std::make_shared<ConvolutionalModel>(options);
}

}  // namespace attn::models
