// Keys are packed when the first queries look at them; long heads behind narrow windows pack
// most of theirs late, and begin in the middle of a panel.

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>

#include "attn/core/dtype.hpp"
#include "attn/kernels/erase.hpp"
#include "attn/kernels/recipe.hpp"
#include "attn/mask/sliding_window.hpp"
#include "kernels/support/edit.hpp"
#include "kernels/support/problem.hpp"
#include "kernels/support/run.hpp"
#include "support/tolerance.hpp"

namespace attn {
namespace {

constexpr int kLong = 331;

/// A head as long as several groups of queries; 32 value channels may be used where they lie.
struct Behind : test::Problem {
  Behind(const mask::SlidingWindow& window, const test::Spec& spec) : Problem(lengthen(spec)) {
    recipe.masks.push_back(MaskTree::of(mask_stage(window)));
  }

  static test::Spec lengthen(test::Spec spec) {
    spec.seed = "window";
    spec.queries = spec.keys = kLong;
    return spec;
  }
};

TEST(Window, AgreesWithTheReferenceWhereverItLies) {
  struct Kind {
    Similarity similarity;
    DType dtype;
    int values;
  };
  for (const mask::SlidingWindow window : {mask::SlidingWindow{0, 0, 0},
                                           {9, 0, 0},
                                           {70, 5, 0},
                                           {20, -1, 0},
                                           {30, 0, 200},
                                           {30, 0, -200},
                                           {0, 0, 400}})
    for (const auto& [similarity, dtype, values] : {Kind{Similarity::dot, DType::f32, 32},
                                                    {Similarity::dot, DType::bf16, 5},
                                                    {Similarity::distance, DType::f32, 5},
                                                    {Similarity::additive, DType::f32, 32}}) {
      const Behind p(window, {.group = 2,
                              .channels = 8,
                              .value_channels = values,
                              .dtype = dtype,
                              .similarity = similarity});
      const test::Results want = test::run_reference(p);
      for (const Target target : test::targets())
        EXPECT_EQ(test::difference(p, test::run_cpu(p, {.target = target}), want), "")
            << name_of(target) << ", left " << window.left << ", right " << window.right
            << ", offset " << window.offset << ", similarity " << static_cast<int>(similarity)
            << ", " << name_of(dtype);
    }
}

TEST(Window, AValueThatIsNoNumberSpoilsTheRowsThatLookAtItAlone) {
  // A query that is no number has the values of its time looked through; those that are packed
  // later must be looked through again.
  constexpr int kBadQuery = 3, kBadValue = 300, kWindow = 20;
  for (const Target target : test::targets())
    for (const int values : {5, 32}) {
      const test::Spec spec{.channels = 6, .value_channels = values};
      const mask::SlidingWindow window{kWindow - 1, 0, 0};
      const Behind clean(window, spec);
      Behind bad(window, spec);
      test::fill_rows(bad.q, kLong, kBadQuery, 1, 6, NAN);
      test::fill_rows(bad.v, kLong, kBadValue, 1, values, NAN);
      const test::Results want = test::run_cpu(clean, {.target = target}, false);
      const test::Results got = test::run_cpu(bad, {.target = target}, false);
      for (std::size_t i = 0; i < got.out.size(); ++i) {
        const int row = static_cast<int>(i) / values;
        const bool spoilt = row == kBadQuery || (row >= kBadValue && row < kBadValue + kWindow);
        if (spoilt) {
          ASSERT_TRUE(std::isnan(got.out[i])) << name_of(target) << ", row " << row;
        } else {
          ASSERT_TRUE(test::close(got.out[i], want.out[i], test::tolerance(DType::f32)))
              << name_of(target) << ", row " << row << ", value channels " << values;
        }
      }
    }
}

}  // namespace
}  // namespace attn
