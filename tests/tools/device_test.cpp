// --device is a flag of every command that computes with tensors, and one error without a GPU.

#include "tools/attn/device.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "attn/kernels/gpu/device.hpp"
#include "tasks/scratch.hpp"
#include "tools/attn/command.hpp"
#include "tools/say.hpp"

namespace attn::tools {
namespace {

using Words = std::vector<std::string>;

/// A call of each command, writing into `out` if at all.
std::vector<Words> calls_of_every_command(const std::string& out) {
  return {{"pronounce", "word"},
          {"translate", "word"},
          {"summarise", "--text", "word"},
          {"caption", "--sample", "1"},
          {"train", "pronounce", "--out", out},
          {"train", "caption", "--out", out},
          {"eval", "pronounce"},
          {"eval", "caption"},
          {"compare", "pronounce", "--out", out},
          {"gradcheck", "--all"},
          {"regress", "co2", "--out", out},
          {"gallery", "--out", out},
          {"explain", "pronounce", "word", "--html", out},
          {"embed", "word"},
          {"serve"},
          {"conformance", out}};
}

TEST(DeviceFlag, EveryCommandThatComputesSaysWhatIsMissing) {
  if (gpu::available()) GTEST_SKIP() << "there is a GPU";
  const tasks::Scratch scratch;
  const std::string out = scratch.path() / "out";
  for (Words call : calls_of_every_command(out)) {
    call.insert(call.end(), {"--device", "gpu"});
    const Said said = say(call);
    EXPECT_EQ(said.status, failure) << call[0];
    EXPECT_NE(said.err.find("attn " + call[0]), std::string::npos) << said.err;
    EXPECT_NE(said.err.find(": --device gpu cannot be used here: "), std::string::npos)
        << said.err;
    EXPECT_EQ(said.err.find("none"), std::string::npos) << said.err;
    EXPECT_FALSE(std::filesystem::exists(out)) << call[0];
  }
}

TEST(DeviceFlag, IsInTheHelpAndTakesTwoNames) {
  for (Words call : calls_of_every_command("out")) {
    const std::string help = say({call[0], "--help"}).out;
    EXPECT_NE(help.find("--device cpu|gpu"), std::string::npos) << call[0];
    call.insert(call.end(), {"--device", "abacus"});
    EXPECT_EQ(say(call).status, usage) << call[0];
  }
}

}  // namespace
}  // namespace attn::tools
