// The models that ship answer, and stay within their sizes.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "tools/say.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMebibyte = 1 << 20;

TEST(ShippedModels, AnswerWithoutAFlag) {
  ASSERT_EQ(setenv("ATTN_MODELS", ATTN_SHIPPED_MODELS, 1), 0);
  EXPECT_EQ(say({"pronounce", "attention"}).out, "attention\tAH T EH N SH AH N\n");
  const Said italian =
      say({"translate", "This package provides a simple tool to edit images."});
  EXPECT_EQ(italian.status, success) << italian.err;
  EXPECT_EQ(italian.out.find("Questo pacchetto fornisce"), 0u) << italian.out;
  // Two sentences are two answers on one line.
  const Said two = say({"translate", "It is fast. It is small."});
  EXPECT_NE(two.out.find(". "), std::string::npos) << two.out;
  unsetenv("ATTN_MODELS");
}

TEST(ShippedModels, AreSmall) {
  std::uintmax_t all = 0;
  int models = 0;
  for (const auto& model : fs::directory_iterator(ATTN_SHIPPED_MODELS)) {
    if (!model.is_directory()) continue;
    ++models;
    std::uintmax_t size = 0;
    for (const auto& file : fs::directory_iterator(model.path())) size += file.file_size();
    EXPECT_LE(fs::file_size(model.path() / "model.safetensors"), 8 * kMebibyte) << model.path();
    EXPECT_TRUE(fs::exists(model.path() / "README.md")) << "no card in " << model.path();
    all += size;
  }
  EXPECT_EQ(models, 3);
  EXPECT_LE(all, 24 * kMebibyte);
}

}  // namespace
}  // namespace attn::tools
