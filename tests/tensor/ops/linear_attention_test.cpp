#include "attn/tensor/ops/linear_attention.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/core/thread_pool.hpp"
#include "attn/core/view.hpp"
#include "attn/kernels/linear.hpp"
#include "attn/pool/linear.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "support/tolerance.hpp"
#include "tensor/ops/linear_attention_of_ops.hpp"
#include "tensor/support/gradcheck.hpp"

namespace attn::test {
namespace {

struct Sizes {
  std::int64_t batch, heads, kv_heads, steps, channels, values;
};

enum class Decay { none, shared, by_channel };
enum class Delta { off, on };

struct Rule {
  Decay decay;
  Delta delta;
};

constexpr Rule kRules[] = {{Decay::none, Delta::off},       {Decay::none, Delta::on},
                           {Decay::shared, Delta::off},     {Decay::shared, Delta::on},
                           {Decay::by_channel, Delta::off}, {Decay::by_channel, Delta::on}};

/// q, k, v, decay, beta, state; keys are shorter than 1, so that the delta rule forgets.
Tensors problem(const Sizes& s, const Rule& rule, double strongest = -0.5) {
  Tensors all(6);
  const double length = 1.0 / std::sqrt(static_cast<double>(s.channels) + 1.0);
  all[0] = random_tensor("q", {s.batch, s.heads, s.steps, s.channels});
  all[1] = random_tensor("k", {s.batch, s.kv_heads, s.steps, s.channels}, -length, length);
  all[2] = random_tensor("v", {s.batch, s.kv_heads, s.steps, s.values});
  if (rule.decay != Decay::none)
    all[3] = random_tensor(
        "decay", {s.batch, s.kv_heads, s.steps, rule.decay == Decay::shared ? 1 : s.channels},
        strongest, 0.0);
  if (rule.delta == Delta::on)
    all[4] = random_tensor("beta", {s.batch, s.kv_heads, s.steps}, 0.0, 1.0);
  all[5] = random_tensor("state", {s.batch, s.kv_heads, s.channels, s.values});
  return all;
}

Tensors run(const Tensors& x) {
  const LinearAttended result =
      linear_attention(x[0], x[1], x[2], {.decay = x[3], .beta = x[4]}, x[5], 0.7);
  return {result.output, result.state};
}

View<const double, 4> view4(const Tensor& x) {
  if (!x.defined()) return {};
  return packed<const double>(x.data<double>(), x.size(0), x.size(1), x.size(2), x.size(3));
}

/// The recurrence, step by step, in double.
Tensors step_by_step(const Tensors& x) {
  Tensor out =
      Tensor::empty({x[0].size(0), x[0].size(1), x[0].size(2), x[2].size(3)}, DType::f64);
  Tensor state = Tensor::empty(x[5].shape(), DType::f64);
  LinearArgs<double> args;
  args.q = view4(x[0]);
  args.k = view4(x[1]);
  args.v = view4(x[2]);
  args.decay = view4(x[3]);
  args.past = view4(x[5]);
  args.scale = 0.7;
  if (x[4].defined())
    args.beta =
        packed<const double>(x[4].data<double>(), x[4].size(0), x[4].size(1), x[4].size(2));
  args.out = packed<double>(out.mutable_data<double>(), out.size(0), out.size(1), out.size(2),
                            out.size(3));
  args.state = packed<double>(state.mutable_data<double>(), state.size(0), state.size(1),
                              state.size(2), state.size(3));
  args.rule = x[3].defined()
                  ? x[4].defined() ? pool::UpdateRule::gated_delta : pool::UpdateRule::gated
              : x[4].defined() ? pool::UpdateRule::delta
                               : pool::UpdateRule::linear;
  reference::linear(args);
  return {out, state};
}

Tensors in_float(const Tensors& x) {
  Tensors result;
  for (const Tensor& each : x) result.push_back(each.defined() ? each.to(DType::f32) : each);
  return result;
}

/// About a chunk's 64 steps, its pieces of 8, and where floats go by chunks: 24 steps, and 128
/// or 256 channels.
std::vector<Sizes> grid() {
  return {{2, 4, 2, 64, 5, 7},   {1, 2, 1, 65, 16, 8},   {1, 1, 1, 1, 3, 2},
          {1, 3, 3, 130, 9, 4},  {2, 2, 2, 23, 4, 5},    {1, 2, 1, 24, 4, 5},
          {1, 2, 1, 63, 1, 1},   {1, 6, 2, 200, 32, 33}, {1, 2, 1, 70, 128, 9},
          {1, 1, 1, 80, 256, 18}};
}

TEST(LinearAttentionOp, ChunksGiveWhatTheStepsGive) {
  for (const Rule& rule : kRules)
    for (const Sizes& sizes : grid()) {
      const Tensors x = problem(sizes, rule);
      const Tensors want = step_by_step(x);
      const Tensors got = run(x);
      const Tensors floats = run(in_float(x));
      const int length = static_cast<int>(sizes.steps * sizes.channels);
      const std::string what =
          "steps " + std::to_string(sizes.steps) + ", rule " + std::to_string(&rule - kRules);
      for (std::size_t r = 0; r < 2; ++r) {
        expect_close(got[r], want[r], tolerance(DType::f64, length), what);
        expect_close(floats[r], want[r], tolerance(DType::f32, length), what + ", f32");
      }
    }
}

TEST(LinearAttentionOp, StrongDecaysNeitherOverflowNorVanishTooSoon) {
  // e^(-50 * 64) is no number of either type, and neither is its inverse.
  for (const Decay decay : {Decay::shared, Decay::by_channel})
    for (const Delta delta : {Delta::off, Delta::on}) {
      const Tensors x = problem({1, 2, 1, 100, 8, 6}, {decay, delta}, -50.0);
      const Tensors want = step_by_step(x);
      const Tensors got = run(in_float(x));
      expect_close(got[0], want[0], tolerance(DType::f32, 800));
      expect_close(got[1], want[1], tolerance(DType::f32, 800));
    }
}

TEST(LinearAttentionOp, EqualKeysAreReplacedWithoutLossOfPrecision) {
  // The triangular system is then as ill-conditioned as beta <= 1 and unit keys allow.
  Tensors x = problem({1, 1, 1, 128, 4, 3}, {Decay::none, Delta::on});
  x[1] = Tensor::full(x[1].shape(), 0.5, DType::f64);
  x[4] = Tensor::full(x[4].shape(), 1.0, DType::f64);
  const Tensors want = step_by_step(x);
  const Tensors got = run(in_float(x));
  expect_close(got[0], want[0], tolerance(DType::f32, 512));
  expect_close(got[1], want[1], tolerance(DType::f32, 512));
}

TEST(LinearAttentionOp, GradientsAreFiniteDifferences) {
  for (const Rule& rule : kRules) {
    expect_gradients(run, problem({1, 2, 1, 70, 2, 3}, rule));
    expect_gradients(run, problem({2, 2, 2, 9, 3, 1}, rule));
    expect_gradients(run, problem({1, 1, 1, 1, 2, 2}, rule));
  }
}

TEST(LinearAttentionOp, GradientsInFloatAreThoseInDouble) {
  for (const Rule& rule : kRules)
    expect_same_in_float(run, problem({1, 4, 2, 150, 16, 17}, rule), kFloatModel);
}

TEST(LinearAttentionOp, GradientsComeThroughTheOutputOrTheStateAlone) {
  const Tensors x = problem({1, 2, 1, 66, 2, 2}, {Decay::by_channel, Delta::on});
  for (const std::size_t which : {0u, 1u})
    expect_gradients([&](const Tensors& in) { return Tensors{run(in)[which]}; }, x);
}

TEST(LinearAttentionOp, TwoCallsContinueEachOther) {
  for (const Rule& rule : kRules)
    for (const std::int64_t cut : {std::int64_t{0}, std::int64_t{1}, std::int64_t{64},
                                   std::int64_t{99}, std::int64_t{100}}) {
      const Tensors x = problem({2, 2, 1, 100, 5, 4}, rule);
      const auto part = [&](std::int64_t begin, std::int64_t end, const Tensor& state) {
        Tensors piece;
        for (std::size_t i = 0; i < 5; ++i)
          piece.push_back(x[i].defined() ? x[i].slice(2, begin, end) : Tensor());
        piece.push_back(state);
        return run(piece);
      };
      const Tensors whole = run(x);
      const Tensors first = part(0, cut, x[5]);
      const Tensors second = part(cut, 100, first[1]);
      const double within = tolerance(DType::f64, 500);
      expect_close(first[0], whole[0].slice(2, 0, cut), within);
      expect_close(second[0], whole[0].slice(2, cut, 100), within);
      expect_close(second[1], whole[1], within);
    }
}

TEST(LinearAttentionOp, GradientsFlowThroughTheStateOfAnEarlierCall) {
  const Tensors x = problem({1, 1, 1, 20, 2, 2}, {Decay::shared, Delta::on});
  const TensorFunction in_two = [](const Tensors& in) {
    const auto part = [&](std::int64_t begin, std::int64_t end, const Tensor& state) {
      return run({in[0].slice(2, begin, end), in[1].slice(2, begin, end),
                  in[2].slice(2, begin, end), in[3].slice(2, begin, end),
                  in[4].slice(2, begin, end), state});
    };
    const Tensors first = part(0, 7, in[5]);
    const Tensors second = part(7, 20, first[1]);
    return Tensors{first[0], second[0], second[1]};
  };
  expect_gradients(in_two, x);
}

TEST(LinearAttentionOp, EmptyExtents) {
  for (const Rule& rule : kRules)
    for (const Sizes& sizes : std::vector<Sizes>{{2, 2, 1, 0, 3, 4},
                                                 {1, 2, 1, 70, 0, 4},
                                                 {1, 2, 1, 70, 3, 0},
                                                 {0, 2, 1, 70, 3, 4}}) {
      Tensors x = problem(sizes, rule);
      const Tensors got = gradcheck::run(run, x, DType::f64).results;
      const Tensors want = step_by_step(x);
      expect_close(got[0], want[0], kDoubleSum);
      expect_close(got[1], want[1], kDoubleSum);
    }
}

TEST(LinearAttentionOp, OfOtherOpsItIsTheSame) {
  const TensorFunction of_ops = [](const Tensors& x) {
    const LinearAttended result =
        op::linear_attention_of_ops(x[0], x[1], x[2], {x[3], x[4]}, x[5], 0.7);
    return Tensors{result.output, result.state};
  };
  for (const Rule& rule : kRules)
    for (const Sizes& sizes : std::vector<Sizes>{{2, 4, 2, 70, 3, 5},
                                                 {1, 1, 1, 64, 2, 2},
                                                 {1, 2, 1, 1, 3, 1},
                                                 {1, 2, 2, 0, 3, 2}}) {
      const Tensors x = problem(sizes, rule);
      const gradcheck::Run want = gradcheck::run(run, x, DType::f64);
      const gradcheck::Run got = gradcheck::run(of_ops, x, DType::f64);
      for (std::size_t r = 0; r < 2; ++r)
        expect_close(got.results[r], want.results[r], kDoubleSum);
      for (std::size_t i = 0; i < x.size(); ++i)
        if (x[i].defined() && x[i].numel() > 0)
          expect_close(got.grads[i], want.grads[i], kDoubleSum);
    }
}

TEST(LinearAttentionOp, WithoutAStateItBeginsWithZeros) {
  Tensors x = problem({1, 2, 2, 30, 4, 3}, {Decay::none, Delta::off});
  const Tensors got = run({x[0], x[1], x[2], {}, {}, {}});
  x[5] = Tensor::zeros(x[5].shape(), DType::f64);
  const Tensors want = run(x);
  expect_close(got[0], want[0], 0.0);
  expect_close(got[1], want[1], 0.0);
}

TEST(LinearAttentionOp, TakesHeadsInsideChannelsAndAnyStrides) {
  const Tensors x = problem({2, 4, 2, 70, 6, 5}, {Decay::by_channel, Delta::on});
  Tensors strided;
  for (const Tensor& each : x)
    strided.push_back(each.rank() == 4 ? each.transpose(1, 2).clone().transpose(1, 2) : each);
  strided[2] = x[2].transpose(2, 3).clone().transpose(2, 3);
  const gradcheck::Run want = gradcheck::run(run, x, DType::f64);
  const TensorFunction through_views = [&](const Tensors& in) {
    Tensors views = in;
    views[0] = in[0].transpose(1, 2).contiguous().transpose(1, 2);
    views[2] = in[2].transpose(2, 3).contiguous().transpose(2, 3);
    return run(views);
  };
  const gradcheck::Run got = gradcheck::run(through_views, strided, DType::f64);
  for (std::size_t r = 0; r < 2; ++r) expect_close(got.results[r], want.results[r], kDoubleSum);
  for (std::size_t i = 0; i < x.size(); ++i)
    expect_close(got.grads[i], want.grads[i], kDoubleSum);
}

TEST(LinearAttentionOp, HalvesGiveTheirOutputInTheirTypeAndTheirStateInFloat) {
  Tensors x = problem({1, 2, 1, 70, 8, 8}, {Decay::none, Delta::off});
  Tensors half;
  for (std::size_t i = 0; i < 3; ++i) half.push_back(x[i].to(DType::bf16));
  const LinearAttended got = linear_attention(half[0], half[1], half[2]);
  EXPECT_EQ(got.output.dtype(), DType::bf16);
  EXPECT_EQ(got.state.dtype(), DType::f32);
  const LinearAttended want =
      linear_attention(half[0].to(DType::f32), half[1].to(DType::f32), half[2].to(DType::f32));
  expect_close(got.output, want.output, tolerance(DType::bf16));
  expect_close(got.state, want.state, 0.0);
}

TEST(LinearAttentionThreads, AnyNumberGivesTheSameBits) {
  const int before = ThreadPool::default_threads();
  for (const Rule& rule : kRules) {
    const Tensors x = problem({2, 6, 3, 140, 12, 9}, rule);
    ThreadPool::set_default_threads(1);
    const gradcheck::Run one = gradcheck::run(run, x, DType::f32);
    ThreadPool::set_default_threads(4);
    const gradcheck::Run four = gradcheck::run(run, x, DType::f32);
    ThreadPool::set_default_threads(before);
    for (std::size_t r = 0; r < 2; ++r)
      EXPECT_EQ(one.results[r].to_vector<float>(), four.results[r].to_vector<float>());
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (x[i].defined()) {
        EXPECT_EQ(one.grads[i].to_vector<float>(), four.grads[i].to_vector<float>());
      }
    }
  }
}

TEST(LinearAttentionOp, WrongShapesSayWhatIsAccepted) {
  const Tensors x = problem({1, 4, 2, 5, 3, 2}, {Decay::by_channel, Delta::on});
  const auto refused = [&](std::size_t which, const Tensor& wrong) {
    Tensors changed = x;
    changed[which] = wrong;
    EXPECT_THROW(run(changed), InvalidArgument) << which;
  };
  refused(0, x[0].slice(1, 0, 3));
  refused(1, x[1].slice(2, 0, 4));
  refused(2, x[2].slice(1, 0, 1));
  refused(3, x[3].slice(3, 0, 2));
  refused(4, x[4].slice(2, 0, 4));
  refused(5, x[5].slice(3, 0, 1));
  refused(5, x[5].to(DType::f32));
  refused(2, x[2].select(1, 0));
}

}  // namespace
}  // namespace attn::test
