#include "attn/nn/state.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/linear.hpp"

namespace attn::nn {
namespace {

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
