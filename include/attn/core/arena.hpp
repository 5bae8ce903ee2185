/// Arena: scratch memory of one thread, kept between calls so that kernels allocate nothing
/// large while they work.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <memory>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn {

/// Aligned blocks handed out one behind the other, all taken back at once.
class Arena {
 public:
  /// The calling thread's own arena.
  static Arena& local();

  /// Takes everything back and makes sure that `bytes` can be handed out; may move the memory.
  void reset(std::size_t bytes);

  /// `count` elements, aligned to 64 bytes, not initialised. Within what reset() promised.
  template <class T>
  T* take(std::size_t count) {
    return static_cast<T*>(take_bytes(count * sizeof(T)));
  }

  /// Bytes that `count` elements occupy in an arena.
  template <class T>
  static constexpr std::size_t room(std::size_t count) {
    return (count * sizeof(T) + kAlign - 1) / kAlign * kAlign;
  }

  /// Gives the memory back to the system.
  void release();

  std::size_t capacity() const { return capacity_; }

 private:
  static constexpr std::size_t kAlign = 64;
  struct Free {
    void operator()(void* memory) const;
  };

  void* take_bytes(std::size_t bytes);

  std::unique_ptr<void, Free> memory_;
  std::size_t capacity_ = 0;
  std::size_t used_ = 0;
};

}  // namespace attn
