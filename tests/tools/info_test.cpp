// attn info tells what this machine and this build can do.

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

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

TEST(Info, TellsTheRouteOfACall) {
  const auto first_lines = [](const std::string& query, bool gpu) {
    std::vector<std::string> words{"info", "--route", query};
    if (gpu) words.insert(words.end(), {"--device", "gpu"});
    return say(words).out;
  };
  const struct {
    const char* query;
    const char* cpu;
    const char* gpu;
  } kCalls[] = {
      {"bf16 causal 1x16x4096x128", "cpu_packed", "gpu_hopper"},
      {"f32 1x8x1x65536x128", "cpu_decode", "gpu_decode"},
      {"f32 additive 8x1x128x512x256", "cpu_additive", "gpu_additive"},
      {"f16 causal dropout train 1x16x4096x128", "cpu_packed", "gpu_tiles"},
      {"bf16 softcap window=512 1x16x4096x128", "cpu_packed", "gpu_general"},
      {"f32 weights 2x8x64x64", "cpu_packed", "gpu_matrix"},
      {"f32 sparsemax 2x8x64x64", "cpu_packed", "gpu_rows"},
      {"f64 2x8x64x64", "reference", "gpu_rows"},
      {"bf16 paged kv_heads=2 4x8x1x4096x128", "cpu_decode", "gpu_decode"},
      {"f32 linear 1x8x4096x64", "cpu_linear", "gpu_linear"},
      {"f32 linear train 1x8x4096x128", "cpu_chunks", "gpu_chunks"},
  };
  for (const auto& call : kCalls) {
    EXPECT_EQ(first_lines(call.query, false).find("route " + std::string(call.cpu) + "\nwhy "),
              0u)
        << first_lines(call.query, false);
    EXPECT_EQ(first_lines(call.query, true).find("route " + std::string(call.gpu) + "\nwhy "),
              0u)
        << first_lines(call.query, true);
  }
}

TEST(Info, RefusesACallThatItDoesNotKnow) {
  for (const char* query : {"bf16 caual 1x2x3x4", "bf16 1x2x3", "bf16", "bf16 1x2x0x4",
                            "f32 window= 1x2x3x4", "f32 kv_heads=3 1x4x5x6"}) {
    const auto said = say({"info", "--route", query});
    EXPECT_NE(said.status, 0) << query;
    EXPECT_NE(said.err.find("accepted"), std::string::npos) << said.err;
  }
}

}  // namespace
}  // namespace attn::tools
