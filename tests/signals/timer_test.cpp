// A signal handler may run at any moment of a matrix product.

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "signals/child.hpp"

namespace attn::test {
namespace {

TEST(Timer, AHandlerMayRunAtAnyMomentOfAProduct) {
  const auto log =
      std::filesystem::path(testing::TempDir()) /
      ("attn_timer_" + std::to_string(::testing::UnitTest::GetInstance()->random_seed()));
  for (int again = 0; again < 20; ++again) {
    Child child({ATTN_TIMER_PROGRAM, "0.25"}, log);
    EXPECT_EQ(child.end(std::chrono::seconds(60)), "exit 0")
        << "run " << again << " of 20: " << child.printed();
  }
  std::filesystem::remove(log);
}

}  // namespace
}  // namespace attn::test
