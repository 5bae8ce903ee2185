#include "attn/nn/registry.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/nn/gradient_check.hpp"
#include "attn/nn/linear.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {
namespace {

TEST(Registry, HoldsEveryMechanismOfTheLiterature) {
  EXPECT_EQ(mechanisms().size(), 64u);
}

TEST(Registry, TellsEverythingThatALearnerAsks) {
  for (const Mechanism* one : mechanisms()) {
    SCOPED_TRACE(one->name);
    for (const std::string* text : {&one->family, &one->title, &one->formula, &one->paper,
                                    &one->made_of, &one->snippet, &one->header})
      EXPECT_FALSE(text->empty());
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(ATTN_TEST_DATA) /
                                        "../../include" / one->header))
        << one->header;
    EXPECT_TRUE(one->run);
  }
}

TEST(Registry, EveryGradientIsAFiniteDifference) {
  for (const Mechanism* one : mechanisms()) {
    for (const std::uint64_t seed : {1u, 2u}) {
      SCOPED_TRACE(one->name + ", seed " + std::to_string(seed));
      ASSERT_TRUE(one->example);
      const auto checks = check_gradients(*one, {.seed = seed});
      EXPECT_EQ(checks.empty(), !one->no_gradient.empty());
      for (const GradientCheck& check : checks)
        EXPECT_TRUE(check.passed) << check.name << " is off by " << check.worst;
    }
  }
}

TEST(Registry, AUsersMechanismJoinsTheOthersOnce) {
  Mechanism own;
  own.name = "test_square";
  own.run = [](const MechanismCall& call) -> MechanismResult {
    return {{{"y", square(call.need("x"))}}, {}};
  };
  own.example = [](Random& random) {
    MechanismCall call;
    call.inputs["x"] = normal({3}, 0.0, 1.0, random, DType::f64);
    return call;
  };
  if (find_mechanism(own.name) == nullptr) register_mechanism(own);
  EXPECT_TRUE(check_gradients(*find_mechanism("test_square")).front().passed);
  EXPECT_THROW(register_mechanism(own), InvalidArgument);
}

TEST(Registry, AWrongGradientIsFound) {
  Mechanism wrong;
  wrong.name = "wrong";
  wrong.run = [](const MechanismCall& call) -> MechanismResult {
    const Tensor x = call.need("x");
    return {{{"y", x * x.detach()}}, {}};
  };
  wrong.example = [](Random& random) {
    MechanismCall call;
    call.inputs["x"] = normal({3}, 0.0, 1.0, random, DType::f64);
    return call;
  };
  EXPECT_FALSE(check_gradients(wrong).front().passed);
}

TEST(Registry, AGradientThatCannotBeComparedNeedsAReason) {
  Mechanism silent;
  silent.name = "silent";
  silent.run = [](const MechanismCall& call) -> MechanismResult {
    return {{{"y", call.need("x").detach()}}, {}};
  };
  silent.example = [](Random& random) {
    MechanismCall call;
    call.inputs["x"] = normal({3}, 0.0, 1.0, random, DType::f64);
    return call;
  };
  EXPECT_THROW(check_gradients(silent), Error) << "the output has no gradient";
  silent.no_gradient = "it only repeats";
  EXPECT_TRUE(check_gradients(silent).empty());

  silent.run = [](const MechanismCall& call) -> MechanismResult {
    return {{{"y", square(call.need("x"))}}, {}};
  };
  EXPECT_THROW(check_gradients(silent), Error) << "the reason is not true";
  silent.no_gradient.clear();
  silent.constants = {"x"};
  EXPECT_THROW(check_gradients(silent), Error) << "nothing is differentiated";
  silent.constants.clear();
  EXPECT_FALSE(check_gradients(silent).empty());
}

TEST(GiveParameters, ListsEverythingThatDoesNotFit) {
  MechanismCall call;
  call.parameters["weight"] = Tensor::zeros({2, 2}, DType::f64);
  call.parameters["other"] = Tensor::zeros({1}, DType::f64);
  try {
    give_parameters(Linear({.in = 3, .out = 2}), call);
    FAIL() << "nothing was thrown";
  } catch (const InvalidArgument& error) {
    const std::string text = error.what();
    for (const char* part : {"weight is", "missing bias", "unknown other"})
      EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

TEST(Options, SayWhatTypeIsAccepted) {
  const Options options{{"heads", 2.5}, {"causal", true}};
  EXPECT_THROW((void)options.whole("heads", 1), InvalidArgument);
  EXPECT_THROW((void)options.number("causal", 1.0), InvalidArgument);
  EXPECT_EQ(options.word("score", "dot"), "dot");
}

}  // namespace
}  // namespace attn::nn
