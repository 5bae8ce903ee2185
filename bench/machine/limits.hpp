/// Limits: what this machine can do at most, measured beside the rows, never assumed.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data.hpp"
#include "isa/kernels.hpp"
#include "team.hpp"

namespace attn::bench {

/// FLOP/s of multiply-adds in registers; bytes/s read; bytes/s of a = b + s·c, three a float.
enum class Limit { none, multiply_add, read, triad };
std::string_view name_of(Limit limit);

class Limits {
 public:
  struct Key {
    Limit limit;
    std::string set;
    int threads;
    auto operator<=>(const Key&) const = default;
  };

  /// One sample, some tens of milliseconds. Returns its rate and remembers it.
  double sample(Limit limit, const Kernels& kernels, int threads);

  /// The best sample so far: a shared machine can only make a sample slower. 0 without one.
  double best(const Key& key) const;

  /// best / median - 1.
  double noise(const Key& key) const;

  const std::map<Key, std::vector<double>>& samples() const { return samples_; }

 private:
  double multiply_add(const Kernels& kernels, int threads);
  double stream(Limit limit, const Kernels& kernels, int threads);
  Team& team(int threads);

  std::map<Key, std::vector<double>> samples_;
  std::map<int, std::unique_ptr<Team>> teams_;
  Buffer a_, b_, c_;
};

}  // namespace attn::bench
