// Keys and values in pages of a shared store.

// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/kernels/args.hpp"
#include "attn/kernels/cpu/attention.hpp"
#include "attn/kernels/reference/attention.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace attn {
namespace {

constexpr int kHeads = 4;
constexpr int kKvHeads = 2;
constexpr int kChannels = 19;
constexpr int kValues = 11;

std::size_t size_of(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
  return static_cast<std::size_t>(a * b * c * d);
}

/// Random numbers in any element type.
template <class T>
std::vector<T> numbers(test::Random& random, std::size_t count) {
  std::vector<T> result;
  for (const float x : random.numbers<float>(count)) result.push_back(T(x));
  return result;
}

/// Sequences of given lengths, each stored alone, and once more in shuffled pages of one store.
template <class T>
struct Store {
  std::vector<std::int64_t> lengths;
  int page_size;
  std::int64_t stride = 0;  ///< table entries of a sequence
  std::int64_t pages = 0;
  std::vector<std::vector<T>> k, v;  ///< [kv heads, length, channels]
  std::vector<std::int32_t> table;
  std::vector<T> paged_k, paged_v;  ///< [pages, kv heads, page size, channels]

  Store(test::Random& random, std::vector<std::int64_t> given, int size)
      : lengths(std::move(given)), page_size(size) {
    for (const std::int64_t length : lengths) {
      stride = std::max(stride, (length + size - 1) / size + 1);
      k.push_back(numbers<T>(random, size_of(1, kKvHeads, length, kChannels)));
      v.push_back(numbers<T>(random, size_of(1, kKvHeads, length, kValues)));
    }
    const auto count = static_cast<std::int64_t>(lengths.size());
    pages = count * stride;
    table.resize(static_cast<std::size_t>(pages));
    std::iota(table.begin(), table.end(), 0);
    random.shuffle(table);
    paged_k = numbers<T>(random, size_of(pages, kKvHeads, size, kChannels));
    paged_v = numbers<T>(random, size_of(pages, kKvHeads, size, kValues));
    for (std::int64_t b = 0; b < count; ++b) {
      fill(b, kChannels, k[static_cast<std::size_t>(b)], paged_k);
      fill(b, kValues, v[static_cast<std::size_t>(b)], paged_v);
    }
  }
  void fill(std::int64_t b, int channels, const std::vector<T>& from,
            std::vector<T>& to) const {
    const std::int64_t length = lengths[static_cast<std::size_t>(b)];
    for (std::int64_t h = 0; h < kKvHeads; ++h)
      for (std::int64_t j = 0; j < length; ++j)
        for (std::int64_t c = 0; c < channels; ++c) {
          const std::int64_t page = table[static_cast<std::size_t>(b * stride + j / page_size)];
          const std::int64_t row = (page * kKvHeads + h) * page_size + j % page_size;
          to[static_cast<std::size_t>(row * channels + c)] =
              from[static_cast<std::size_t>((h * length + j) * channels + c)];
        }
  }
  ForwardArgs<T> paged(const std::vector<T>& q, std::vector<T>& out, int queries) const {
    const auto batch = static_cast<std::int64_t>(lengths.size());
    ForwardArgs<T> args;
    args.q = attn::packed<const T>(q.data(), batch, kHeads, queries, kChannels);
    args.k = attn::packed<const T>(paged_k.data(), pages, kKvHeads, page_size, kChannels);
    args.v = attn::packed<const T>(paged_v.data(), pages, kKvHeads, page_size, kValues);
    args.out = attn::packed<T>(out.data(), batch, kHeads, queries, kValues);
    args.paging = {table.data(), stride, lengths.data()};
    return args;
  }
};

template <class T>
void paged_equals_contiguous(const char* seed, int page_size, int queries) {
  test::Random random(seed);
  const Store<T> store(random, {37, 0, 1, 4700, 64}, page_size);
  const std::int64_t batch = 5;
  const auto q = numbers<T>(random, size_of(batch, kHeads, queries, kChannels));
  std::vector<T> out(size_of(batch, kHeads, queries, kValues));
  std::vector<T> by_definition(out.size());
  const Recipe recipe;
  cpu::forward(store.paged(q, out, queries), recipe);
  reference::forward(store.paged(q, by_definition, queries), recipe);
  for (std::size_t b = 0; b < 5; ++b) {
    std::vector<T> alone(size_of(1, kHeads, queries, kValues));
    ForwardArgs<T> args;
    args.q = packed<const T>(q.data() + b * size_of(1, kHeads, queries, kChannels), 1, kHeads,
                             queries, kChannels);
    args.k = packed<const T>(store.k[b].data(), 1, kKvHeads, store.lengths[b], kChannels);
    args.v = packed<const T>(store.v[b].data(), 1, kKvHeads, store.lengths[b], kValues);
    args.out = packed<T>(alone.data(), 1, kHeads, queries, kValues);
    cpu::forward(args, recipe);
    for (std::size_t i = 0; i < alone.size(); ++i) {
      const auto got = static_cast<float>(out[b * alone.size() + i]);
      const auto want = static_cast<float>(by_definition[b * alone.size() + i]);
      ASSERT_EQ(got, static_cast<float>(alone[i]))
          << "sequence " << b << ", number " << i << ", page size " << page_size;
      ASSERT_TRUE(test::close(got, want, test::tolerance(kDType<T>, 4700)));
    }
  }
}

TEST(Paging, ShuffledPagesGiveTheBitsOfContiguousKeys) {
  for (const int page_size : {1, 16, 17, 256})
    for (const int queries : {1, 3, 40}) {
      paged_equals_contiguous<float>("paged f32", page_size, queries);
      paged_equals_contiguous<BFloat16>("paged bf16", page_size, queries);
      paged_equals_contiguous<Float16>("paged f16", page_size, queries);
    }
}

/// What forward says of a store, or "" if it takes it.
std::string complaint(const ForwardArgs<float>& args) {
  try {
    cpu::forward(args, Recipe{});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Paging, BadTablesAndLengthsAreErrors) {
  test::Random random("bad pages");
  const Store<float> good(random, {20, 33}, 16);
  const auto q = random.numbers<float>(size_of(2, kHeads, 1, kChannels));
  std::vector<float> out(size_of(2, kHeads, 1, kValues));
  EXPECT_EQ(complaint(good.paged(q, out, 1)), "");

  for (const std::int32_t page : {-1, static_cast<std::int32_t>(good.pages), 1 << 30}) {
    Store<float> store = good;
    store.table[static_cast<std::size_t>(store.stride)] = page;
    EXPECT_NE(complaint(store.paged(q, out, 1)).find("page table"), std::string::npos) << page;
  }
  for (const std::int64_t length :
       {std::int64_t{-1}, good.stride * 16 + 1, std::int64_t{1} << 40}) {
    Store<float> store = good;
    store.lengths[1] = length;
    EXPECT_NE(complaint(store.paged(q, out, 1)).find("sequence 1"), std::string::npos)
        << length;
  }
  ForwardArgs<float> args = good.paged(q, out, 1);
  args.paging.lengths = nullptr;
  EXPECT_NE(complaint(args).find("lengths"), std::string::npos);
  args = good.paged(q, out, 1);
  args.k.shape[2] = args.v.shape[2] = 0;
  EXPECT_NE(complaint(args).find("at least one"), std::string::npos);
  args = good.paged(q, out, 1);
  const std::vector<std::int64_t> offsets{0, 1};
  args.packing = {offsets.data(), offsets.data(), 1};
  EXPECT_NE(complaint(args), "");
  args = good.paged(q, out, 1);
  args.paging.stride = -3;
  EXPECT_NE(complaint(args), "");
}

TEST(Paging, EntriesBehindTheLastPageAreNotRead) {
  test::Random random("unused entries");
  Store<float> store(random, {20, 33}, 16);
  for (std::size_t b = 0; b < 2; ++b)
    store.table[(b + 1) * static_cast<std::size_t>(store.stride) - 1] = -7;
  const auto q = random.numbers<float>(size_of(2, kHeads, 1, kChannels));
  std::vector<float> out(size_of(2, kHeads, 1, kValues));
  EXPECT_EQ(complaint(store.paged(q, out, 1)), "");
}

}  // namespace
}  // namespace attn
