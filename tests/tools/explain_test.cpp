// attn explain writes one file, and no text can leave its data block.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "attn/core/error.hpp"
#include "tasks/scratch.hpp"
#include "tools/attn/command.hpp"
#include "tools/say.hpp"
#include "tools/serve/assets.hpp"
#include "tools/serve/offline.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;

/// What a browser takes for the content of the data block.
std::string data_block(const std::string& page) {
  const std::string open = R"(<script id="attn-data" type="application/json">)";
  const auto begin = page.find(open);
  if (begin == std::string::npos) return "";
  const auto from = begin + open.size();
  return page.substr(from, page.find("</script>", from) - from);
}

TEST(Offline, NoTextCanLeaveTheDataBlock) {
  const nlohmann::json data{
      {"text", "</script><script>alert(1)</script> <!-- & \xe2\x80\xa8 \xe2\x80\xa9 ]]> é"}};
  const std::string safe = serve::script_safe(data);
  EXPECT_EQ(safe.find_first_of("<>&"), std::string::npos) << safe;
  EXPECT_EQ(safe.find("\xe2\x80"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(safe), data);
  const std::string page =
      serve::with_data("<html><!--attn-data--><script>go()</script></html>", data);
  EXPECT_EQ(nlohmann::json::parse(data_block(page)), data);
  EXPECT_NE(page.find("</script><script>go()</script></html>"), std::string::npos);
  EXPECT_THROW(serve::with_data("<html></html>", data), FileError);
}

TEST(Explain, WritesOneFileOrSaysWhatIsMissing) {
  const tasks::Scratch scratch;
  const fs::path file = scratch.path() / "answer.html";
  ASSERT_EQ(setenv("ATTN_MODELS", ATTN_SHIPPED_MODELS, 1), 0);
  const Said said =
      say({"explain", "pronounce", "cat", "--best", "2", "--html", file.string()});
  unsetenv("ATTN_MODELS");
  if (!serve::has_page()) {
    EXPECT_EQ(said.status, failure);
    EXPECT_NE(said.err.find("npm"), std::string::npos) << said.err;
    EXPECT_FALSE(fs::exists(file));
    return;
  }
  ASSERT_EQ(said.status, success) << said.err;
  EXPECT_EQ(said.out, "K AE T\n");
  std::ifstream in(file);
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  const auto data = nlohmann::json::parse(data_block(page));
  EXPECT_EQ(data.at("task"), "pronounce");
  EXPECT_EQ(data.at("text"), "cat");
  EXPECT_EQ(data.at("answers").size(), 2u);
  EXPECT_FALSE(data["answers"][0].at("heads").empty());
  EXPECT_FALSE(data.at("live").empty());
  EXPECT_EQ(page.find("<!--attn-data-->"), std::string::npos);
}

TEST(Explain, WrongUseIsAnError) {
  const tasks::Scratch scratch;
  const std::string file = (scratch.path() / "x.html").string();
  EXPECT_EQ(say({"explain", "pronounce", "cat"}).status, usage);
  EXPECT_EQ(say({"explain", "zzz", "cat", "--html", file}).status, usage);
  EXPECT_EQ(say({"explain", "pronounce", " ", "--html", file}).status, failure);
  EXPECT_NE(
      say({"explain", "caption", "a.png", "--html", file}).err.find("attn caption FILE --map"),
      std::string::npos);
  EXPECT_EQ(say({"explain", "pronounce", "\xff", "--html", file}).status, failure);
  EXPECT_FALSE(fs::exists(file));
}

TEST(ServeCommand, WrongFlagsAreErrors) {
  EXPECT_EQ(say({"serve", "--port", "65536"}).status, usage);
  EXPECT_EQ(say({"serve", "--max-body", "1"}).status, usage);
  EXPECT_EQ(say({"serve", "--model", "nonsense"}).status, failure);
  EXPECT_EQ(say({"serve", "--model", "translate=/no/such/folder"}).status, failure);
  const Said said = say({"serve", "--host", "no such host", "--port", "0"});
  EXPECT_EQ(said.status, failure);
  EXPECT_NE(said.err.find("no such host"), std::string::npos) << said.err;
}

}  // namespace
}  // namespace attn::tools
