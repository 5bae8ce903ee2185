// An arena gives aligned blocks, keeps its memory between calls, and belongs to one thread.

#include "attn/core/arena.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <thread>

namespace attn {
namespace {

TEST(Arena, BlocksAreAlignedAndApart) {
  Arena arena;
  arena.reset(Arena::room<char>(1) + Arena::room<double>(9) + Arena::room<float>(3));
  auto* a = arena.take<char>(1);
  auto* b = arena.take<double>(9);
  auto* c = arena.take<float>(3);
  for (const void* block :
       {static_cast<void*>(a), static_cast<void*>(b), static_cast<void*>(c)})
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 64, 0u);
  std::memset(a, 1, 1);
  std::memset(b, 2, 9 * sizeof(double));
  std::memset(c, 3, 3 * sizeof(float));
  EXPECT_EQ(*a, 1);
  EXPECT_EQ(*reinterpret_cast<unsigned char*>(b + 8), 2);
}

TEST(Arena, ResetTakesEverythingBackAndKeepsTheMemory) {
  Arena arena;
  arena.reset(1000);
  EXPECT_GE(arena.capacity(), 1000u);
  const std::size_t capacity = arena.capacity();
  void* first = arena.take<char>(500);
  arena.reset(10);
  EXPECT_EQ(arena.capacity(), capacity);
  EXPECT_EQ(arena.take<char>(10), first);
  arena.reset(capacity + 1);
  EXPECT_GT(arena.capacity(), capacity);
}

TEST(Arena, ReleaseGivesTheMemoryBack) {
  Arena arena;
  arena.reset(4096);
  arena.release();
  EXPECT_EQ(arena.capacity(), 0u);
  arena.reset(0);
  EXPECT_EQ(arena.capacity(), 0u);
}

TEST(Arena, RoomIsAWholeNumberOfLines) {
  EXPECT_EQ(Arena::room<float>(0), 0u);
  EXPECT_EQ(Arena::room<float>(1), 64u);
  EXPECT_EQ(Arena::room<float>(16), 64u);
  EXPECT_EQ(Arena::room<float>(17), 128u);
}

TEST(Arena, ASizeThatRoundsPastTheLargestThrowsAndLeavesTheArenaUsable) {
  Arena arena;
  arena.reset(64);
  EXPECT_THROW(arena.reset(std::numeric_limits<std::size_t>::max()), std::bad_alloc);
  arena.reset(128);
  EXPECT_NE(arena.take<char>(128), nullptr);
}

TEST(Arena, EveryThreadHasItsOwn) {
  Arena* here = &Arena::local();
  Arena* there = nullptr;
  std::thread([&] { there = &Arena::local(); }).join();
  EXPECT_NE(here, there);
  EXPECT_EQ(here, &Arena::local());
}

}  // namespace
}  // namespace attn
