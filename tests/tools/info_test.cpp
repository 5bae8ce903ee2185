// attn info tells what this machine and this build can do.

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "tools/say.hpp"

namespace attn::tools {
namespace {

TEST(Info, TellsOfANumberOfThreadsThatIsNotUsed) {
  // The pool has read it long ago; what `info` says of it is asked here.
  const char* before = std::getenv("ATTN_THREADS");
  const std::string kept = before == nullptr ? "" : before;
  for (const char* wrong : {"abc", "-1", "0", ""}) {
    ASSERT_EQ(setenv("ATTN_THREADS", wrong, 1), 0);
    const std::string said = say({"info"}).out;
    EXPECT_NE(said.find("ATTN_THREADS=" + std::string(wrong) + " is not used"),
              std::string::npos)
        << said;
  }
  ASSERT_EQ(setenv("ATTN_THREADS", "2", 1), 0);
  EXPECT_EQ(say({"info"}).out.find("is not used"), std::string::npos);
  if (before == nullptr) {
    unsetenv("ATTN_THREADS");
  } else {
    setenv("ATTN_THREADS", kept.c_str(), 1);
  }
}

}  // namespace
}  // namespace attn::tools
