/// TeamScratch: one piece of the calling thread's arena for each worker of a call, so that
/// memory runs out before the work starts or not at all.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>

#include "attn/core/arena.hpp"

namespace attn::cpu {

class TeamScratch {
 public:
  /// `bytes` for each of `workers`, and `shared` bytes for all together.
  TeamScratch(std::size_t bytes, int workers, std::size_t shared = 0)
      : bytes_(Arena::room<std::byte>(bytes)) {
    Arena& arena = Arena::local();
    const std::size_t pieces = bytes_ * static_cast<std::size_t>(workers);
    arena.reset(pieces + Arena::room<std::byte>(shared));
    shared_ = arena.take<std::byte>(shared);
    pieces_ = arena.take<std::byte>(pieces);
  }

  std::byte* of(int worker) const {
    return pieces_ + bytes_ * static_cast<std::size_t>(worker);
  }
  std::byte* shared() const { return shared_; }

 private:
  std::size_t bytes_;
  std::byte* shared_;
  std::byte* pieces_;
};

}  // namespace attn::cpu
