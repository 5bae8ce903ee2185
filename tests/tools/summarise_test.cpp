// attn summarise takes a text or a file as its argument.

#include <gtest/gtest.h>

#include <string>

#include "tasks/scratch.hpp"
#include "tools/attn/command.hpp"
#include "tools/say.hpp"

namespace attn::tools {
namespace {

const std::string kDescription =
    "Frobnix is a fast web server that needs little memory. It serves static files.";

TEST(Summarise, ReadsATextThatIsGivenAsAnArgument) {
  const Said named = say({"summarise", "--text", kDescription, "--beam", "1"});
  ASSERT_EQ(named.status, success) << named.err;
  ASSERT_FALSE(named.out.empty());
  EXPECT_EQ(say({"summarise", kDescription, "--beam", "1"}).out, named.out);
  EXPECT_EQ(say({"summarize", kDescription, "--beam", "1"}).out, named.out)
      << "as Americans spell it";
  const tasks::Scratch scratch;
  const std::string file = scratch.write("a file with spaces.txt", kDescription).string();
  EXPECT_EQ(say({"summarise", file, "--beam", "1"}).out, named.out) << "a file is a file";
}

TEST(Summarise, AMissingFileSaysHowATextIsGiven) {
  for (const char* name : {"nofile.txt", "no/such", "nofile"}) {
    const Said said = say({"summarise", name});
    EXPECT_EQ(said.status, failure) << name;
    EXPECT_EQ(said.out, "");
    EXPECT_NE(said.err.find("cannot be opened"), std::string::npos) << said.err;
    EXPECT_NE(said.err.find("--text"), std::string::npos) << said.err;
  }
}

}  // namespace
}  // namespace attn::tools
