#include "tools/attn/invocation.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>  // setenv

#include <string>

#include "tools/attn/command.hpp"
#include "tools/say.hpp"

namespace attn::tools {
namespace {

/// The program as the launcher starts it.
class InvokedAs {
 public:
  explicit InvokedAs(const char* typed) { setenv("ATTN_INVOKED_AS", typed, 1); }
  ~InvokedAs() { unsetenv("ATTN_INVOKED_AS"); }
  InvokedAs(const InvokedAs&) = delete;
};

TEST(Invocation, IsWhatTheUserTyped) {
  EXPECT_EQ(invocation(), "attn");
  const InvokedAs launcher("./attn");
  EXPECT_EQ(invocation(), "./attn");
  const InvokedAs spaced("../my folder/attn");
  EXPECT_EQ(invocation(), "'../my folder/attn'");
}

TEST(Invocation, StandsInCommandLinesAndNowhereElse) {
  const InvokedAs launcher("./attn");
  EXPECT_EQ(as_invoked("Score it: attn eval pronounce"), "Score it: ./attn eval pronounce");
  EXPECT_EQ(as_invoked("'attn mechanisms' lists them, `attn info` too"),
            "'./attn mechanisms' lists them, `./attn info` too");
  EXPECT_EQ(as_invoked("Run 'attn --help'; attn help train"),
            "Run './attn --help'; ./attn help train");
  for (const char* text :
       {"attn is attention for C++", "attn train: --begin is missing", "./attn train",
        "attn-bench eval", "pattn eval", "attn", "", "attn "})
    EXPECT_EQ(as_invoked(text), text);
}

TEST(Invocation, HelpAndHintsRepeatIt) {
  const InvokedAs launcher("./attn");
  EXPECT_NE(say({"--help"}).out.find("    ./attn translate \""), std::string::npos);
  const std::string help = say({"translate", "--help"}).out;
  EXPECT_NE(help.find("Usage: ./attn translate "), std::string::npos) << help;
  EXPECT_EQ(help.find("    attn "), std::string::npos) << help;
  EXPECT_NE(say({"zzz"}).err.find("Run './attn --help'"), std::string::npos);
  EXPECT_NE(say({"mechanisms", "rotary"}).out.find(": ./attn gradcheck rotary"),
            std::string::npos);
  EXPECT_NE(say({"gradcheck", "qqqqqq"}).err.find("'./attn mechanisms' lists them"),
            std::string::npos);
}

}  // namespace
}  // namespace attn::tools
