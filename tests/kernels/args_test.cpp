#include "attn/kernels/args.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/kernels/cpu/attention.hpp"
#include "attn/kernels/erase.hpp"
#include "attn/normalise/scale_weight.hpp"
#include "attn/normalise/softmax_sink.hpp"
#include "attn/score/bias.hpp"
#include "attn/score/scale.hpp"

namespace attn {
namespace {

/// A call that is right: batch 2, four heads over two kv heads, 3 queries, 5 keys, 4 and 6
/// channels. Tests break one thing each.
struct ArgsAndRecipe {
  std::vector<float> numbers = std::vector<float>(4096, 0.5f);
  ForwardArgs<float> forward;
  BackwardArgs<float> backward;
  Recipe recipe;
  RecipeGrads grads;

  ArgsAndRecipe() {
    float* x = numbers.data();
    forward = {.q = packed<const float>(x, 2, 4, 3, 4),
               .k = packed<const float>(x, 2, 2, 5, 4),
               .v = packed<const float>(x, 2, 2, 5, 6),
               .out = packed<float>(x + 256, 2, 4, 3, 6),
               .stat = packed<float>(x + 512, 2, 4, 3)};
    backward = {.q = forward.q,
                .k = forward.k,
                .v = forward.v,
                .out = forward.out,
                .stat = forward.stat,
                .d_out = packed<const float>(x, 2, 4, 3, 6),
                .dq = packed<float>(x + 1024, 2, 4, 3, 4),
                .dk = packed<float>(x + 1536, 2, 2, 5, 4),
                .dv = packed<float>(x + 2048, 2, 2, 5, 6)};
  }
  Table entries(std::array<std::int64_t, 4> shape) const {
    return table(numbers.data(), shape);
  }
};

/// The message of the error that a broken call throws.
template <class E = InvalidArgument>
std::string refusal(const std::function<void()>& run) {
  try {
    run();
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("another error: ") + error.what();
  }
  return "nothing was thrown";
}
std::string forward_refusal(const std::function<void(ArgsAndRecipe&)>& damage) {
  ArgsAndRecipe call;
  damage(call);
  return refusal([&] { cpu::forward(call.forward, call.recipe); });
}
std::string backward_refusal(const std::function<void(ArgsAndRecipe&)>& damage) {
  ArgsAndRecipe call;
  damage(call);
  return refusal([&] { cpu::backward(call.backward, call.recipe, call.grads); });
}

#define EXPECT_SAYS(message, where, what)                                             \
  do {                                                                                \
    const std::string said = (message);                                               \
    EXPECT_EQ(said.find(where), 0u) << said;                                          \
    EXPECT_NE(said.find(what), std::string::npos) << said << "\n  lacks: " << (what); \
  } while (false)

constexpr const char* kForward = "attn::forward: ";
constexpr const char* kBackward = "attn::backward: ";

TEST(Args, ARightCallIsAccepted) {
  ArgsAndRecipe call;
  EXPECT_NO_THROW(cpu::forward(call.forward, call.recipe));
  EXPECT_NO_THROW(cpu::backward(call.backward, call.recipe, call.grads));
}

TEST(Args, SizesThatDisagreeAreRefused) {
  EXPECT_SAYS(forward_refusal([](ArgsAndRecipe& c) { c.forward.q.shape[3] = 3; }), kForward,
              "q has 3 channels and k has 4; expected the same");
  EXPECT_SAYS(
      forward_refusal([](ArgsAndRecipe& c) { c.forward.v.shape[2] = 4; }), kForward,
      "v has shape [2, 2, 4, 6], k [2, 2, 5, 4]; expected the same but for the channels");
  EXPECT_SAYS(forward_refusal([](ArgsAndRecipe& c) { c.forward.q.shape[0] = 1; }), kForward,
              "q has batch 1 and k has 2; expected the same");
  EXPECT_SAYS(forward_refusal([](ArgsAndRecipe& c) { c.forward.out.shape[3] = 5; }), kForward,
              "out has shape [2, 4, 3, 5]; expected [2, 4, 3, 6]");
  EXPECT_SAYS(forward_refusal([](ArgsAndRecipe& c) { c.forward.stat.shape[2] = 4; }), kForward,
              "stat has shape [2, 4, 4]; expected [2, 4, 3]");
  EXPECT_SAYS(forward_refusal([](ArgsAndRecipe& c) { c.recipe.similarity = Similarity::sum; }),
              kForward, "the sum similarity takes 1 channel, q has 4");
}

TEST(Args, HeadsThatCannotBeSharedAreRefused) {
  EXPECT_SAYS(forward_refusal(
                  [](ArgsAndRecipe& c) { c.forward.k.shape[1] = c.forward.v.shape[1] = 3; }),
              kForward,
              "4 heads cannot share 3 kv heads; heads must be a multiple of kv heads");
  EXPECT_SAYS(forward_refusal(
                  [](ArgsAndRecipe& c) { c.forward.k.shape[1] = c.forward.v.shape[1] = 0; }),
              kForward, "4 heads and 0 kv heads; at least one each");
  EXPECT_SAYS(forward_refusal([](ArgsAndRecipe& c) { c.forward.q.shape[1] = 0; }), kForward,
              "0 heads and 2 kv heads; at least one each");
}

TEST(Args, ElementsWithoutMemoryAreRefused) {
  EXPECT_SAYS(forward_refusal([](ArgsAndRecipe& c) { c.forward.q.data = nullptr; }), kForward,
              "q has shape [2, 4, 3, 4] but no data");
  EXPECT_SAYS(forward_refusal([](ArgsAndRecipe& c) { c.forward.out.data = nullptr; }), kForward,
              "out has shape [2, 4, 3, 6] but no data");
  EXPECT_SAYS(backward_refusal([](ArgsAndRecipe& c) { c.backward.stat.data = nullptr; }),
              kBackward, "stat has shape [2, 4, 3] but no data");
  EXPECT_SAYS(backward_refusal([](ArgsAndRecipe& c) { c.backward.d_out.data = nullptr; }),
              kBackward, "d_out has shape [2, 4, 3, 6] but no data");
}

TEST(Args, ViewsWithoutElementsNeedNoMemory) {
  ArgsAndRecipe call;
  call.forward.q = {nullptr, {0, 4, 3, 4}, {}};
  call.forward.k = {nullptr, {0, 2, 5, 4}, {}};
  call.forward.v = {nullptr, {0, 2, 5, 6}, {}};
  call.forward.out = {nullptr, {0, 4, 3, 6}, {}};
  call.forward.stat = {};
  EXPECT_NO_THROW(cpu::forward(call.forward, call.recipe));
  call.recipe.scores.push_back(
      score_stage(score::LearnedScale{}, {Table{nullptr, DType::f32, {0, 4, 3, 1}, {}}}));
  EXPECT_NO_THROW(cpu::forward(call.forward, call.recipe));
}

TEST(Args, ExtentsThatCannotBeAreRefused) {
  EXPECT_SAYS(forward_refusal([](ArgsAndRecipe& c) { c.forward.q.shape[2] = -1; }), kForward,
              "q has shape [2, 4, -1, 4]; extents must lie in 0..1073741824");
  EXPECT_SAYS(
      forward_refusal([](ArgsAndRecipe& c) { c.forward.k.shape[2] = std::int64_t{1} << 31; }),
      kForward, "extents must lie in 0..1073741824");
  EXPECT_SAYS(forward_refusal([](ArgsAndRecipe& c) {
                c.forward.q.shape = {1 << 30, 1 << 30, 1 << 30, 1 << 30};
              }),
              kForward, "more elements than memory can hold");
  EXPECT_SAYS(forward_refusal([](ArgsAndRecipe& c) {
                c.recipe.scores.push_back(
                    score_stage(score::LearnedScale{}, {c.entries({1, 1, 1, -4})}));
              }),
              kForward, "table 0 of score modifier 0 has shape [1, 1, 1, -4]");
}

TEST(Args, TablesThatDoNotFitAreRefused) {
  EXPECT_SAYS(
      forward_refusal([](ArgsAndRecipe& c) {
        c.recipe.scores.push_back(
            score_stage(score::LearnedScale{}, {c.entries({1, 3, 1, 1})}));
      }),
      kForward,
      "table 0 of score modifier 0 has shape [1, 3, 1, 1]; its head axis must be 1 or at "
      "least 4");
  EXPECT_SAYS(
      forward_refusal([](ArgsAndRecipe& c) {
        c.recipe.weight_modifiers.push_back(
            weight_stage(normalise::ScaleWeight{}, {c.entries({1, 1, 2, 1})}));
      }),
      kForward,
      "table 0 of weight modifier 0 has shape [1, 1, 2, 1]; its query axis must be 1 or "
      "at least 3");
  EXPECT_SAYS(forward_refusal([](ArgsAndRecipe& c) {
                c.recipe.normaliser =
                    normaliser_stage(normalise::SoftmaxSink{}, {c.entries({0, 4, 1, 1})});
              }),
              kForward, "its batch axis must be 1 or at least 2");
  EXPECT_SAYS(forward_refusal([](ArgsAndRecipe& c) {
                c.recipe.scores.push_back(score_stage(score::Bias{}, {Table{}}));
              }),
              kForward, "table 0 of score modifier 0 has no data");
}

TEST(Args, TablesShorterThanWhatIsReadAreRefused) {
  static const std::array<float, 2> kShort{};
  EXPECT_SAYS(forward_refusal([](ArgsAndRecipe& c) {
                c.recipe.scores.push_back(
                    score_stage(score::Bias{}, {table(kShort.data(), {1, 1, 1, 2})}));
              }),
              kForward, "has 2 entries; the functor reads entries 0 to 4");
  EXPECT_SAYS(forward_refusal([](ArgsAndRecipe& c) {
                c.recipe.scores.push_back(score_stage(score::Bias{}));
              }),
              kForward, "reads 1 tables; 0 were given");
}

TEST(Args, TablesOfOtherTypesAreRefused) {
  const std::vector<double> wide(64);
  EXPECT_SAYS(forward_refusal([&](ArgsAndRecipe& c) {
                c.recipe.scores.push_back(
                    score_stage(score::LearnedScale{}, {table(wide.data(), {1, 1, 1, 1})}));
              }),
              kForward, "table 0 of score modifier 0 holds f64; expected f32");
  EXPECT_SAYS(forward_refusal([&](ArgsAndRecipe& c) {
                c.recipe.similarity = Similarity::additive;
                c.recipe.weights = table(wide.data(), {1, 1, 1, 4});
              }),
              kForward, "the similarity's weights hold f64; expected f32");
}

TEST(Args, WeightsOfTheSimilarityThatDoNotFitAreRefused) {
  EXPECT_SAYS(
      forward_refusal([](ArgsAndRecipe& c) { c.recipe.similarity = Similarity::additive; }),
      kForward, "the additive similarity needs weights [1, 1 or kv heads, 1, 4]");
  EXPECT_SAYS(forward_refusal([](ArgsAndRecipe& c) {
                c.recipe.similarity = Similarity::additive;
                c.recipe.weights = c.entries({1, 1, 1, 3});
              }),
              kForward, "have shape [1, 1, 1, 3]; expected [1, 1 or 2, 1, 4]");
  EXPECT_SAYS(forward_refusal([](ArgsAndRecipe& c) {
                c.recipe.similarity = Similarity::distance;
                c.recipe.weights = c.entries({1, 4, 1, 4});
              }),
              kForward, "have shape [1, 4, 1, 4]; expected [1, 1 or 2, 1, 1 or 4]");
}

TEST(Args, GradientsThatDoNotFitAreRefused) {
  EXPECT_SAYS(backward_refusal([](ArgsAndRecipe& c) { c.backward.dq.shape[2] = 2; }), kBackward,
              "dq has shape [2, 4, 2, 4]; expected that of q, [2, 4, 3, 4]");
  EXPECT_SAYS(backward_refusal([](ArgsAndRecipe& c) { c.backward.dk.shape[1] = 4; }), kBackward,
              "dk has shape [2, 4, 5, 4]; expected that of k, [2, 2, 5, 4]");
  EXPECT_SAYS(backward_refusal([](ArgsAndRecipe& c) { c.backward.dv.shape[3] = 4; }), kBackward,
              "dv has shape [2, 2, 5, 4]; expected that of v, [2, 2, 5, 6]");
  EXPECT_SAYS(backward_refusal([](ArgsAndRecipe& c) { c.backward.d_out.shape[3] = 4; }),
              kBackward, "d_out has shape [2, 4, 3, 4]; expected that of out, [2, 4, 3, 6]");
  EXPECT_SAYS(backward_refusal([](ArgsAndRecipe& c) {
                c.backward.d_stat = packed<const float>(c.numbers.data(), 2, 4, 2);
              }),
              kBackward, "d_stat has shape [2, 4, 2]; expected [2, 4, 3]");
  EXPECT_SAYS(backward_refusal([](ArgsAndRecipe& c) {
                c.backward.similarities = packed<const float>(c.numbers.data(), 2, 4, 3, 4);
              }),
              kBackward, "similarities have shape [2, 4, 3, 4]; expected [2, 4, 3, 5 or more]");
  EXPECT_SAYS(backward_refusal([](ArgsAndRecipe& c) {
                c.backward.similarities = packed<const float>(c.numbers.data(), 2, 4, 3, 5);
                c.backward.similarities.strides[3] = 2;
              }),
              kBackward,
              "similarities of one query lie 2 elements apart; expected side by side");
  EXPECT_SAYS(backward_refusal([](ArgsAndRecipe& c) {
                c.backward.d_weights.all = packed<const float>(c.numbers.data(), 2, 4, 3, 4);
              }),
              kBackward, "d_weights.all has shape [2, 4, 3, 4]; expected [2, 4, 3, 5]");
  EXPECT_SAYS(backward_refusal([](ArgsAndRecipe& c) {
                c.backward.d_weights.column_sums =
                    packed<const float>(c.numbers.data(), 2, 2, 5);
              }),
              kBackward, "d_weights.column_sums has shape [2, 2, 5]; expected [2, 4, 5]");
  EXPECT_SAYS(backward_refusal([](ArgsAndRecipe& c) {
                c.backward.d_weights.distance_sums =
                    packed<const float>(c.numbers.data(), 2, 4, 3, 4);
              }),
              kBackward, "expected [2, 4, 3, 2 m + 1]");
}

TEST(Args, GradientsOfTablesThatDoNotFitAreRefused) {
  const auto with_table = [](ArgsAndRecipe& c) {
    c.recipe.scores.push_back(score_stage(score::LearnedScale{}, {c.entries({1, 4, 1, 1})}));
    c.grads.scores.resize(1);
  };
  EXPECT_SAYS(
      backward_refusal([&](ArgsAndRecipe& c) {
        with_table(c);
        c.grads.scores[0][0] = table_grad(c.numbers.data(), {1, 1, 1, 1});
      }),
      kBackward,
      "the gradient of table 0 of score modifier 0 has shape [1, 1, 1, 1]; expected [1, "
      "4, 1, 1]");
  EXPECT_SAYS(backward_refusal([&](ArgsAndRecipe& c) {
                with_table(c);
                c.grads.scores[0][1] = table_grad(c.numbers.data(), {1, 1, 1, 1});
              }),
              kBackward, "a gradient is wanted for table 1 of score modifier 0, which has 1");
  EXPECT_SAYS(backward_refusal([](ArgsAndRecipe& c) { c.grads.weight_modifiers.resize(2); }),
              kBackward,
              "gradients for 0 score and 2 weight modifiers; the recipe has 0 and 0");
  std::vector<double> wide(64);
  EXPECT_SAYS(backward_refusal([&](ArgsAndRecipe& c) {
                with_table(c);
                c.grads.scores[0][0] = table_grad(wide.data(), {1, 4, 1, 1});
              }),
              kBackward, "the gradient of table 0 of score modifier 0 holds f64; expected f32");
  const auto with_weights = [](ArgsAndRecipe& c) {
    c.recipe.similarity = Similarity::additive;
    c.recipe.weights = c.entries({1, 1, 1, 4});
  };
  EXPECT_SAYS(backward_refusal([&](ArgsAndRecipe& c) {
                with_weights(c);
                c.grads.weights = table_grad(c.numbers.data(), {1, 2, 1, 4});
              }),
              kBackward, "weights has shape [1, 2, 1, 4]; expected [1, 1, 1, 4]");
  EXPECT_SAYS(backward_refusal([&](ArgsAndRecipe& c) {
                with_weights(c);
                c.grads.weights = table_grad(wide.data(), {1, 1, 1, 4});
              }),
              kBackward, "the gradient of the similarity's weights holds f64; expected f32");
  EXPECT_SAYS(backward_refusal([&](ArgsAndRecipe& c) {
                c.grads.weights = table_grad(c.numbers.data(), {1, 1, 1, 1});
              }),
              kBackward, "a gradient is wanted for the similarity's weights, which it lacks");
}

TEST(Args, ATargetThatTheMachineLacksIsRefused) {
  ArgsAndRecipe call;
  for (const Target target :
       {Target::sse4, Target::avx2, Target::avx512, Target::neon, Target::native}) {
    if (cpu::available(target)) continue;
    const cpu::Context context{.target = target};
    EXPECT_SAYS(refusal<Unsupported>([&] { cpu::forward(call.forward, call.recipe, context); }),
                "attn::cpu: ", "the target " + std::string(name_of(target)) + " was asked for");
  }
}

TEST(Args, TooManyStagesAreRefused) {
  EXPECT_SAYS(forward_refusal([](ArgsAndRecipe& c) {
                for (int i = 0; i < 17; ++i)
                  c.recipe.scores.push_back(score_stage(score::Scale{}));
              }),
              "attn::cpu: ", "17 score modifiers and 0 weight modifiers; at most 16 of each");
  const Table one = ArgsAndRecipe().entries({1, 1, 1, 1});
  EXPECT_SAYS(refusal([&] { (void)StageData::of(score::Scale{}, {one, one, one, one, one}); }),
              "attn::StageData: ", "5 tables; at most 4 are accepted");
}

}  // namespace
}  // namespace attn
