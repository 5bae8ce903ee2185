/// Sequences of different lengths: packed behind one another, in a cache with room for more
/// keys than there are, or with keys and values in pages.
///
///     attend(q, k, v, spec::dot(), {}, spec::softmax(), Want::output,
///            Sequences::packed({0, 3, 9}, {0, 3, 9}));          // two sequences, 3 and 6 long
///
/// A decoder whose sequences grow at their own pace keeps keys and values in pages, k and v
/// [pages, kv_heads, page size, channels], and attends from its new queries:
///
///     attend(q, k, v, spec::scaled_dot(), {}, spec::softmax(), Want::output,
///            Sequences::paged(table, pages_each, lengths, q.device()));
///
/// attn/tensor/kv_cache.hpp shows a decoder with a cache.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <memory>
#include <vector>

#include "attn/kernels/args.hpp"
#include "attn/tensor/spec/mask.hpp"
#include "attn/tensor/storage.hpp"

namespace attn::spec {

class Sequences {
 public:
  /// Each row of the batch is a sequence.
  Sequences() = default;
  /// Sequence b holds the queries [queries[b], queries[b + 1]) and keys alike; q, k and v then
  /// have batch 1. Forward and backward; on the GPU whole rows, one sequence after the other.
  static Sequences packed(std::vector<std::int64_t> queries, std::vector<std::int64_t> keys,
                          Device device = Device::cpu);
  /// Of sequence b the first lengths[b] of k and v exist, and the queries are its last
  /// positions: each sees itself and those before it. Forward and backward.
  static Sequences cached(std::vector<std::int64_t> lengths);
  /// Key j of sequence b is row j % page size of page table[b * pages_each + j / page size].
  /// Forward alone; on the GPU softmax and at most 16 queries.
  static Sequences paged(std::vector<std::int32_t> table, std::int64_t pages_each,
                         std::vector<std::int64_t> lengths, Device device = Device::cpu);

  bool is_packed() const { return packing_.q != nullptr; }
  bool is_paged() const { return paging_.table != nullptr; }
  bool is_cached() const { return cached_; }
  /// Which keys the queries of a cache see.
  Mask seen(std::int64_t queries) const;
  Device device() const { return device_; }
  /// As kernels of the device read them.
  const Packing& packing() const { return packing_; }
  const Paging& paging() const { return paging_; }

  std::int64_t count() const { return count_; }
  std::int64_t longest_queries() const { return longest_queries_; }  ///< of packed ones
  std::int64_t longest_keys() const { return longest_keys_; }
  /// Whether keys - queries is not the same for all.
  bool uneven() const { return uneven_; }
  /// Throws InvalidArgument unless the pages exist: `pages` of `page_size` keys each.
  void check_pages(std::int64_t pages, std::int64_t page_size) const;

 private:
  struct Lists;

  std::shared_ptr<Lists> lists_;
  Packing packing_;
  Paging paging_;
  Device device_ = Device::cpu;
  std::int64_t count_ = 0;
  std::int64_t longest_queries_ = 0;
  std::int64_t longest_keys_ = 0;
  bool uneven_ = false;
  bool cached_ = false;
};

}  // namespace attn::spec
