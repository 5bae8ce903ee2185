#include "attn/nn/state.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/files/array.hpp"
#include "attn/files/safetensors.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/linear.hpp"

namespace attn::nn {
namespace {

namespace fs = std::filesystem;

class Two : public Module {
 public:
  Two(std::int64_t in, const char* second)
      : a(add("a", Linear({.in = in, .out = 2}))),
        b(add(second, Linear({.in = 2, .out = 1}))) {}
  Linear a;
  Linear b;
};

class State : public testing::Test {
 protected:
  std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / "attn_state_test.safetensors";
  void TearDown() override { std::filesystem::remove(path_); }
};

TEST_F(State, WhatWasSavedComesBack) {
  seed(1);
  const Two saved(3, "b");
  save_state(path_, saved, {{"task", "test"}});
  const Two loaded(3, "b");
  EXPECT_NE(saved.a.weight().to_vector<float>(), loaded.a.weight().to_vector<float>());
  EXPECT_EQ(load_state(path_, loaded).at("task"), "test");
  EXPECT_EQ(saved.a.weight().to_vector<float>(), loaded.a.weight().to_vector<float>());
  EXPECT_TRUE(loaded.a.weight().requires_grad());
}

TEST_F(State, ANarrowerFileLoadsToo) {
  const Two saved(3, "b");
  save_state(path_, saved, DType::bf16);
  const Two loaded(3, "b");
  load_state(path_, loaded);
  EXPECT_EQ(loaded.a.weight().dtype(), DType::f32);
  EXPECT_EQ(loaded.a.weight().to_vector<float>(),
            saved.a.weight().detach().to(DType::bf16).to(DType::f32).to_vector<float>());
}

TEST_F(State, CompressedMatricesComeBackWithinHalfAStep) {
  seed(4);
  const Linear saved({.in = 70, .out = 40});
  const fs::path small = path_.string() + ".8";
  save_state(path_, saved, {{"task", "test"}});
  compress_state(path_, small);
  EXPECT_LT(fs::file_size(small), fs::file_size(path_) / 3);
  const Linear loaded({.in = 70, .out = 40});
  EXPECT_EQ(load_state(small, loaded).at("task"), "test");
  EXPECT_EQ(saved.bias().to_vector<float>(), loaded.bias().to_vector<float>());
  const auto before = saved.weight().to_vector<float>();
  const auto after = loaded.weight().to_vector<float>();
  for (std::size_t row = 0; row < before.size(); row += 70) {
    float largest = 0;
    for (std::size_t i = row; i < row + 70; ++i)
      largest = std::max(largest, std::abs(before[i]));
    double squares = 0;
    for (std::size_t i = row; i < row + 70; ++i) {
      EXPECT_NEAR(before[i], after[i], largest / 2) << "what is cut off is cut to half at most";
      squares += std::pow(before[i] - after[i], 2);
    }
    // Whole numbers of 127 steps: off by a step over sqrt(12) where all are equally likely, and
    // bf16's half of 2^-8.
    EXPECT_LT(std::sqrt(squares / 70),
              largest * (1 / 127.0 / std::sqrt(12.0) * 1.2 + 1.0 / 512));
  }
  fs::remove(small);
}

TEST_F(State, CompressedFilesThatDoNotFitAreNamed) {
  const Linear saved({.in = 70, .out = 40});
  const fs::path small = path_.string() + ".8";
  save_state(path_, saved);
  compress_state(path_, small);
  EXPECT_THROW(compress_state(small, path_), InvalidArgument)
      << "holds no real matrix any more";
  const Linear other({.in = 71, .out = 40});
  EXPECT_THROW(load_state(small, other), InvalidArgument);
  // Bytes without their scales are no weights.
  const files::Safetensors file = files::read_safetensors(small);
  const std::vector<files::ArrayView> without = {file.at("weight"), file.at("bias")};
  files::write_safetensors(path_, without);
  const Linear same({.in = 70, .out = 40});
  EXPECT_THROW(load_state(path_, same), InvalidArgument);
  fs::remove(small);
}

TEST_F(State, AllMismatchesAreListedAndNothingIsLoaded) {
  save_state(path_, Two(4, "c"));
  const Two module(3, "b");
  const auto before = module.a.bias().to_vector<float>();
  try {
    load_state(path_, module);
    FAIL() << "nothing was thrown";
  } catch (const InvalidArgument& error) {
    const std::string text = error.what();
    for (const char* part : {"missing: b.weight", "missing: b.bias", "misshapen: a.weight",
                             "extra: c.weight", "extra: c.bias"})
      EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  }
  EXPECT_EQ(module.a.bias().to_vector<float>(), before);
}

TEST_F(State, APartOfAFileIsLoadedByItsPrefix) {
  seed(1);
  const Two saved(3, "b");
  save_state(path_, saved);
  const Linear first({.in = 3, .out = 2});
  const LoadedState loaded = load_state(path_, first, {.prefix = "a."});
  EXPECT_EQ(first.weight().to_vector<float>(), saved.a.weight().to_vector<float>());
  EXPECT_TRUE(loaded.missing.empty());
  EXPECT_TRUE(loaded.left_over.empty());  // b. was not asked for
}

TEST_F(State, WhatIsOnOneSideAloneIsToldUnlessStrict) {
  seed(1);
  const Two saved(3, "c");
  save_state(path_, saved, {{"task", "test"}});
  const Two module(3, "b");
  const auto before = module.b.weight().to_vector<float>();
  EXPECT_THROW(load_state(path_, module, LoadOptions{}), InvalidArgument);
  const LoadedState loaded = load_state(path_, module, {.strict = false});
  EXPECT_EQ(loaded.metadata.at("task"), "test");
  EXPECT_EQ(loaded.missing, (std::vector<std::string>{"b.weight", "b.bias"}));
  EXPECT_EQ(std::set(loaded.left_over.begin(), loaded.left_over.end()),
            (std::set<std::string>{"c.weight", "c.bias"}));
  EXPECT_EQ(module.a.weight().to_vector<float>(), saved.a.weight().to_vector<float>());
  EXPECT_EQ(module.b.weight().to_vector<float>(), before);
}

TEST_F(State, AnotherShapeOrAFileThatFitsNothingIsRefusedEvenIfNotStrict) {
  save_state(path_, Two(4, "b"));
  const Two module(3, "b");
  const auto before = module.b.weight().to_vector<float>();
  EXPECT_THROW(load_state(path_, module, {.strict = false}), InvalidArgument);
  try {
    load_state(path_, module, {.prefix = "encoder.", .strict = false});
    FAIL() << "nothing was thrown";
  } catch (const InvalidArgument& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("missing: encoder.a.weight"), std::string::npos) << text;
    EXPECT_NE(text.find("no other name of the file begins with encoder."), std::string::npos)
        << text;
  }
  EXPECT_EQ(module.b.weight().to_vector<float>(), before);
}

}  // namespace
}  // namespace attn::nn
