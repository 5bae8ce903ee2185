/// The numbers a problem is run on: the same bits in every program that asks for them.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "problem.hpp"  // IWYU pragma: export

namespace attn::bench {

/// Floats on a cache-line boundary, every page touched.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::int64_t size);

  float* data() const { return data_.get(); }
  std::int64_t size() const { return size_; }
  std::span<float> span() const { return {data_.get(), static_cast<std::size_t>(size_)}; }

 private:
  struct Free {
    void operator()(float* data) const;
  };
  std::unique_ptr<float[], Free> data_;
  std::int64_t size_ = 0;
};

/// Fills with numbers of mean 0 and the given deviation; `seed` names the stream.
void fill(Buffer& buffer, std::uint64_t seed, float deviation);

/// Inputs by role. Additive uses the projections and `weight`; dot leaves them empty.
struct Data {
  Buffer q, k, v, grad_out;
  Buffer query_projection, key_projection, weight;  ///< [d, d] as y = x W, [d, d], [d]
};
Data make_data(const Problem& problem);

/// What a contender computed, by name: out, dq, dk, dv and, for additive, dwq, dwk, dw.
/// Dot gives the last head of the last batch; additive gives everything.
using Witness = std::map<std::string, std::vector<float>>;

}  // namespace attn::bench
