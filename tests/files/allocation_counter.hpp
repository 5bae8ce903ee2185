/// Replaces operator new in this program by one that counts. Include it in one file only.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace attn::files {

/// Bytes asked of operator new on this thread, those given back too.
inline thread_local std::size_t allocated = 0;

inline void* counted(std::size_t size, std::align_val_t alignment) noexcept {
  allocated += size;
  const auto step = static_cast<std::size_t>(alignment);
  return std::aligned_alloc(step, (std::max<std::size_t>(size, 1) + step - 1) / step * step);
}

inline void* counted_or_throw(std::size_t size, std::align_val_t alignment) {
  void* memory = counted(size, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

inline constexpr std::align_val_t kUsual{alignof(std::max_align_t)};

}  // namespace attn::files

// Every form, because the address sanitizer's own would not call these; and not inlined, or
// g++ 12 takes the pairs of new and free for a mistake.
[[gnu::noinline]] void* operator new(std::size_t size) {
  return attn::files::counted_or_throw(size, attn::files::kUsual);
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  return attn::files::counted_or_throw(size, alignment);
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return attn::files::counted(size, attn::files::kUsual);
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment,
                                     const std::nothrow_t&) noexcept {
  return attn::files::counted(size, alignment);
}
[[gnu::noinline]] void* operator new[](std::size_t size) {
  return attn::files::counted_or_throw(size, attn::files::kUsual);
}
[[gnu::noinline]] void* operator new[](std::size_t size, std::align_val_t alignment) {
  return attn::files::counted_or_throw(size, alignment);
}
[[gnu::noinline]] void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return attn::files::counted(size, attn::files::kUsual);
}
[[gnu::noinline]] void* operator new[](std::size_t size, std::align_val_t alignment,
                                       const std::nothrow_t&) noexcept {
  return attn::files::counted(size, alignment);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t,
                                       const std::nothrow_t&) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::align_val_t,
                                         const std::nothrow_t&) noexcept {
  std::free(memory);
}
