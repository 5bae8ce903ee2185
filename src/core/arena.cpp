#include "attn/core/arena.hpp"

#include <cstddef>
#include <cstdlib>
#include <limits>
#include <new>

#include "attn/core/macros.hpp"

namespace attn {

void Arena::Free::operator()(void* memory) const {
  std::free(memory);
}

Arena& Arena::local() {
  static thread_local Arena arena;
  return arena;
}

void Arena::reset(std::size_t bytes) {
  used_ = 0;
  if (bytes <= capacity_) return;
  release();
  // Rounding up must not wrap around to a block of nothing.
  if (bytes > std::numeric_limits<std::size_t>::max() - kAlign) throw std::bad_alloc();
  const std::size_t rounded = (bytes + kAlign - 1) / kAlign * kAlign;
  memory_.reset(std::aligned_alloc(kAlign, rounded));
  if (!memory_) throw std::bad_alloc();
  capacity_ = rounded;
}

void* Arena::take_bytes(std::size_t bytes) {
  ATTN_ASSERT(used_ + bytes <= capacity_);
  void* block = static_cast<std::byte*>(memory_.get()) + used_;
  used_ += (bytes + kAlign - 1) / kAlign * kAlign;
  return block;
}

void Arena::release() {
  memory_.reset();
  capacity_ = 0;
  used_ = 0;
}

}  // namespace attn
