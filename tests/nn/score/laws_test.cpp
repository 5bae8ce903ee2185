// What every score has in common, whatever its formula.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/nn/mechanisms/score/luong_scores.hpp"
#include "attn/nn/registry.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "support/tolerance.hpp"

namespace attn::nn {
namespace {

Tensor context_of(const Mechanism& mechanism, const MechanismCall& call) {
  for (const auto& [name, tensor] : mechanism.run(call).outputs)
    if (name == "context") return tensor;
  return {};
}

void expect_near(const Tensor& got, const Tensor& want, const std::string& what) {
  const auto a = got.detach().to_vector<double>();
  const auto b = want.detach().to_vector<double>();
  ASSERT_EQ(a.size(), b.size()) << what;
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(a[i], b[i], test::kDoubleScore) << what << " " << i;
}

const std::vector<std::string> kByContent{"score_dot",    "score_scaled_dot",
                                          "score_cosine", "score_general",
                                          "score_concat", "score_additive"};

TEST(Scores, OrderOfKeysChangesNothing) {
  for (const std::string& name : kByContent) {
    const Mechanism* mechanism = find_mechanism(name);
    ASSERT_NE(mechanism, nullptr) << name;
    Random random(3);
    MechanismCall call = mechanism->example(random);
    call.inputs.erase("valid_lens");
    const Tensor before = context_of(*mechanism, call);
    const Tensor order = permutation(call.need("keys").size(1), random);
    for (const char* input : {"keys", "values"})
      call.inputs[input] = index_select(call.need(input), 1, order);
    expect_near(context_of(*mechanism, call), before, name);
  }
}

/// Runs with lengths 3, and leaves the gradients at the returned parameters.
MechanismResult run_back(const Mechanism& mechanism, const MechanismCall& call) {
  MechanismResult result = mechanism.run(call);
  for (const auto& [name, tensor] : result.outputs)
    if (name == "context" || name == "output") sum(square(tensor)).backward();
  return result;
}

TEST(Scores, NotANumberBehindALengthStaysThere) {
  std::vector<std::string> names = kByContent;
  names.push_back("multi_head_attention");
  for (const std::string& name : names) {
    const Mechanism* mechanism = find_mechanism(name);
    ASSERT_NE(mechanism, nullptr) << name;
    Random random(4);
    MechanismCall call = mechanism->example(random);
    call.inputs["valid_lens"] = Tensor::from(std::vector<std::int64_t>{3, 3}, {2});
    call.inputs["queries"].set_requires_grad();
    const MechanismResult before = run_back(*mechanism, call);
    const Tensor query = call.need("queries").grad();
    call.inputs["queries"].zero_grad();
    for (const char* input : {"keys", "values"})
      call.need(input).slice(1, 3, 4).fill(std::numeric_limits<double>::quiet_NaN());
    const MechanismResult after = run_back(*mechanism, call);
    expect_near(after.outputs[0].tensor, before.outputs[0].tensor, name);
    expect_near(call.need("queries").grad(), query, name);
    for (std::size_t i = 0; i < before.parameters.size(); ++i)
      expect_near(after.parameters[i].tensor.grad(), before.parameters[i].tensor.grad(),
                  name + " " + before.parameters[i].name);
  }
}

TEST(LocationAttention, RefusesMoreKeysThanRows) {
  const LocationAttention attention({.query_dim = 2, .max_keys = 3});
  EXPECT_THROW(attention.forward(Tensor::zeros({1, 1, 2}), Tensor::zeros({1, 4, 2})),
               InvalidArgument);
}

}  // namespace
}  // namespace attn::nn
