/// Problem: what is computed, and its name. Shared by the bench and by peers in programs of
/// their own, so that `backward/b:4/h:8/n:1024/d:64` means the same to both.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>
#include <string_view>

namespace attn::bench {

enum class Family { dot, additive };
enum class Pass { forward, backward, both };
enum class Keep { all, causal, window };

/// Dot: q [b, h, n, d], k and v [b, h, m, d], softmax(q kᵀ / √d) v.
/// Additive: q [b, n, d], k and v [b, m, d], two projections d × d, scores w · tanh(q + k).
struct Problem {
  Family family = Family::dot;
  Pass pass = Pass::forward;
  Keep keep = Keep::all;
  std::int64_t batch = 1;
  std::int64_t heads = 1;
  std::int64_t queries = 1;
  std::int64_t keys = 1;
  std::int64_t dim = 1;
  std::int64_t window =
      0;  ///< Keep::window: a query sees its own key and window - 1 before it.
};

/// For example `forward_causal/b:1/h:8/n:4096/d:64`; `m:` is left out where it equals `n:`.
std::string name(const Problem& problem);

/// The inverse of name(). Throws std::invalid_argument on anything else.
Problem parse_problem(std::string_view text);

/// The keys that query `i` sees: [first, last). Causal is aligned bottom-right.
struct Range {
  std::int64_t first;
  std::int64_t last;
};
Range kept(const Problem& problem, std::int64_t i);

/// Query-key pairs of one head that the mask keeps.
double kept_pairs(const Problem& problem);

/// The arithmetic every implementation must do: 4·d a pair forward, 10·d backward (scores are
/// recomputed there); masked pairs are not counted. Additive counts tanh, one a pair and unit.
double work(const Problem& problem);

/// The bytes that must be read at least once: keys and values.
double key_bytes(const Problem& problem);

/// The bytes of everything the caller provides: inputs, outputs, gradients.
double given_bytes(const Problem& problem);

}  // namespace attn::bench
