// Packed and paged sequences and caches through attend(), against each sequence alone.

#include "attn/tensor/spec/sequences.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/kernels/route.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/kv_cache.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/tensor.hpp"
#include "support/tolerance.hpp"
#include "tensor/support/gradcheck.hpp"

namespace attn::test {
namespace {

using spec::Sequences;

/// Three sequences behind one another, one of them empty.
const std::vector<std::int64_t> kQueries{0, 3, 3, 9};
const std::vector<std::int64_t> kKeys{0, 5, 5, 9};

Tensors packed_inputs() {
  return {random_tensor("q", {1, 4, 9, 8}), random_tensor("k", {1, 2, 9, 8}),
          random_tensor("v", {1, 2, 9, 6})};
}

Tensor attend_packed(const Tensors& in, const spec::Mask& keep) {
  return attend(in[0], in[1], in[2], spec::scaled_dot() | spec::soft_cap(2.0), keep,
                spec::softmax(), Want::output, Sequences::packed(kQueries, kKeys))
      .output;
}

/// Each sequence by a call of its own.
Tensor attend_apart(const Tensors& in, const spec::Mask& keep) {
  Tensors parts;
  for (std::size_t b = 0; b + 1 < kQueries.size(); ++b) {
    if (kQueries[b] == kQueries[b + 1]) continue;
    const Tensor q = in[0].slice(2, kQueries[b], kQueries[b + 1]);
    const Tensor k = in[1].slice(2, kKeys[b], kKeys[b + 1]);
    const Tensor v = in[2].slice(2, kKeys[b], kKeys[b + 1]);
    parts.push_back(
        attend(q, k, v, spec::scaled_dot() | spec::soft_cap(2.0), keep, spec::softmax())
            .output);
  }
  return concat(parts, 2);
}

TEST(Sequences, PackedOnesAreWhatEachIsAlone) {
  for (const DType dtype : {DType::f64, DType::f32, DType::bf16}) {
    Tensors in = packed_inputs();
    for (Tensor& x : in) x = x.to(dtype);
    const spec::Mask keep = spec::causal(2);
    expect_close(attend_packed(in, keep), attend_apart(in, keep), tolerance(dtype, 9));
  }
}

TEST(Sequences, PackedOnesHaveGradients) {
  const auto run = [](const Tensors& in) -> Tensors {
    return {attend_packed(in, spec::causal(1))};
  };
  expect_gradients(run, packed_inputs());
  expect_same_in_float(run, packed_inputs(), gradient_tolerance(DType::f32, 9, 9));
}

TEST(Sequences, AnOffsetThatDiffersMustBeGiven) {
  EXPECT_THROW(attend_packed(packed_inputs(), spec::causal()), InvalidArgument);
  const Tensors in = packed_inputs();
  const Tensor out =
      attend(in[0], in[1], in[2], spec::scaled_dot(), spec::causal(), spec::softmax(),
             Want::output, Sequences::packed({0, 4, 9}, {0, 4, 9}))
          .output;
  const Tensor first = attend(in[0].slice(2, 0, 4), in[1].slice(2, 0, 4), in[2].slice(2, 0, 4),
                              spec::scaled_dot(), spec::causal())
                           .output;
  expect_close(out.slice(2, 0, 4), first, kDoubleSum);
}

/// Two sequences of 5 and 2 keys in pages of 2, which lie in any order.
struct Pages {
  Tensor q = random_tensor("q", {2, 4, 1, 8});
  Tensor k = random_tensor("k", {6, 2, 2, 8});
  Tensor v = random_tensor("v", {6, 2, 2, 6});
  std::vector<std::int32_t> table{4, 0, 3, 1, 5, 5};
  std::vector<std::int64_t> lengths{5, 2};

  Attended attended(DType dtype) const {
    return attend(q.to(dtype), k.to(dtype), v.to(dtype), spec::scaled_dot(), {},
                  spec::softmax(), Want::output | Want::log_sum_exp,
                  Sequences::paged(table, 3, lengths));
  }
  /// The keys or values of a sequence side by side: [1, kv_heads, length, channels].
  Tensor gathered(const Tensor& pages, std::size_t b) const {
    Tensors parts;
    for (std::int64_t j = 0; j < lengths[b]; ++j) {
      const std::int64_t page = table[b * 3 + static_cast<std::size_t>(j / 2)];
      parts.push_back(pages.slice(0, page, page + 1).slice(2, j % 2, j % 2 + 1));
    }
    return concat(parts, 2);
  }
};

TEST(Sequences, PagedOnesAreWhatTheyAreSideBySide) {
  const Pages pages;
  for (const DType dtype : {DType::f64, DType::f32, DType::bf16}) {
    const Attended got = pages.attended(dtype);
    for (std::int64_t b = 0; b < 2; ++b) {
      const auto at = static_cast<std::size_t>(b);
      const Attended want =
          attend(pages.q.slice(0, b, b + 1).to(dtype), pages.gathered(pages.k, at).to(dtype),
                 pages.gathered(pages.v, at).to(dtype), spec::scaled_dot(), {}, spec::softmax(),
                 Want::output | Want::log_sum_exp);
      expect_close(got.output.slice(0, b, b + 1), want.output, tolerance(dtype, 5));
      expect_close(got.log_sum_exp.slice(0, b, b + 1), want.log_sum_exp, tolerance(dtype, 5));
    }
  }
}

TEST(Sequences, WhatIsNotBuiltIsRefused) {
  Pages pages;
  EXPECT_THROW(
      attend(pages.q, pages.k, pages.v, spec::scaled_dot(), {}, spec::softmax(),
             Want::output | Want::weights, Sequences::paged(pages.table, 3, pages.lengths)),
      Unsupported);
  pages.q.set_requires_grad();
  EXPECT_THROW(pages.attended(DType::f64), Unsupported);
  pages.q = pages.q.detach();
  pages.table[1] = 6;
  EXPECT_THROW(pages.attended(DType::f64), InvalidArgument);
  pages.table[1] = 0;
  pages.lengths[0] = 7;
  EXPECT_THROW(pages.attended(DType::f64), InvalidArgument);
  EXPECT_THROW(Sequences::paged({0, 1}, 2, {1, 1}), InvalidArgument);
  EXPECT_THROW(Sequences::packed({0, 2, 1}, {0, 1, 2}), InvalidArgument);
  EXPECT_THROW(Sequences::packed({0, 2}, {0, 1, 2}), InvalidArgument);
}

/// Attention of the last positions to a cache that holds `lengths`.
Tensor attend_cache(const Tensor& q, const Tensor& keys, const Tensor& values,
                    const std::vector<std::int64_t>& lengths) {
  return attend(q, keys, values, spec::scaled_dot(), {}, spec::softmax(), Want::output,
                Sequences::cached(lengths))
      .output;
}

TEST(Cache, DecodingStepByStepIsCausalAttention) {
  for (const DType dtype : {DType::f64, DType::f32, DType::bf16}) {
    const Tensor q = random_tensor("q", {2, 4, 7, 8}).to(dtype);
    const Tensor k = random_tensor("k", {2, 2, 7, 8}).to(dtype);
    const Tensor v = random_tensor("v", {2, 2, 7, 6}).to(dtype);
    const Tensor want = attend(q, k, v, spec::scaled_dot(), spec::causal()).output;
    const Tensor keys = Tensor::full({2, 2, 9, 8}, NAN, dtype);
    const Tensor values = Tensor::full({2, 2, 9, 6}, NAN, dtype);
    Tensors steps;
    // A prompt of three, then one by one.
    for (std::int64_t begin = 0, end = 3; begin < 7; begin = end++) {
      write_cache(keys, k.slice(2, begin, end), {begin, begin});
      write_cache(values, v.slice(2, begin, end), {begin, begin});
      steps.push_back(attend_cache(q.slice(2, begin, end), keys, values, {end, end}));
    }
    expect_close(concat(steps, 2), want, tolerance(dtype, 7));
  }
}

TEST(Cache, SequencesOfDifferentLengthsSeeTheirOwn) {
  const Tensor q = random_tensor("q", {2, 2, 2, 8});
  const Tensor keys = random_tensor("k", {2, 2, 9, 8});
  const Tensor values = random_tensor("v", {2, 2, 9, 8});
  const Tensor got = attend_cache(q, keys, values, {6, 3});
  for (const std::int64_t b : {0, 1}) {
    const std::int64_t length = b == 0 ? 6 : 3;
    const auto held = [&](const Tensor& x) { return x.slice(0, b, b + 1).slice(2, 0, length); };
    expect_close(got.slice(0, b, b + 1),
                 attend(q.slice(0, b, b + 1), held(keys), held(values), spec::scaled_dot(),
                        spec::causal())
                     .output,
                 kDoubleSum);
  }
}

TEST(Cache, HasGradients) {
  const Tensors in{random_tensor("q", {2, 2, 2, 4}), random_tensor("k", {2, 2, 5, 4}),
                   random_tensor("v", {2, 2, 5, 4})};
  expect_gradients(
      [](const Tensors& x) -> Tensors { return {attend_cache(x[0], x[1], x[2], {4, 2})}; }, in);
}

TEST(Cache, RefusesWhatDoesNotFit) {
  const Tensor cache = Tensor::zeros({2, 2, 4, 8});
  const Tensor update = Tensor::zeros({2, 2, 2, 8});
  EXPECT_THROW(write_cache(cache, update, {0, 3}), InvalidArgument);
  EXPECT_THROW(write_cache(cache, update, {0}), InvalidArgument);
  EXPECT_THROW(write_cache(cache, update.to(DType::bf16), {0, 0}), InvalidArgument);
  EXPECT_THROW(attend_cache(update, cache, cache, {5, 1}), InvalidArgument);
  EXPECT_THROW(attend_cache(update, cache, cache, {1}), InvalidArgument);
}

TEST(AttendRoute, ToldWithTheResultIsTheOneThatRan) {
  const auto attended = [](std::int64_t queries, DType dtype) {
    const Tensor x = random_tensor("x", {1, 1, 40, 8}).to(dtype);
    return attend(x.slice(2, 0, queries), x, x);
  };
  EXPECT_EQ(attended(1, DType::f32).route, Route::cpu_decode);
  EXPECT_EQ(last_route(), Route::cpu_decode);
  EXPECT_EQ(attended(40, DType::f32).route, Route::cpu_packed);
  EXPECT_EQ(attended(40, DType::f32).note, nullptr);
  EXPECT_EQ(last_route(), Route::cpu_packed);
  const Attended slow = attended(40, DType::f64);
  EXPECT_EQ(slow.route, Route::reference);
  EXPECT_NE(slow.note, nullptr);
  EXPECT_EQ(last_route(), Route::reference);
}

TEST(AttendRoute, OneThatIsForcedGivesTheSameResult) {
  const Tensors in{random_tensor("q", {2, 4, 20, 8}), random_tensor("k", {2, 2, 33, 8}),
                   random_tensor("v", {2, 2, 33, 8})};
  const auto run = [](const Tensors& x) -> Tensors {
    return {attend(x[0], x[1], x[2], spec::scaled_dot(), spec::causal()).output};
  };
  const Tensor want = run(in)[0];
  for (const Route route : {Route::cpu_packed, Route::cpu_decode, Route::reference}) {
    const ForceRoute forced(route);
    SCOPED_TRACE(name_of(route));
    expect_close(run({in[0].to(DType::f32), in[1].to(DType::f32), in[2].to(DType::f32)})[0],
                 want, tolerance(DType::f32, 33));
  }
}

}  // namespace
}  // namespace attn::test
