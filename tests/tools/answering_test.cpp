// Texts and lines, with the models that ship.

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
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
class InputStream {
 public:
  explicit InputStream(std::streambuf* buffer) : before_(std::cin.rdbuf(buffer)) {}
  ~InputStream() {
    std::cin.rdbuf(before_);  // clears its state, too
  }
  InputStream(const InputStream&) = delete;
  InputStream& operator=(const InputStream&) = delete;

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

TEST_F(Answering, ARefusedLineHasAnEmptyLineAndTheOthersTheirAnswers) {
  std::istringstream text("cat\n" + std::string(70000, 'a') + "\n\n\xff\n" +
                          std::string("d\0g\n", 4) + "dog\n");
  const InputStream input(text.rdbuf());
  const Said said = say({"pronounce", "-"});
  EXPECT_EQ(said.status, failure);
  EXPECT_EQ(said.out, "K AE T\n\n\n\n\nD AO G\n");
  for (const char* problem :
       {"line 2 of standard input is a word of 70000 letters",
        "line 4 of standard input is not UTF-8", "line 5 of standard input has a NUL byte"})
    EXPECT_NE(said.err.find(problem), std::string::npos) << problem << " in\n" << said.err;
  EXPECT_EQ(said.err.find("line 3"), std::string::npos) << said.err;
}

TEST_F(Answering, ARefusedLineIsAnObjectInJson) {
  std::istringstream text("cat\n\xff\n");
  const InputStream input(text.rdbuf());
  std::istringstream lines(say({"pronounce", "-", "--json"}).out);
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_EQ(nlohmann::json::parse(line).at("answer"), "K AE T");
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_NE(nlohmann::json::parse(line).at("error").get<std::string>().find("line 2"),
            std::string::npos);
  EXPECT_FALSE(std::getline(lines, line));
}

TEST_F(Answering, AHeatMapLeavesJsonAloneAndTellsTheAnswerOnce) {
  const Said json = say({"pronounce", "cat", "--json", "--show"});
  EXPECT_EQ(nlohmann::json::parse(json.out).at("answer"), "K AE T");
  EXPECT_NE(json.err.find("columns"), std::string::npos) << json.err;
  const Said shown = say({"pronounce", "cat", "--show"});
  EXPECT_NE(shown.out.find("columns"), std::string::npos) << shown.out;
  EXPECT_EQ(shown.out.find("K AE T"), shown.out.rfind("K AE T")) << shown.out;
}

TEST_F(Answering, WhatWasCutIsTold) {
  std::string text = "This package is a tool";
  for (int i = 0; i < 300; ++i) text += " and a library";
  const Said said = say({"summarise", "--text", text, "--json"});
  EXPECT_EQ(said.status, success);
  const auto json = nlohmann::json::parse(said.out);
  EXPECT_TRUE(json.at("cut").get<bool>());
  EXPECT_TRUE(json.at("pieces").at(0).at("cut").get<bool>());
  EXPECT_NE(json.at("notes").at(0).get<std::string>().find("Only the first"),
            std::string::npos);
  EXPECT_NE(said.err.find("text 1: Only the first"), std::string::npos) << said.err;
}

/// The program with pipes at both ends.
class CoProcess {
 public:
  CoProcess() {
    int to[2];
    int from[2];
    if (::pipe(to) != 0 || ::pipe(from) != 0) throw std::runtime_error("no pipe");
    child_ = ::fork();
    if (child_ == 0) {
      ::dup2(to[0], STDIN_FILENO);
      ::dup2(from[1], STDOUT_FILENO);
      for (const int end : {to[0], to[1], from[0], from[1]}) ::close(end);
      ::execl(ATTN_PROGRAM, "attn", "pronounce", "-", nullptr);
      ::_exit(127);
    }
    ::close(to[0]);
    ::close(from[1]);
    in_ = to[1];
    out_ = from[0];
  }
  ~CoProcess() {
    ::close(in_);
    ::close(out_);
    ::waitpid(child_, nullptr, 0);
  }
  CoProcess(const CoProcess&) = delete;
  CoProcess& operator=(const CoProcess&) = delete;

  bool write(const std::string& text) const {
    return ::write(in_, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  }

  /// One line, or what came of it within half a minute.
  std::string line() const {
    std::string text;
    pollfd waiting{.fd = out_, .events = POLLIN, .revents = 0};
    char c = 0;
    while (::poll(&waiting, 1, 30000) > 0 && ::read(out_, &c, 1) == 1) {
      text += c;
      if (c == '\n') break;
    }
    return text;
  }

 private:
  pid_t child_ = -1;
  int in_ = -1;
  int out_ = -1;
};

TEST_F(Answering, WhoeverWaitsForALineGetsItsAnswer) {
  const CoProcess program;
  ASSERT_TRUE(program.write("cat\n"));
  EXPECT_EQ(program.line(), "K AE T\n");
  ASSERT_TRUE(program.write("dog\ncat\n"));
  EXPECT_EQ(program.line(), "D AO G\n");
  EXPECT_EQ(program.line(), "K AE T\n");
}

TEST_F(Answering, InputThatCannotBeReadIsAnError) {
  Broken buffer;
  const InputStream input(&buffer);
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
