// Layers of attention find the key that equals the query.

#include "nn/support/learns.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>

#include "attn/core/dtype.hpp"
#include "attn/nn/attention/additive_score.hpp"
#include "attn/nn/attention/multi_head_attention.hpp"
#include "attn/nn/attention/torch_multihead_attention.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/module.hpp"
#include "attn/nn/transformer/torch_layers.hpp"
#include "attn/nn/transformer/transformer_layer.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/loss.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/score/recall.hpp"

namespace attn::test {
namespace {

constexpr double kBound = 0.2;
constexpr int kSteps = 200;
constexpr double kRate = 0.02;
constexpr std::int64_t kDim = 8;

/// A layer between linear layers: [symbol, value, whether it asks] -> features -> answer.
template <class Layer>
struct Reader : nn::Module {
  nn::Linear in;
  Layer layer;
  nn::Linear out;

  explicit Reader(const Layer& made)
      : in(add("in", nn::Linear({.in = 6, .out = kDim}))),
        layer(add("layer", made)),
        out(add("out", nn::Linear({.in = kDim, .out = 1}))) {}
};

/// Tokens [batch, 4, 6] of the stored symbols and values.
Tensor stored(const Recall& batch) {
  const Tensor nothing = Tensor::zeros({batch.keys.size(0), 4, 1});
  return concat({batch.keys, batch.values, nothing}, 2);
}
/// The token [batch, 1, 6] that asks.
Tensor asking(const Recall& batch) {
  const std::int64_t rows = batch.keys.size(0);
  return concat({batch.queries, Tensor::zeros({rows, 1, 1}), Tensor::full({rows, 1, 1}, 1.0)},
                2);
}

/// The layers with attention and with keys that are all hidden, or each its own.
template <class Make>
void expect_recall(
    const Make& make,
    const std::function<Tensor(const decltype(make())&, const Recall&, bool)>& ask) {
  const auto run = [&](bool looks) {
    const auto module = make();
    return train_recall(module, kSteps, kRate,
                        [&](const Recall& batch) { return ask(module, batch, looks); });
  };
  expect_learns(kBound, [&] { return run(true); }, [&] { return run(false); });
}

TEST(AdditiveAttention, LearnsToRecall) {
  expect_learns(
      kBound,
      [] {
        const nn::AdditiveAttention layer({.query_dim = 4, .key_dim = 4, .hidden_dim = 16});
        return train_recall(layer, kSteps, 0.05, [&](const Recall& batch) {
          return layer.forward(batch.queries, batch.keys, batch.values).output;
        });
      },
      [] { return train_recall_without(kSteps, 0.05); });
}

TEST(MultiHeadAttention, LearnsToRecall) {
  using Module = Reader<nn::MultiHeadAttention>;
  expect_recall(
      [] {
        return Module(nn::MultiHeadAttention(
            {.query_dim = kDim, .key_dim = 4, .value_dim = 1, .hidden_dim = kDim, .heads = 2}));
      },
      [](const Module& module, const Recall& batch, bool looks) {
        const Tensor none = Tensor::zeros({batch.keys.size(0)}, DType::i64);
        return module.out(module.layer
                              .forward(module.in(asking(batch)), batch.keys, batch.values,
                                       looks ? Mask{} : spec::lengths(none))
                              .output);
      });
}

/// Two symbols are asked for at once. One head gives one sum of the values, two give both.
double train_two_symbols(std::int64_t heads) {
  struct Module : nn::Module {
    explicit Module(std::int64_t heads)
        : layer(add("layer", nn::MultiHeadAttention({.query_dim = 8,
                                                     .key_dim = 4,
                                                     .value_dim = 1,
                                                     .hidden_dim = kDim,
                                                     .heads = heads}))),
          out(add("out", nn::Linear({.in = kDim, .out = 2}))) {}
    nn::MultiHeadAttention layer;
    nn::Linear out;
  };
  const Module module(heads);
  return train(module, kSteps, kRate, [&] {
    const Recall batch = recall_batch(32, 4);
    const Tensor place = random_integers({32, 1, 1}, 0, 4, nn::random());
    const Tensor second = gather(batch.keys, 1, place.expand({32, 1, 4}));
    const Tensor answers = concat({batch.answers, gather(batch.values, 1, place)}, 2);
    const Tensor output =
        module.layer.forward(concat({batch.queries, second}, 2), batch.keys, batch.values)
            .output;
    return mean_squared_error(module.out(output), answers);
  });
}

TEST(MultiHeadAttention, LearnsToLookAtTwoPlacesAtOnce) {
  expect_learns(0.1, [] { return train_two_symbols(2); }, [] { return train_two_symbols(1); });
}

TEST(TorchMultiheadAttention, LearnsToRecall) {
  using Module = Reader<nn::TorchMultiheadAttention>;
  expect_recall(
      [] { return Module(nn::TorchMultiheadAttention({.embed_dim = kDim, .heads = 2})); },
      [](const Module& module, const Recall& batch, bool looks) {
        nn::TorchMasks masks;
        if (!looks)
          masks.key_padding_mask = Tensor::full({batch.keys.size(0), 4}, 1.0, DType::boolean);
        const Tensor memory = module.in(stored(batch));
        return module.out(
            module.layer.forward(module.in(asking(batch)), memory, memory, masks).output);
      });
}

const nn::TransformerLayerOptions kLayer{
    .dim = kDim, .heads = 2, .feed_forward_dim = 16, .norm = nn::NormOrder::before};

TEST(TransformerEncoderLayer, LearnsToRecall) {
  using Module = Reader<nn::TransformerEncoderLayer>;
  expect_recall([] { return Module(nn::TransformerEncoderLayer(kLayer)); },
                [](const Module& module, const Recall& batch, bool looks) {
                  nn::TorchMasks masks;
                  if (!looks) masks.keep = spec::window(0, 0);
                  const Tensor tokens = concat({stored(batch), asking(batch)}, 1);
                  return module.out(module.layer(module.in(tokens), masks).slice(1, 4, 5));
                });
}

/// The answer is read behind the token that asks, so that self attention brings the symbol and
/// attention over the memory its value. Without either it is not known.
TEST(TransformerDecoderLayer, LearnsToRecallForTheTokenBefore) {
  using Module = Reader<nn::TransformerDecoderLayer>;
  enum class Hides { the_token_before, the_memory };
  for (const Hides hides : {Hides::the_token_before, Hides::the_memory})
    expect_recall([] { return Module(nn::TransformerDecoderLayer(kLayer)); },
                  [=](const Module& module, const Recall& batch, bool looks) {
                    nn::TransformerDecoderLayer::Masks masks;
                    masks.tgt.keep = spec::causal();
                    if (!looks && hides == Hides::the_token_before)
                      masks.tgt.keep = spec::window(0, 0);
                    if (!looks && hides == Hides::the_memory)
                      masks.memory.keep =
                          spec::lengths(Tensor::zeros({batch.keys.size(0)}, DType::i64));
                    const Tensor tokens = pad(asking(batch), 1, 0, 1);
                    return module.out(
                        module.layer.forward(module.in(tokens), module.in(stored(batch)), masks)
                            .slice(1, 1, 2));
                  });
}

}  // namespace
}  // namespace attn::test
