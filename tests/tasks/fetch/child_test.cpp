#include "attn/tasks/fetch/child.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "attn/files/read_file.hpp"
#include "tasks/scratch.hpp"

namespace attn::tasks {
namespace {

TEST(Child, OutputAndComplaintsGoWhereTheyWereSent) {
  const Scratch scratch;
  const auto out = scratch.path() / "out";
  const auto errors = scratch.path() / "errors";
  const std::vector<std::string> command{"sh", "-c", "echo good; echo bad >&2; exit $0", "0"};
  EXPECT_EQ(run_program(command, out, errors), Ended::well);
  EXPECT_EQ(files::read_text(out, 100), "good\n");
  EXPECT_EQ(complaint(errors), "bad");
  EXPECT_EQ(run_program(command, out), Ended::well);
  EXPECT_EQ(files::read_text(out, 100), "good\nbad\n");
}

TEST(Child, FailureAndAbsenceAreToldApart) {
  const Scratch scratch;
  EXPECT_EQ(run_program({"sh", "-c", "exit 3"}, scratch.path() / "out"), Ended::badly);
  EXPECT_EQ(run_program({"sh", "-c", "kill -9 $$"}, scratch.path() / "out"), Ended::badly);
  EXPECT_EQ(run_program({"attn-no-such-program"}, scratch.path() / "out"), Ended::not_started);
}

TEST(Child, AComplaintIsShortAndPrintable) {
  const Scratch scratch;
  std::string log(5000, 'x');
  log += "\n\x1b[31mlast\n";
  const std::string shown = complaint(scratch.write("log", log));
  EXPECT_LE(shown.size(), 420u);
  EXPECT_EQ(shown.find('\x1b'), std::string::npos);
  EXPECT_NE(shown.find("last"), std::string::npos);
  EXPECT_EQ(complaint(scratch.path() / "none"), "");
}

}  // namespace
}  // namespace attn::tasks
