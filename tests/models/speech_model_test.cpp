// The speech model: its encoder and decoder against plain loops in double, and decoding token
// by token against all tokens at once.

#include "attn/models/speech_model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/nn/module.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "support/tolerance.hpp"

namespace attn::models {
namespace {

using Row = std::vector<double>;
using Rows = std::vector<Row>;

constexpr double kEps = 1e-5;

SpeechModelOptions small() {
  SpeechModelOptions options;
  options.dim = 12;
  options.encoder_layers = 2;
  options.decoder_layers = 2;
  options.heads = 2;
  options.encoder_features = 10;
  options.decoder_features = 8;
  options.vocabulary = 15;
  options.rotary_dim = 4;
  options.stem = {{{9, 4}, {3, 2}, {3, 2}}};
  return options;
}

SpeechModel model_of(DType dtype) {
  SpeechModel model(small());
  Random random(7);
  const NoGrad off_the_tape;
  for (const nn::NamedTensor& one : model.named_parameters())
    nn::find_tensor(model.named_parameters(), one.name)
        .copy_from(normal(one.tensor.shape(), 0.0, 0.5, random));
  model.to(dtype);
  model.eval();
  return model;
}

Tensor sound(std::int64_t samples, DType dtype) {
  Random random(3);
  return normal({1, samples}, 0.0, 0.5, random).to(dtype);
}

/// The numbers of a model by name, for plain loops.
class Numbers {
 public:
  explicit Numbers(const SpeechModel& model) : parameters_(model.named_parameters()) {}

  Row operator()(const std::string& name) const {
    return nn::find_tensor(parameters_, name).to_vector<double>();
  }

 private:
  std::vector<nn::NamedTensor> parameters_;
};

Row times(const Row& x, const Row& weight, const Row& bias, std::size_t first,
          std::size_t count) {
  Row y;
  for (std::size_t o = first; o < first + count; ++o) {
    double sum = bias.empty() ? 0.0 : bias[o];
    for (std::size_t i = 0; i < x.size(); ++i) sum += weight[o * x.size() + i] * x[i];
    y.push_back(sum);
  }
  return y;
}

Row norm(const Row& x, const Row& weight, const Row& bias) {
  double mean = 0.0;
  double square = 0.0;
  for (const double value : x) mean += value / static_cast<double>(x.size());
  for (const double value : x)
    square += (value - mean) * (value - mean) / static_cast<double>(x.size());
  Row y;
  for (std::size_t i = 0; i < x.size(); ++i)
    y.push_back((x[i] - mean) / std::sqrt(square + kEps) * weight[i] + bias[i]);
  return y;
}

double gelu(double x) {
  return 0.5 * x * (1.0 + std::erf(x / std::sqrt(2.0)));
}

/// Neighbouring channels of the first `rotary` of each head turn.
void turn(Row& x, std::size_t position, std::size_t heads, std::size_t rotary) {
  const std::size_t channels = x.size() / heads;
  for (std::size_t head = 0; head < heads; ++head)
    for (std::size_t i = 0; i < rotary / 2; ++i) {
      const double angle =
          static_cast<double>(position) *
          std::pow(10000.0, -2.0 * static_cast<double>(i) / static_cast<double>(rotary));
      double& u = x[head * channels + 2 * i];
      double& w = x[head * channels + 2 * i + 1];
      const double turned = u * std::cos(angle) - w * std::sin(angle);
      w = u * std::sin(angle) + w * std::cos(angle);
      u = turned;
    }
}

/// Softmax attention of each query over keys 0 to `most(query)` - 1.
template <class Most>
Rows attention(const Rows& q, const Rows& k, const Rows& v, std::size_t heads, Most most) {
  const std::size_t channels = q[0].size() / heads;
  Rows out(q.size(), Row(q[0].size(), 0.0));
  for (std::size_t i = 0; i < q.size(); ++i)
    for (std::size_t head = 0; head < heads; ++head) {
      Row weights;
      double sum = 0.0;
      for (std::size_t j = 0; j < most(i); ++j) {
        double score = 0.0;
        for (std::size_t c = head * channels; c < (head + 1) * channels; ++c)
          score += q[i][c] * k[j][c];
        weights.push_back(std::exp(score / std::sqrt(static_cast<double>(channels))));
        sum += weights.back();
      }
      for (std::size_t j = 0; j < weights.size(); ++j)
        for (std::size_t c = head * channels; c < (head + 1) * channels; ++c)
          out[i][c] += weights[j] / sum * v[j][c];
    }
  return out;
}

void add_to(Rows& x, const Rows& y) {
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t c = 0; c < x[i].size(); ++c) x[i][c] += y[i][c];
}

Rows convolved(const Rows& x, const Row& weight, const Row& bias, std::size_t out,
               std::size_t kernel, std::size_t stride) {
  const std::size_t length = (x[0].size() - kernel) / stride + 1;
  Rows y(out, Row(length, 0.0));
  for (std::size_t o = 0; o < out; ++o)
    for (std::size_t t = 0; t < length; ++t) {
      y[o][t] = bias.empty() ? 0.0 : bias[o];
      for (std::size_t c = 0; c < x.size(); ++c)
        for (std::size_t k = 0; k < kernel; ++k)
          y[o][t] += weight[(o * x.size() + c) * kernel + k] * x[c][t * stride + k];
    }
  return y;
}

Rows self_part(const Rows& x, const Numbers& numbers, const std::string& name, bool causal) {
  const SpeechModelOptions options = small();
  const auto dim = static_cast<std::size_t>(options.dim);
  const auto heads = static_cast<std::size_t>(options.heads);
  Rows q;
  Rows k;
  Rows v;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Row in =
        norm(x[i], numbers(name + "self_norm.weight"), numbers(name + "self_norm.bias"));
    const Row weight = numbers(name + "self.in.weight");
    const Row bias = numbers(name + "self.in.bias");
    q.push_back(times(in, weight, bias, 0, dim));
    k.push_back(times(in, weight, bias, dim, dim));
    v.push_back(times(in, weight, bias, 2 * dim, dim));
    turn(q.back(), i, heads, static_cast<std::size_t>(options.rotary_dim));
    turn(k.back(), i, heads, static_cast<std::size_t>(options.rotary_dim));
  }
  Rows out;
  for (const Row& row :
       attention(q, k, v, heads, [&](std::size_t i) { return causal ? i + 1 : x.size(); }))
    out.push_back(
        times(row, numbers(name + "self.out.weight"), numbers(name + "self.out.bias"), 0, dim));
  return out;
}

Rows plain_encoder(const SpeechModel& model, const Row& samples) {
  const SpeechModelOptions options = small();
  const Numbers numbers(model);
  const auto dim = static_cast<std::size_t>(options.dim);
  Rows x = convolved({samples}, numbers("stem.first.weight"), {}, dim, 9, 4);
  double mean = 0.0;
  double square = 0.0;
  const auto count = static_cast<double>(dim * x[0].size());
  for (Row& row : x)
    for (double& value : row) mean += (value = std::tanh(value)) / count;
  for (const Row& row : x)
    for (const double value : row) square += (value - mean) * (value - mean) / count;
  const Row scale = numbers("stem.norm.weight");
  const Row shift = numbers("stem.norm.bias");
  for (std::size_t c = 0; c < dim; ++c)
    for (double& value : x[c])
      value = (value - mean) / std::sqrt(square + kEps) * scale[c] + shift[c];
  x = convolved(x, numbers("stem.second.weight"), numbers("stem.second.bias"), 2 * dim, 3, 2);
  for (Row& row : x)
    for (double& value : row) value = gelu(value);
  x = convolved(x, numbers("stem.third.weight"), numbers("stem.third.bias"), dim, 3, 2);
  Rows frames(x[0].size(), Row(dim));
  for (std::size_t t = 0; t < frames.size(); ++t)
    for (std::size_t c = 0; c < dim; ++c) frames[t][c] = gelu(x[c][t]);
  for (int layer = 0; layer < 2; ++layer) {
    const std::string name = "encoder." + std::to_string(layer) + ".";
    add_to(frames, self_part(frames, numbers, name, false));
    Rows feed;
    for (const Row& row : frames) {
      const Row in =
          norm(row, numbers(name + "feed_norm.weight"), numbers(name + "feed_norm.bias"));
      Row inside =
          times(in, numbers(name + "feed.in.weight"), numbers(name + "feed.in.bias"), 0, 10);
      for (double& value : inside) value = gelu(value);
      feed.push_back(times(inside, numbers(name + "feed.out.weight"),
                           numbers(name + "feed.out.bias"), 0, dim));
    }
    add_to(frames, feed);
  }
  for (Row& row : frames)
    row = norm(row, numbers("encoder.norm.weight"), numbers("encoder.norm.bias"));
  return frames;
}

Rows plain_decoder(const SpeechModel& model, const Rows& frames,
                   const std::vector<std::int64_t>& tokens) {
  const Numbers numbers(model);
  const std::size_t dim = frames[0].size();
  const Row words = numbers("words.weight");
  Rows x;
  for (const std::int64_t token : tokens) {
    const auto begin = words.begin() + token * static_cast<std::ptrdiff_t>(dim);
    x.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(dim));
  }
  for (int layer = 0; layer < 2; ++layer) {
    const std::string name = "decoder." + std::to_string(layer) + ".";
    add_to(x, self_part(x, numbers, name, true));
    Rows q;
    Rows k;
    Rows v;
    for (const Row& row : x)
      q.push_back(times(
          norm(row, numbers(name + "source_norm.weight"), numbers(name + "source_norm.bias")),
          numbers(name + "source.query.weight"), numbers(name + "source.query.bias"), 0, dim));
    for (const Row& row : frames) {
      const Row weight = numbers(name + "source.key_value.weight");
      const Row bias = numbers(name + "source.key_value.bias");
      k.push_back(times(row, weight, bias, 0, dim));
      v.push_back(times(row, weight, bias, dim, dim));
    }
    Rows over;
    for (const Row& row : attention(q, k, v, 2, [&](std::size_t) { return frames.size(); }))
      over.push_back(times(row, numbers(name + "source.out.weight"),
                           numbers(name + "source.out.bias"), 0, dim));
    add_to(x, over);
    Rows feed;
    for (const Row& row : x) {
      const Row in =
          norm(row, numbers(name + "feed_norm.weight"), numbers(name + "feed_norm.bias"));
      Row inside =
          times(in, numbers(name + "feed.in.weight"), numbers(name + "feed.in.bias"), 0, 8);
      const Row gate =
          times(in, numbers(name + "feed.gate.weight"), numbers(name + "feed.gate.bias"), 0, 8);
      for (std::size_t i = 0; i < inside.size(); ++i)
        inside[i] *= gate[i] / (1.0 + std::exp(-gate[i]));
      feed.push_back(times(inside, numbers(name + "feed.out.weight"),
                           numbers(name + "feed.out.bias"), 0, dim));
    }
    add_to(x, feed);
  }
  Rows logits;
  for (const Row& row : x)
    logits.push_back(
        times(norm(row, numbers("decoder.norm.weight"), numbers("decoder.norm.bias")), words,
              {}, 0, words.size() / dim));
  return logits;
}

void expect_close(const Tensor& seen, const Rows& wanted, double within) {
  ASSERT_EQ(seen.size(1), static_cast<std::int64_t>(wanted.size()));
  const auto values = seen.to(DType::f64).to_vector<double>();
  std::size_t at = 0;
  for (const Row& row : wanted)
    for (const double want : row)
      EXPECT_TRUE(test::close(values[at++], want, within)) << "number " << at;
}

TEST(SpeechModel, IsItsFormulas) {
  const NoGrad off_the_tape;
  const SpeechModel model = model_of(DType::f64);
  const Tensor samples = sound(75, DType::f64);
  const Tensor frames = model.encode(samples);
  const Rows wanted = plain_encoder(model, samples.to_vector<double>());
  // The scale of scores is f32 in every type.
  expect_close(frames, wanted, test::kFloat);
  const std::vector<std::int64_t> tokens{1, 4, 9, 2, 14};
  expect_close(model.logits(frames, Tensor::from(tokens, {1, 5})),
               plain_decoder(model, wanted, tokens), test::kFloat);
}

TEST(SpeechModel, DecodesOneByOneAsInOneGo) {
  const NoGrad off_the_tape;
  for (const DType dtype : {DType::f32, DType::f64}) {
    const SpeechModel model = model_of(dtype);
    const Tensor frames = model.encode(sound(120, dtype));
    std::vector<std::int64_t> tokens;
    for (std::int64_t i = 0; i < 70; ++i) tokens.push_back(1 + i * 5 % 14);
    const Tensor all = model.logits(frames, Tensor::from(tokens, {1, 70})).select(0, 0);
    SpeechModel::Decoding decoding(model, frames);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const Tensor now = decoding.step(tokens[i]);
      for (std::int64_t t = 0; t < now.numel(); ++t)
        EXPECT_TRUE(
            test::close(now.slice(0, t, t + 1).item(),
                        all.select(0, static_cast<std::int64_t>(i)).slice(0, t, t + 1).item(),
                        dtype == DType::f64 ? test::kDoubleScore : test::kFloatModel))
            << "step " << i;
    }
  }
}

TEST(SpeechModel, TellsWhatEachTokenLookedAt) {
  const NoGrad off_the_tape;
  const SpeechModel model = model_of(DType::f32);
  const Tensor frames = model.encode(sound(120, DType::f32));
  const auto layers =
      model.weights(frames, Tensor::from(std::vector<std::int64_t>{1, 2, 3}, {1, 3}));
  ASSERT_EQ(layers.size(), 2u);
  for (const Tensor& layer : layers) {
    EXPECT_EQ(layer.shape(), (Shape{1, 2, 3, frames.size(1)}));
    const auto weights = layer.to_vector<float>();
    const auto count = static_cast<std::size_t>(frames.size(1));
    for (std::size_t row = 0; row < 6; ++row) {
      double sum = 0.0;
      for (std::size_t i = 0; i < count; ++i)
        sum += static_cast<double>(weights[row * count + i]);
      EXPECT_NEAR(sum, 1.0, test::kFloatSum);
    }
  }
}

TEST(SpeechModel, CountsFramesAsItMakesThem) {
  const SpeechModel model = model_of(DType::f32);
  EXPECT_EQ(model.samples_a_frame(), 16);
  EXPECT_EQ(model.least_samples(), 33);
  EXPECT_EQ(model.frames(32), 0);
  const NoGrad off_the_tape;
  for (const std::int64_t samples : {33, 48, 49, 100})
    EXPECT_EQ(model.encode(sound(samples, DType::f32)).size(1), model.frames(samples));
  // As the models that ship: a frame is 24 ms.
  SpeechModelOptions shipped;
  EXPECT_EQ(SpeechModel(small()).options().stem[0].stride, 4);
  EXPECT_EQ(shipped.stem[0].stride * shipped.stem[1].stride * shipped.stem[2].stride, 384);
}

TEST(SpeechModel, RefusesWhatDoesNotFit) {
  const SpeechModel model = model_of(DType::f32);
  EXPECT_THROW(model.encode(sound(32, DType::f32)), InvalidArgument);
  EXPECT_THROW(model.encode(Tensor()), InvalidArgument);
  SpeechModelOptions options = small();
  options.heads = 5;
  EXPECT_THROW(SpeechModel{options}, InvalidArgument);
  options = small();
  options.rotary_dim = 8;
  EXPECT_THROW(SpeechModel{options}, InvalidArgument);
  options.rotary_dim = 3;
  EXPECT_THROW(SpeechModel{options}, InvalidArgument);
}

}  // namespace
}  // namespace attn::models
