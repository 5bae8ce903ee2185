#include "attn/tensor/ops/rnn.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/core/thread_pool.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/support/gradcheck.hpp"

namespace attn {
namespace {

using test::expect_close;
using test::expect_gradients;
using test::expect_same_in_float;
using test::random_tensor;

enum class Kind { gru, lstm };
enum class Way { forward, reverse };

struct Sizes {
  Kind kind = Kind::gru;
  std::int64_t batch = 3;
  std::int64_t steps = 4;
  std::int64_t in = 2;
  std::int64_t hidden = 3;
  int layers = 1;
  Direction direction = Direction::forward;
  std::vector<std::int64_t> lengths = {};

  int directions() const { return direction == Direction::both ? 2 : 1; }
  int sets() const { return layers * directions(); }
  std::int64_t gates() const { return kind == Kind::gru ? 3 : 4; }
  Tensor lengths_tensor() const {
    return lengths.empty() ? Tensor()
                           : Tensor::from(lengths, {static_cast<std::int64_t>(lengths.size())});
  }
};

/// x, the states (LSTM: two), then four tensors for each set of weights.
std::vector<Tensor> inputs_of(const Sizes& s) {
  std::vector<Tensor> inputs{random_tensor("x", {s.batch, s.steps, s.in})};
  for (int i = 0; i < (s.kind == Kind::gru ? 1 : 2); ++i)
    inputs.push_back(
        random_tensor("state " + std::to_string(i), {s.sets(), s.batch, s.hidden}));
  for (int i = 0; i < s.sets(); ++i) {
    const std::int64_t in = i < s.directions() ? s.in : s.hidden * s.directions();
    const std::int64_t rows = s.gates() * s.hidden;
    const std::string name = "weights " + std::to_string(i);
    inputs.push_back(random_tensor(name + " ih", {rows, in}));
    inputs.push_back(random_tensor(name + " hh", {rows, s.hidden}));
    inputs.push_back(random_tensor(name + " b ih", {rows}));
    inputs.push_back(random_tensor(name + " b hh", {rows}));
  }
  return inputs;
}

std::vector<RecurrentWeights> weights_of(const Sizes& s, const std::vector<Tensor>& inputs) {
  std::vector<RecurrentWeights> weights;
  for (std::size_t i = s.kind == Kind::gru ? 2 : 3; i < inputs.size(); i += 4)
    weights.push_back({inputs[i], inputs[i + 1], inputs[i + 2], inputs[i + 3]});
  return weights;
}

std::vector<Tensor> run(const Sizes& s, const std::vector<Tensor>& inputs) {
  const auto weights = weights_of(s, inputs);
  if (s.kind == Kind::gru) {
    const GruResult r = gru(inputs[0], weights, s.direction, inputs[1], s.lengths_tensor());
    return {r.out, r.state};
  }
  const LstmResult r =
      lstm(inputs[0], weights, s.direction, inputs[1], inputs[2], s.lengths_tensor());
  return {r.out, r.state, r.cell};
}

struct State {
  Tensor h;
  Tensor c;
};

/// One step from the formulas.
State naive_step(Kind kind, const Tensor& x, const State& before, const RecurrentWeights& w) {
  const std::int64_t hidden = before.h.size(1);
  const Tensor a = linear(x, w.weight_ih, w.bias_ih);
  const Tensor u = linear(before.h, w.weight_hh, w.bias_hh);
  const auto part = [&](const Tensor& all, int gate) {
    return all.slice(1, gate * hidden, (gate + 1) * hidden);
  };
  if (kind == Kind::gru) {
    const Tensor r = sigmoid(part(a, 0) + part(u, 0));
    const Tensor z = sigmoid(part(a, 1) + part(u, 1));
    const Tensor n = tanh(part(a, 2) + r * part(u, 2));
    return {(1.0 - z) * n + z * before.h, {}};
  }
  const Tensor i = sigmoid(part(a, 0) + part(u, 0));
  const Tensor f = sigmoid(part(a, 1) + part(u, 1));
  const Tensor g = tanh(part(a, 2) + part(u, 2));
  const Tensor o = sigmoid(part(a, 3) + part(u, 3));
  const Tensor c = f * before.c + i * g;
  return {o * tanh(c), c};
}

/// One direction of one layer over the steps of one row; adds its states to `outs`.
State naive_direction(Kind kind, Way way, const std::vector<Tensor>& flow, State state,
                      const RecurrentWeights& weights, std::vector<std::vector<Tensor>>& outs) {
  for (std::size_t step = 0; step < flow.size(); ++step) {
    const std::size_t t = way == Way::forward ? step : flow.size() - 1 - step;
    state = naive_step(kind, flow[t], state, weights);
    outs[t].push_back(state.h);
  }
  return state;
}

/// A row alone, cut to its length: no masks are needed. out [1, steps, features].
std::vector<Tensor> naive_row(const Sizes& s, const std::vector<Tensor>& inputs,
                              std::int64_t row, std::int64_t length) {
  const auto weights = weights_of(s, inputs);
  std::vector<Tensor> flow(static_cast<std::size_t>(length));
  for (std::size_t t = 0; t < flow.size(); ++t)
    flow[t] = inputs[0].slice(0, row, row + 1).select(1, static_cast<std::int64_t>(t));
  std::vector<Tensor> last_h;
  std::vector<Tensor> last_c;
  std::vector<std::vector<Tensor>> outs;
  for (std::size_t set = 0; set < weights.size(); ++set) {
    const bool reverse = s.directions() == 2 && set % 2 == 1;
    if (!reverse) outs.assign(flow.size(), {});
    const auto start = [&](std::size_t which) {
      return inputs[which].select(0, static_cast<std::int64_t>(set)).slice(0, row, row + 1);
    };
    const State state{start(1), s.kind == Kind::lstm ? start(2) : Tensor()};
    const State last = naive_direction(s.kind, reverse ? Way::reverse : Way::forward, flow,
                                       state, weights[set], outs);
    last_h.push_back(last.h);
    last_c.push_back(last.c);
    if (s.directions() == 2 && !reverse) continue;
    for (std::size_t t = 0; t < flow.size(); ++t) flow[t] = concat(outs[t], 1);
  }
  flow.resize(static_cast<std::size_t>(s.steps),
              Tensor::zeros({1, s.hidden * s.directions()}, inputs[0].dtype()));
  std::vector<Tensor> result{stack(flow, 1), stack(last_h, 0)};
  if (s.kind == Kind::lstm) result.push_back(stack(last_c, 0));
  return result;
}

std::vector<Tensor> naive(const Sizes& s, const std::vector<Tensor>& inputs) {
  std::vector<std::vector<Tensor>> parts(s.kind == Kind::gru ? 2 : 3);
  for (std::int64_t row = 0; row < s.batch; ++row) {
    const std::int64_t length =
        s.lengths.empty() ? s.steps : s.lengths[static_cast<std::size_t>(row)];
    const auto one = naive_row(s, inputs, row, length);
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i].push_back(one[i]);
  }
  std::vector<Tensor> result(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) result[i] = concat(parts[i], i == 0 ? 0 : 1);
  return result;
}

/// Results and gradients are those of the formulas, one op at a time.
void expect_same_as_naive(const Sizes& s) {
  const auto inputs = inputs_of(s);
  const auto got =
      test::gradcheck::run([&](const auto& x) { return run(s, x); }, inputs, DType::f64);
  const auto want =
      test::gradcheck::run([&](const auto& x) { return naive(s, x); }, inputs, DType::f64);
  for (std::size_t i = 0; i < want.results.size(); ++i)
    expect_close(got.results[i], want.results[i], 1e-12, "result " + std::to_string(i));
  for (std::size_t i = 0; i < want.grads.size(); ++i)
    expect_close(got.grads[i], want.grads[i], 1e-12, "gradient " + std::to_string(i));
}

std::vector<Sizes> interesting() {
  std::vector<Sizes> all;
  for (const Kind kind : {Kind::gru, Kind::lstm}) {
    all.push_back({.kind = kind});
    all.push_back({.kind = kind, .steps = 1});
    all.push_back({.kind = kind, .layers = 2, .direction = Direction::both});
    all.push_back({.kind = kind, .layers = 2, .lengths = {4, 1, 2}});
    all.push_back(
        {.kind = kind, .layers = 2, .direction = Direction::both, .lengths = {2, 4, 3}});
  }
  return all;
}

TEST(Rnn, AgreesWithTheFormulasOneOpAtATime) {
  for (const Sizes& s : interesting()) expect_same_as_naive(s);
}

TEST(Rnn, GradientsAgreeWithFiniteDifferences) {
  for (const Kind kind : {Kind::gru, Kind::lstm}) {
    const Sizes s{.kind = kind,
                  .batch = 2,
                  .steps = 3,
                  .hidden = 2,
                  .layers = 2,
                  .direction = Direction::both,
                  .lengths = {3, 1}};
    expect_gradients([&](const auto& x) { return run(s, x); }, inputs_of(s));
  }
}

TEST(Rnn, FloatAgreesWithDoubleAtOddSizes) {
  for (const Kind kind : {Kind::gru, Kind::lstm})
    for (const std::int64_t hidden : {1, 7, 19, 48}) {
      const Sizes s{.kind = kind,
                    .batch = 21,
                    .steps = 5,
                    .in = 9,
                    .hidden = hidden,
                    .layers = 2,
                    .lengths = {5, 0, 3, 1, 2, 4, 5, 5, 5, 5, 5, 1, 0, 2, 3, 4, 5, 1, 2, 3, 4}};
      std::vector<Tensor> inputs = inputs_of(s);
      // Weights of the size that initialisers give, or rounding is all one sees.
      for (std::size_t i = kind == Kind::gru ? 2 : 3; i < inputs.size(); ++i)
        inputs[i] = inputs[i] * (1.0 / std::sqrt(static_cast<double>(hidden)));
      expect_same_in_float([&](const auto& x) { return run(s, x); }, inputs);
    }
}

TEST(Rnn, RowsWithoutStepsKeepTheirState) {
  for (const Kind kind : {Kind::gru, Kind::lstm}) {
    const Sizes s{.kind = kind, .lengths = {0, 4, 0}};
    const auto inputs = inputs_of(s);
    const auto results = run(s, inputs);
    expect_close(results[0].select(0, 0), Tensor::zeros({4, 3}, DType::f64), 0.0);
    expect_close(results[1].select(1, 2), inputs[1].select(1, 2), 0.0);
    if (kind == Kind::lstm) expect_close(results[2].select(1, 0), inputs[2].select(1, 0), 0.0);
    expect_gradients([&](const auto& x) { return run(s, x); }, inputs);
  }
}

/// All numbers of a run and its gradients, with x replaced past the lengths.
std::vector<Tensor> numbers_with_padding(const Sizes& s, double padding) {
  std::vector<Tensor> inputs = inputs_of(s);
  double* x = inputs[0].mutable_data<double>();
  for (std::int64_t b = 0; b < s.batch; ++b)
    for (std::int64_t t = s.lengths[static_cast<std::size_t>(b)]; t < s.steps; ++t)
      for (std::int64_t c = 0; c < s.in; ++c) x[(b * s.steps + t) * s.in + c] = padding;
  auto answer =
      test::gradcheck::run([&](const auto& in) { return run(s, in); }, inputs, DType::f32);
  std::vector<Tensor> all = std::move(answer.results);
  for (const Tensor& grad : answer.grads) all.push_back(grad);
  return all;
}

TEST(Rnn, WhatLiesPastALengthReachesNothing) {
  for (const Kind kind : {Kind::gru, Kind::lstm}) {
    const Sizes s{
        .kind = kind, .layers = 2, .direction = Direction::both, .lengths = {3, 0, 2}};
    const auto want = numbers_with_padding(s, 0.0);
    for (const double padding : {1e30, std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::quiet_NaN()}) {
      const auto got = numbers_with_padding(s, padding);
      for (std::size_t i = 0; i < want.size(); ++i)
        EXPECT_EQ(got[i].to_vector<float>(), want[i].to_vector<float>()) << i;
    }
  }
}

TEST(Rnn, LengthsThatAreFullChangeNothing) {
  for (const Kind kind : {Kind::gru, Kind::lstm}) {
    Sizes s{.kind = kind, .direction = Direction::both};
    const auto inputs = inputs_of(s);
    const auto want = run(s, inputs);
    s.lengths = {4, 4, 4};
    const auto got = run(s, inputs);
    for (std::size_t i = 0; i < want.size(); ++i) expect_close(got[i], want[i], 0.0);
  }
}

TEST(Rnn, NothingInNothingOut) {
  for (const Kind kind : {Kind::gru, Kind::lstm}) {
    for (const auto& [batch, steps] : {std::pair<int, int>{0, 4}, {3, 0}, {0, 0}}) {
      const Sizes s{.kind = kind, .batch = batch, .steps = steps, .layers = 2};
      const auto inputs = inputs_of(s);
      const auto answer =
          test::gradcheck::run([&](const auto& x) { return run(s, x); }, inputs, DType::f64);
      EXPECT_EQ(answer.results[0].shape(), (Shape{batch, steps, s.hidden}));
      expect_close(answer.results[1], inputs[1], 0.0, "the state stays");
      for (std::size_t i = kind == Kind::gru ? 2 : 3; i < inputs.size(); ++i)
        expect_close(answer.grads[i], Tensor::zeros(inputs[i].shape(), DType::f64), 0.0);
    }
  }
}

TEST(Rnn, StatesAndBiasesMayBeLeftOut) {
  const Sizes s;
  auto inputs = inputs_of(s);
  for (const std::size_t zero : {1, 4, 5}) inputs[zero] = inputs[zero] * 0.0;
  const auto want = run(s, inputs);
  const GruResult got = gru(inputs[0], {{inputs[2], inputs[3], {}, {}}});
  expect_close(got.out, want[0], 0.0);
  expect_close(got.state, want[1], 0.0);
  const Sizes t{.kind = Kind::lstm};
  inputs = inputs_of(t);
  for (const std::size_t zero : {1, 2, 6}) inputs[zero] = inputs[zero] * 0.0;
  const LstmResult other = lstm(inputs[0], {{inputs[3], inputs[4], inputs[5], {}}});
  expect_close(other.out, run(t, inputs)[0], 0.0);
}

TEST(Rnn, ACellIsOneStepOfALayer) {
  const Sizes s{.steps = 1};
  const auto inputs = inputs_of(s);
  expect_close(
      gru_cell(inputs[0].select(1, 0), inputs[1].select(0, 0), weights_of(s, inputs)[0]),
      run(s, inputs)[1].select(0, 0), 0.0);
  const Sizes t{.kind = Kind::lstm, .steps = 1};
  const auto others = inputs_of(t);
  const LstmStep step = lstm_cell(others[0].select(1, 0), others[1].select(0, 0),
                                  others[2].select(0, 0), weights_of(t, others)[0]);
  expect_close(step.state, run(t, others)[1].select(0, 0), 0.0);
  expect_close(step.cell, run(t, others)[2].select(0, 0), 0.0);
}

TEST(Rnn, AnyStridesWillDo) {
  const Sizes s{.lengths = {4, 2, 3}};
  const auto inputs = inputs_of(s);
  auto turned = inputs;
  turned[0] = inputs[0].transpose(0, 2).contiguous().transpose(0, 2);
  turned[2] = inputs[2].transpose(0, 1).contiguous().transpose(0, 1);
  turned[3] = inputs[3].transpose(0, 1).contiguous().transpose(0, 1);
  expect_close(run(s, turned)[0], run(s, inputs)[0], 0.0);
}

TEST(Rnn, HalfPrecisionIsComputedInFloat) {
  const Sizes s;
  std::vector<Tensor> narrow;
  std::vector<Tensor> wide;
  for (const Tensor& x : inputs_of(s)) {
    narrow.push_back(x.to(DType::bf16));
    wide.push_back(narrow.back().to(DType::f32));
  }
  const auto got = run(s, narrow);
  EXPECT_EQ(got[0].dtype(), DType::bf16);
  expect_close(got[0].to(DType::f32), run(s, wide)[0].to(DType::bf16).to(DType::f32), 0.0);
}

TEST(Rnn, TheNumberOfThreadsChangesNoBit) {
  const Sizes s{.batch = 70, .steps = 6, .in = 33, .hidden = 40, .layers = 2};
  const auto inputs = inputs_of(s);
  const auto numbers = [&] {
    auto answer =
        test::gradcheck::run([&](const auto& x) { return run(s, x); }, inputs, DType::f32);
    std::vector<std::vector<float>> all;
    all.reserve(answer.results.size() + answer.grads.size());
    for (const Tensor& x : answer.results) all.push_back(x.to_vector<float>());
    for (const Tensor& x : answer.grads) all.push_back(x.to_vector<float>());
    return all;
  };
  const auto many = numbers();
  std::vector<std::vector<float>> one;
  // Inside a task of a pool everything runs on its thread.
  ThreadPool::shared().parallel_for(2, 2, [&](int task) {
    if (task == 0) one = numbers();
  });
  EXPECT_EQ(many, one);
}

TEST(Rnn, MisuseIsExplained) {
  const Sizes s;
  const auto inputs = inputs_of(s);
  const auto weights = weights_of(s, inputs);
  EXPECT_THROW(gru(inputs[0].select(0, 0), weights), InvalidArgument);
  EXPECT_THROW(gru(inputs[0], {}), InvalidArgument);
  EXPECT_THROW(gru(inputs[0], weights, Direction::both), InvalidArgument);
  EXPECT_THROW(gru(inputs[0], {{inputs[3], inputs[3], {}, {}}}), InvalidArgument);
  EXPECT_THROW(lstm(inputs[0], weights), InvalidArgument);
  EXPECT_THROW(gru(inputs[0].to(DType::f32), weights), InvalidArgument);
  EXPECT_THROW(gru(inputs[0], weights, Direction::forward, inputs[0]), InvalidArgument);
  const Tensor lengths = Tensor::from(std::vector<std::int64_t>{1, 5, 2}, {3});
  EXPECT_THROW(gru(inputs[0], weights, Direction::forward, {}, lengths), InvalidArgument);
}

}  // namespace
}  // namespace attn
