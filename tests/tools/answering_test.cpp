// Texts and lines, with the models that ship.

#include "tools/attn/answering.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <streambuf>
#include <string>
#include <vector>

#include "tools/attn/command.hpp"
#include "tools/say.hpp"

namespace attn::tools {
namespace {

/// Standard input for the life of it.
class Input {
 public:
  explicit Input(std::streambuf* buffer) : before_(std::cin.rdbuf(buffer)) {}
  ~Input() {
    std::cin.rdbuf(before_);  // clears its state, too
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

 private:
  std::streambuf* before_;
};

/// A line, and then what a folder or a broken disk gives.
class Broken : public std::stringbuf {
 public:
  Broken() : std::stringbuf("cat\n") {}

 protected:
  int_type underflow() override {
    if (gptr() != egptr()) return std::stringbuf::underflow();
    throw std::runtime_error("cannot be read");
  }
};

class Answering : public testing::Test {
 protected:
  Answering() { setenv("ATTN_MODELS", ATTN_SHIPPED_MODELS, 1); }
  ~Answering() override { unsetenv("ATTN_MODELS"); }
};

TEST_F(Answering, WhatCameBeforeAWrongLineHasBeenAnswered) {
  std::istringstream text("cat\ndog\n" + std::string(70000, 'a') + "\ncat\n");
  const Input input(text.rdbuf());
  const Said said = say({"pronounce", "-"});
  EXPECT_EQ(said.status, failure);
  EXPECT_EQ(said.out.find("K AE T\n"), 0u) << said.out;
  EXPECT_EQ(said.out.find("K AE T\n", 1), std::string::npos) << "what came behind it";
  EXPECT_NE(said.err.find("line 3 of standard input is a word of 70000 letters"),
            std::string::npos)
      << said.err;
}

TEST_F(Answering, InputThatCannotBeReadIsAnError) {
  Broken buffer;
  const Input input(&buffer);
  const Said said = say({"pronounce", "-"});
  EXPECT_EQ(said.status, failure);
  EXPECT_EQ(said.out, "K AE T\n");
  EXPECT_NE(said.err.find("standard input cannot be read"), std::string::npos) << said.err;
}

TEST_F(Answering, AnOverlongWordIsNamed) {
  const Said said = say({"pronounce", "cat", std::string(70000, 'a')});
  EXPECT_EQ(said.status, failure);
  EXPECT_NE(said.err.find("text 2 is a word of 70000 letters"), std::string::npos) << said.err;
}

TEST_F(Answering, FlagsThatDoNotGoTogetherAreWrongUsage) {
  const std::vector<std::vector<std::string>> wrong{
      {"pronounce", "-", "cat"},
      {"embed", "-", "cat"},
      {"pronounce", "cat", "--best", "5", "--beam", "2"},
      {"pronounce", "cat", "--temperature", "1", "--beam", "4"},
      {"pronounce", "cat", "--weights"},
      {"pronounce", "cat", "--heads", "all"},
      {"explain", "pronounce", "cat", "--html", "x.html", "--best", "3", "--beam", "2"}};
  for (const auto& arguments : wrong) {
    const Said said = say(arguments);
    EXPECT_EQ(said.status, usage) << arguments[0] << " " << arguments.back();
    EXPECT_EQ(said.out, "");
    EXPECT_NE(said.err, "");
  }
  EXPECT_NE(say({"pronounce", "-", "cat"}).err.find("stands alone"), std::string::npos);
  EXPECT_EQ(say({"pronounce", "cat", "--temperature", "1", "--beam", "1"}).status, success);
}

}  // namespace
}  // namespace attn::tools
