// Packed and paged sequences: their lists in the memory of a device.

#include "attn/tensor/spec/sequences.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tensor/spec/mask.hpp"
#include "attn/tensor/storage.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/spec/lower.hpp"

namespace attn::spec {
namespace {

void check_offsets(const std::vector<std::int64_t>& offsets, const char* name) {
  if (offsets.empty() || offsets.front() != 0 ||
      !std::is_sorted(offsets.begin(), offsets.end()))
    fail("attn::spec::Sequences: the offsets of ", name,
         " do not rise from 0; one a sequence and the end are accepted");
}

}  // namespace

/// What the kernels' pointers point to.
struct Sequences::Lists {
  std::vector<std::int64_t> queries, keys;  ///< offsets of packed ones
  std::vector<std::int64_t> lengths;        ///< of paged ones
  std::vector<std::int32_t> table;
  std::shared_ptr<Storage> rooms[2];
};

Sequences Sequences::packed(std::vector<std::int64_t> queries, std::vector<std::int64_t> keys,
                            Device device) {
  check_offsets(queries, "queries");
  check_offsets(keys, "keys");
  if (queries.size() != keys.size())
    fail("attn::spec::Sequences: ", queries.size(), " offsets of queries and ", keys.size(),
         " of keys; as many of each are accepted");
  Sequences result;
  result.device_ = device;
  result.count_ = static_cast<std::int64_t>(queries.size()) - 1;
  for (std::size_t b = 0; b + 1 < queries.size(); ++b) {
    const std::int64_t n = queries[b + 1] - queries[b];
    const std::int64_t m = keys[b + 1] - keys[b];
    result.uneven_ = result.uneven_ || m - n != keys[1] - queries[1];
    result.longest_queries_ = std::max(result.longest_queries_, n);
    result.longest_keys_ = std::max(result.longest_keys_, m);
  }
  result.lists_ = std::make_shared<Lists>();
  Lists& lists = *result.lists_;
  lists.queries = std::move(queries);
  lists.keys = std::move(keys);
  result.packing_ = {on(device, lists.queries, lists.rooms[0]),
                     on(device, lists.keys, lists.rooms[1]), result.count_};
  return result;
}

Sequences Sequences::paged(std::vector<std::int32_t> table, std::int64_t pages_each,
                           std::vector<std::int64_t> lengths, Device device) {
  if (pages_each < 1 || table.size() != lengths.size() * static_cast<std::size_t>(pages_each))
    fail("attn::spec::Sequences: a table of ", table.size(), " entries for ", lengths.size(),
         " sequences of ", pages_each, " pages; one a page is accepted");
  Sequences result;
  result.device_ = device;
  result.count_ = static_cast<std::int64_t>(lengths.size());
  for (const std::int64_t length : lengths) {
    result.uneven_ = result.uneven_ || length != lengths.front();
    result.longest_keys_ = std::max(result.longest_keys_, length);
  }
  result.lists_ = std::make_shared<Lists>();
  Lists& lists = *result.lists_;
  lists.lengths = std::move(lengths);
  lists.table = std::move(table);
  result.paging_ = {on(device, lists.table, lists.rooms[0]), pages_each,
                    on(device, lists.lengths, lists.rooms[1])};
  return result;
}

Sequences Sequences::cached(std::vector<std::int64_t> lengths) {
  Sequences result;
  result.cached_ = true;
  result.count_ = static_cast<std::int64_t>(lengths.size());
  for (const std::int64_t length : lengths) {
    if (length < 0)
      fail("attn::spec::Sequences: a length of ", length, "; 0 and more are accepted");
    result.uneven_ = result.uneven_ || length != lengths.front();
    result.longest_keys_ = std::max(result.longest_keys_, length);
  }
  result.lists_ = std::make_shared<Lists>();
  result.lists_->lengths = std::move(lengths);
  return result;
}

Mask Sequences::seen(std::int64_t queries) const {
  // All hold as much: one query sees everything, and more have an offset in common.
  if (!uneven_) return queries == 1 ? Mask() : causal();
  std::vector<std::int64_t> keys;
  keys.reserve(lists_->lengths.size() * static_cast<std::size_t>(queries));
  for (const std::int64_t length : lists_->lengths)
    for (std::int64_t i = 0; i < queries; ++i)
      keys.push_back(std::max<std::int64_t>(0, length - queries + i + 1));
  return spec::lengths(queries == 1 ? Tensor::from(keys, {count_})
                                    : Tensor::from(keys, {count_, queries}));
}

void Sequences::check_pages(std::int64_t pages, std::int64_t page_size) const {
  const auto each = static_cast<std::size_t>(paging_.stride);
  for (std::size_t b = 0; b < lists_->lengths.size(); ++b) {
    const std::int64_t length = lists_->lengths[b];
    if (length < 0 || length > paging_.stride * page_size)
      fail("attn::attend: sequence ", b, " has ", length, " keys; its ", each,
           " pages hold 0..", paging_.stride * page_size);
    for (std::size_t p = 0; static_cast<std::int64_t>(p) * page_size < length; ++p) {
      const std::int32_t page = lists_->table[b * each + p];
      if (page < 0 || page >= pages)
        fail("attn::attend: page ", p, " of sequence ", b, " is ", page,
             "; there are pages 0..", pages - 1);
    }
  }
}

}  // namespace attn::spec
