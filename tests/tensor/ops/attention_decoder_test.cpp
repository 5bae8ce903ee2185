#include "attn/tensor/ops/attention_decoder.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/core/thread_pool.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/ops/rnn.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/support/gradcheck.hpp"

namespace attn {
namespace {

using test::expect_close;
using test::expect_gradients;
using test::expect_same_in_float;
using test::random_tensor;

enum class Kind { bahdanau, luong };
enum class Score { dot, additive };

struct Sizes {
  Kind kind = Kind::bahdanau;
  std::int64_t batch = 3;
  std::int64_t steps = 3;
  std::int64_t source = 4;
  std::int64_t embedding = 2;
  std::int64_t hidden = 3;
  std::int64_t values = 4;
  std::int64_t key_dim = 5;
  std::int64_t attentional = 2;
  int layers = 1;
  Score score = Score::additive;
  InputOrder order = InputOrder::context_first;
  InputFeeding feeding = InputFeeding::on;
  std::vector<std::int64_t> lengths = {};

  bool luong() const { return kind == Kind::luong; }
  std::int64_t keys() const { return score == Score::dot ? hidden : key_dim; }
  std::int64_t extra() const {
    return !luong() ? values : feeding == InputFeeding::on ? attentional : 0;
  }
};

/// Places in the list of inputs; then four for each layer.
struct Input {
  enum Place : std::size_t { y, keys, values, state, cell, query, score, join, rnn };
};

std::vector<Tensor> inputs_of(const Sizes& s) {
  std::vector<Tensor> in(Input::rnn);
  in[Input::y] = random_tensor("y", {s.batch, s.steps, s.embedding});
  in[Input::keys] = random_tensor("keys", {s.batch, s.source, s.keys()});
  in[Input::values] = random_tensor("values", {s.batch, s.source, s.values});
  in[Input::state] = random_tensor("state", {s.layers, s.batch, s.hidden});
  if (s.luong()) in[Input::cell] = random_tensor("cell", {s.layers, s.batch, s.hidden});
  if (s.score == Score::additive) {
    in[Input::query] = random_tensor("query", {s.key_dim, s.hidden});
    in[Input::score] = random_tensor("score", {s.key_dim});
  }
  if (s.luong()) in[Input::join] = random_tensor("join", {s.attentional, s.values + s.hidden});
  for (int layer = 0; layer < s.layers; ++layer) {
    const std::int64_t rows = (s.luong() ? 4 : 3) * s.hidden;
    const std::int64_t width = layer == 0 ? s.embedding + s.extra() : s.hidden;
    const std::string name = "layer " + std::to_string(layer);
    in.push_back(random_tensor(name + " ih", {rows, width}));
    in.push_back(random_tensor(name + " hh", {rows, s.hidden}));
    in.push_back(random_tensor(name + " b ih", {rows}));
    in.push_back(random_tensor(name + " b hh", {rows}));
  }
  return in;
}

std::vector<RecurrentWeights> rnn_of(const std::vector<Tensor>& in) {
  std::vector<RecurrentWeights> weights;
  for (std::size_t i = Input::rnn; i < in.size(); i += 4)
    weights.push_back({in[i], in[i + 1], in[i + 2], in[i + 3]});
  return weights;
}

DecoderSource source_of(const Sizes& s, const std::vector<Tensor>& in) {
  return {.keys = in[Input::keys],
          .values = in[Input::values],
          .lengths = s.lengths.empty() ? Tensor() : Tensor::from(s.lengths, {s.batch})};
}

std::vector<Tensor> run(const Sizes& s, const std::vector<Tensor>& in) {
  if (s.luong()) {
    const LuongResult r =
        luong_decode(in[Input::y], source_of(s, in), in[Input::state], in[Input::cell],
                     {.query = in[Input::query],
                      .score = in[Input::score],
                      .rnn = rnn_of(in),
                      .join = in[Input::join],
                      .feeding = s.feeding});
    return {r.attentional, r.weights, r.state, r.cell};
  }
  const BahdanauResult r = bahdanau_decode(in[Input::y], source_of(s, in), in[Input::state],
                                           {.query = in[Input::query],
                                            .score = in[Input::score],
                                            .rnn = rnn_of(in),
                                            .order = s.order});
  return {r.states, r.weights, r.contexts, r.state};
}

struct Step {
  Tensor weights;  ///< [batch, source]
  Tensor context;  ///< [batch, values]
};

/// One step of attention from the formulas, one op at a time.
Step naive_attend(const Sizes& s, const std::vector<Tensor>& in, const Tensor& state) {
  const Tensor query =
      (in[Input::query].defined() ? linear(state, in[Input::query]) : state).unsqueeze(1);
  const Tensor scores = in[Input::score].defined()
                            ? sum(tanh(query + in[Input::keys]) * in[Input::score], 2)
                            : sum(query * in[Input::keys], 2);
  const Tensor keep =
      s.lengths.empty() ? Tensor() : length_mask(source_of(s, in).lengths, s.source);
  const Tensor weights = softmax(scores, 1, keep);
  return {weights, sum(weights.unsqueeze(2) * in[Input::values], 1)};
}

std::vector<Tensor> layers_of(const Tensor& states) {
  std::vector<Tensor> layers(static_cast<std::size_t>(states.size(0)));
  for (std::size_t i = 0; i < layers.size(); ++i)
    layers[i] = states.select(0, static_cast<std::int64_t>(i));
  return layers;
}

std::vector<Tensor> naive_bahdanau(const Sizes& s, const std::vector<Tensor>& in) {
  const auto rnn = rnn_of(in);
  std::vector<Tensor> state = layers_of(in[Input::state]);
  std::vector<Tensor> states;
  std::vector<Tensor> weights;
  std::vector<Tensor> contexts;
  for (std::int64_t t = 0; t < s.steps; ++t) {
    const Step seen = naive_attend(s, in, state.back());
    const Tensor y = in[Input::y].select(1, t);
    Tensor flow = s.order == InputOrder::context_first ? concat({seen.context, y}, 1)
                                                       : concat({y, seen.context}, 1);
    for (std::size_t layer = 0; layer < rnn.size(); ++layer)
      flow = state[layer] = gru_cell(flow, state[layer], rnn[layer]);
    states.push_back(flow);
    weights.push_back(seen.weights);
    contexts.push_back(seen.context);
  }
  return {stack(states, 1), stack(weights, 1), stack(contexts, 1), stack(state, 0)};
}

std::vector<Tensor> naive_luong(const Sizes& s, const std::vector<Tensor>& in) {
  const auto rnn = rnn_of(in);
  std::vector<Tensor> state = layers_of(in[Input::state]);
  std::vector<Tensor> cell = layers_of(in[Input::cell]);
  std::vector<Tensor> outs;
  std::vector<Tensor> weights;
  Tensor fed = Tensor::zeros({s.batch, s.attentional}, in[Input::y].dtype());
  for (std::int64_t t = 0; t < s.steps; ++t) {
    Tensor flow = in[Input::y].select(1, t);
    if (s.feeding == InputFeeding::on) flow = concat({flow, fed}, 1);
    for (std::size_t layer = 0; layer < rnn.size(); ++layer) {
      const LstmStep step = lstm_cell(flow, state[layer], cell[layer], rnn[layer]);
      flow = state[layer] = step.state;
      cell[layer] = step.cell;
    }
    const Step seen = naive_attend(s, in, flow);
    fed = tanh(linear(concat({seen.context, flow}, 1), in[Input::join]));
    outs.push_back(fed);
    weights.push_back(seen.weights);
  }
  return {stack(outs, 1), stack(weights, 1), stack(state, 0), stack(cell, 0)};
}

std::vector<Tensor> naive(const Sizes& s, const std::vector<Tensor>& in) {
  return s.luong() ? naive_luong(s, in) : naive_bahdanau(s, in);
}

std::vector<Sizes> interesting() {
  return {
      {},
      {.steps = 1},
      {.layers = 2, .lengths = {4, 2, 1}},
      {.order = InputOrder::embedding_first, .lengths = {0, 4, 3}},
      {.kind = Kind::luong},
      {.kind = Kind::luong, .score = Score::dot, .lengths = {4, 0, 1}},
      {.kind = Kind::luong, .layers = 2, .lengths = {1, 4, 2}},
      {.kind = Kind::luong,
       .steps = 1,
       .layers = 2,
       .score = Score::dot,
       .feeding = InputFeeding::off},
      {.kind = Kind::luong, .layers = 2, .feeding = InputFeeding::off, .lengths = {3, 0, 4}}};
}

TEST(AttentionDecoder, AgreesWithTheFormulasOneOpAtATime) {
  for (const Sizes& s : interesting()) {
    const auto inputs = inputs_of(s);
    const auto got =
        test::gradcheck::run([&](const auto& in) { return run(s, in); }, inputs, DType::f64);
    const auto want =
        test::gradcheck::run([&](const auto& in) { return naive(s, in); }, inputs, DType::f64);
    for (std::size_t i = 0; i < want.results.size(); ++i)
      expect_close(got.results[i], want.results[i], 1e-12, "result " + std::to_string(i));
    for (std::size_t i = 0; i < want.grads.size(); ++i)
      if (want.grads[i].defined())
        expect_close(got.grads[i], want.grads[i], 1e-12, "gradient " + std::to_string(i));
  }
}

TEST(AttentionDecoder, GradientsAgreeWithFiniteDifferences) {
  for (const Kind kind : {Kind::bahdanau, Kind::luong}) {
    const Sizes s{.kind = kind,
                  .batch = 2,
                  .steps = 3,
                  .source = 3,
                  .hidden = 2,
                  .values = 2,
                  .key_dim = 2,
                  .layers = 2,
                  .lengths = {3, 2}};
    expect_gradients([&](const auto& in) { return run(s, in); }, inputs_of(s));
  }
}

/// The gradient of one result alone: the others arrive undefined.
TEST(AttentionDecoder, AnySubsetOfTheResultsMayBeUsed) {
  for (const Kind kind : {Kind::bahdanau, Kind::luong}) {
    const Sizes s{.kind = kind, .layers = 2, .lengths = {4, 2, 0}};
    for (std::size_t result = 0; result < 4; ++result) {
      const auto inputs = inputs_of(s);
      const auto one = [&](const auto& f) {
        return [&s, f, result](const std::vector<Tensor>& in) {
          return std::vector<Tensor>{f(s, in)[result]};
        };
      };
      const auto got = test::gradcheck::run(one(run), inputs, DType::f64);
      const auto want = test::gradcheck::run(one(naive), inputs, DType::f64);
      for (std::size_t i = 0; i < want.grads.size(); ++i) {
        if (!want.grads[i].defined()) continue;
        expect_close(got.grads[i], want.grads[i], 1e-12, "gradient " + std::to_string(i));
      }
    }
  }
}

TEST(AttentionDecoder, FloatAgreesWithDoubleAtOddSizes) {
  for (const Kind kind : {Kind::bahdanau, Kind::luong})
    for (const std::int64_t size : {5, 17, 40}) {
      Sizes s{.kind = kind,
              .batch = 19,
              .steps = 4,
              .source = 11,
              .embedding = 6,
              .hidden = size,
              .values = size + 3,
              .key_dim = size + 1,
              .attentional = size,
              .layers = 2,
              .lengths = {}};
      for (std::int64_t b = 0; b < s.batch; ++b) s.lengths.push_back((b * 5) % 12);
      std::vector<Tensor> inputs = inputs_of(s);
      for (std::size_t i = Input::query; i < inputs.size(); ++i)
        if (inputs[i].defined()) inputs[i] = inputs[i] * 0.3;
      expect_same_in_float([&](const auto& in) { return run(s, in); }, inputs);
    }
}

TEST(AttentionDecoder, ARowWithoutSourceGoesOn) {
  for (const Kind kind : {Kind::bahdanau, Kind::luong}) {
    const Sizes s{.kind = kind, .lengths = {0, 4, 0}};
    const auto results = run(s, inputs_of(s));
    expect_close(results[1].select(0, 0), Tensor::zeros({s.steps, s.source}, DType::f64), 0.0);
    for (const Tensor& result : results)
      for (const double x : result.to_vector<double>()) EXPECT_TRUE(std::isfinite(x));
    if (kind == Kind::bahdanau)
      expect_close(results[2].select(0, 2), Tensor::zeros({s.steps, s.values}, DType::f64),
                   0.0);
  }
}

/// All numbers of a run and its gradients, with keys and values replaced past the lengths.
std::vector<std::vector<float>> numbers_with_padding(const Sizes& s, double padding) {
  std::vector<Tensor> inputs = inputs_of(s);
  for (const std::size_t which : {Input::keys, Input::values}) {
    double* x = inputs[which].mutable_data<double>();
    const std::int64_t width = inputs[which].size(2);
    for (std::int64_t b = 0; b < s.batch; ++b)
      for (std::int64_t i = s.lengths[static_cast<std::size_t>(b)] * width;
           i < s.source * width; ++i)
        x[b * s.source * width + i] = padding;
  }
  const auto answer =
      test::gradcheck::run([&](const auto& in) { return run(s, in); }, inputs, DType::f32);
  std::vector<std::vector<float>> all;
  all.reserve(answer.results.size() + answer.grads.size());
  for (const Tensor& x : answer.results) all.push_back(x.to_vector<float>());
  for (const Tensor& x : answer.grads)
    if (x.defined()) all.push_back(x.to_vector<float>());
  return all;
}

TEST(AttentionDecoder, WhatLiesPastALengthReachesNothing) {
  for (const Kind kind : {Kind::bahdanau, Kind::luong})
    for (const Score score : {Score::additive, Score::dot}) {
      if (kind == Kind::bahdanau && score == Score::dot) continue;
      const Sizes s{.kind = kind, .layers = 2, .score = score, .lengths = {3, 0, 2}};
      const auto want = numbers_with_padding(s, 0.0);
      EXPECT_EQ(numbers_with_padding(s, std::numeric_limits<double>::quiet_NaN()), want);
      EXPECT_EQ(numbers_with_padding(s, std::numeric_limits<double>::infinity()), want);
    }
}

TEST(AttentionDecoder, NothingInNothingOut) {
  for (const Kind kind : {Kind::bahdanau, Kind::luong})
    for (int zero = 0; zero < 3; ++zero) {
      const Sizes s{.kind = kind,
                    .batch = zero == 0 ? 0 : 3,
                    .steps = zero == 1 ? 0 : 3,
                    .source = zero == 2 ? 0 : 4,
                    .layers = 2};
      const auto inputs = inputs_of(s);
      const auto answer =
          test::gradcheck::run([&](const auto& in) { return run(s, in); }, inputs, DType::f64);
      EXPECT_EQ(answer.results[1].shape(), (Shape{s.batch, s.steps, s.source}));
      if (zero != 2)
        expect_close(answer.results[kind == Kind::luong ? 2 : 3], inputs[Input::state], 0.0);
      for (const Tensor& grad : answer.grads) {
        if (!grad.defined()) continue;
        for (const double x : grad.to_vector<double>()) EXPECT_TRUE(std::isfinite(x));
      }
    }
}

TEST(AttentionDecoder, AnyStridesWillDo) {
  for (const Kind kind : {Kind::bahdanau, Kind::luong}) {
    const Sizes s{.kind = kind, .lengths = {4, 2, 3}};
    const auto inputs = inputs_of(s);
    auto turned = inputs;
    for (const std::size_t i :
         {Input::y, Input::keys, Input::values, Input::state, Input::query, Input::rnn})
      turned[i] = inputs[i].transpose(0, -1).contiguous().transpose(0, -1);
    const auto want = run(s, inputs);
    const auto got = run(s, turned);
    for (std::size_t i = 0; i < want.size(); ++i) expect_close(got[i], want[i], 0.0);
  }
}

TEST(AttentionDecoder, HalfPrecisionIsComputedInFloat) {
  const Sizes s;
  std::vector<Tensor> narrow;
  std::vector<Tensor> wide;
  for (const Tensor& x : inputs_of(s)) {
    narrow.push_back(x.defined() ? x.to(DType::bf16) : Tensor());
    wide.push_back(x.defined() ? narrow.back().to(DType::f32) : Tensor());
  }
  const auto got = run(s, narrow);
  EXPECT_EQ(got[0].dtype(), DType::bf16);
  expect_close(got[0].to(DType::f32), run(s, wide)[0].to(DType::bf16).to(DType::f32), 0.0);
}

TEST(AttentionDecoder, TheNumberOfThreadsChangesNoBit) {
  for (const Kind kind : {Kind::bahdanau, Kind::luong}) {
    const Sizes s{.kind = kind,
                  .batch = 50,
                  .steps = 5,
                  .source = 7,
                  .hidden = 24,
                  .values = 20,
                  .key_dim = 17,
                  .attentional = 9,
                  .layers = 2,
                  .lengths = std::vector<std::int64_t>(50, 6)};
    const auto many = numbers_with_padding(s, 1.0);
    std::vector<std::vector<float>> one;
    // Inside a task of a pool everything runs on its thread.
    ThreadPool::shared().parallel_for(2, 2, [&](int task) {
      if (task == 0) one = numbers_with_padding(s, 1.0);
    });
    EXPECT_EQ(many, one);
  }
}

/// The steps in two calls, the second going on where the first ended.
std::vector<Tensor> run_in_pieces(const Sizes& s, const std::vector<Tensor>& in,
                                  std::int64_t cut) {
  auto first = in;
  auto second = in;
  first[Input::y] = in[Input::y].slice(1, 0, cut);
  second[Input::y] = in[Input::y].slice(1, cut, s.steps);
  const auto begin = run(s, first);
  const auto joined = [&](const std::vector<Tensor>& end, std::size_t i) {
    return concat({begin[i], end[i]}, 1);
  };
  if (!s.luong()) {
    second[Input::state] = begin[3];
    const auto end = run(s, second);
    return {joined(end, 0), joined(end, 1), joined(end, 2), end[3]};
  }
  const LuongResult r = luong_decode(second[Input::y], source_of(s, in), begin[2], begin[3],
                                     {.query = in[Input::query],
                                      .score = in[Input::score],
                                      .rnn = rnn_of(in),
                                      .join = in[Input::join]},
                                     begin[0].select(1, cut - 1));
  const std::vector<Tensor> end{r.attentional, r.weights, r.state, r.cell};
  return {joined(end, 0), joined(end, 1), end[2], end[3]};
}

TEST(AttentionDecoder, DecodingInPiecesChangesNothing) {
  for (const Kind kind : {Kind::bahdanau, Kind::luong}) {
    const Sizes s{.kind = kind, .steps = 5, .layers = 2, .lengths = {4, 2, 0}};
    const auto inputs = inputs_of(s);
    const auto want =
        test::gradcheck::run([&](const auto& in) { return run(s, in); }, inputs, DType::f64);
    for (const std::int64_t cut : {1, 3}) {
      const auto got = test::gradcheck::run(
          [&](const auto& in) { return run_in_pieces(s, in, cut); }, inputs, DType::f64);
      for (std::size_t i = 0; i < want.results.size(); ++i)
        expect_close(got.results[i], want.results[i], 1e-12, "result " + std::to_string(i));
      for (std::size_t i = 0; i < want.grads.size(); ++i)
        if (want.grads[i].defined())
          expect_close(got.grads[i], want.grads[i], 1e-12, "gradient " + std::to_string(i));
    }
  }
}

TEST(AttentionDecoder, WeightsThatWereWrittenToAreNoticed) {
  const Sizes s;
  auto inputs = inputs_of(s);
  inputs[Input::y].set_requires_grad();
  const auto results = run(s, inputs);
  results[1].mutable_data<double>()[0] = 2.0;
  EXPECT_THROW(sum(results[0]).backward(), Error);
}

TEST(AttentionDecoder, MisuseIsExplained) {
  const Sizes s;
  const auto good = inputs_of(s);
  for (const std::size_t place : {Input::y, Input::keys, Input::values, Input::state,
                                  Input::query, Input::score, Input::rnn}) {
    auto bad = good;
    bad[place] = good[place].slice(-1, 0, 1);
    EXPECT_THROW(run(s, bad), InvalidArgument) << "place " << place;
    bad[place] = good[place].to(DType::f32);
    EXPECT_THROW(run(s, bad), InvalidArgument) << "place " << place;
    bad[place] = Tensor();
    EXPECT_THROW(run(s, bad), InvalidArgument) << "place " << place;
  }
  const Sizes t{.kind = Kind::luong, .score = Score::dot};
  for (const std::size_t place : {Input::cell, Input::join, Input::keys}) {
    auto bad = inputs_of(t);
    bad[place] = bad[place].slice(-1, 0, 1);
    EXPECT_THROW(run(t, bad), InvalidArgument) << "place " << place;
  }
  Sizes wrong = s;
  wrong.lengths = {1, 5, 2};
  EXPECT_THROW(run(wrong, good), InvalidArgument);
}

}  // namespace
}  // namespace attn
