// Every similarity is its formula, and its gradients are finite differences.

#include "attn/score/similarity.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace attn {
namespace {

using namespace score;  // NOLINT(google-build-using-namespace)

template <class S>
class SimilarityLaw : public testing::Test {};
using Similarities = testing::Types<Dot, Distance<Width::none>, Distance<Width::scalar>,
                                    Distance<Width::channel>, Additive, Cosine, Sum, Given>;
TYPED_TEST_SUITE(SimilarityLaw, Similarities);

TYPED_TEST(SimilarityLaw, BackwardMatchesDifferencesAndAdds) {
  test::Random random("SimilarityLaw");
  const int channels = std::is_same_v<TypeParam, Sum> ? 1 : 5;
  const auto size = static_cast<std::size_t>(channels);
  std::vector<double> q = random.numbers(size), k = random.numbers(size),
                      w = random.numbers(size);
  std::vector<double> dq(size, 1.0), dk(size, 2.0), dw(w.size(), 3.0);
  const double ds = 1.7;
  TypeParam::backward(ds, q.data(), k.data(), channels, w.data(), dq.data(), dk.data(),
                      dw.data());
  const auto check = [&](std::vector<double>& x, const std::vector<double>& grad,
                         double start) {
    for (std::size_t c = 0; c < x.size(); ++c) {
      const double kept = x[c];
      x[c] = kept + test::kDifferenceStep;
      const double above = TypeParam::score(q.data(), k.data(), channels, w.data());
      x[c] = kept - test::kDifferenceStep;
      const double below = TypeParam::score(q.data(), k.data(), channels, w.data());
      x[c] = kept;
      EXPECT_TRUE(test::close(grad[c] - start,
                              ds * (above - below) / (2 * test::kDifferenceStep),
                              test::kDifferenceTolerance))
          << "channel " << c << ", start " << start;
    }
  };
  check(q, dq, 1.0);
  check(k, dk, 2.0);
  check(w, dw, 3.0);
}

TYPED_TEST(SimilarityLaw, NullGradientsAreNotWanted) {
  const std::vector<float> q{1.0f}, k{2.0f}, w{0.5f};
  TypeParam::template backward<float>(1.0f, q.data(), k.data(), 1, w.data(), nullptr, nullptr,
                                      nullptr);
}

TEST(Similarity, ClosedForms) {
  const std::vector<double> q{3.0, 4.0}, k{4.0, 3.0}, w{2.0, 0.5};
  EXPECT_EQ(Dot::score(q.data(), k.data(), 2), 24.0);
  EXPECT_EQ(Distance<Width::none>::score(q.data(), k.data(), 2, w.data()), -1.0);
  EXPECT_EQ(Distance<Width::scalar>::score(q.data(), k.data(), 2, w.data()), -4.0);
  EXPECT_EQ(Distance<Width::channel>::score(q.data(), k.data(), 2, w.data()), -2.125);
  EXPECT_EQ(Additive::score(q.data(), k.data(), 2, w.data()), 2.5 * std::tanh(7.0));
  EXPECT_DOUBLE_EQ(Cosine::score(q.data(), k.data(), 2), 0.96);
  EXPECT_EQ(Sum::score(q.data(), k.data(), 1), 7.0);
  EXPECT_EQ(Given::score(q.data(), k.data(), 0), 0.0);
}

TEST(Distance, OfEqualLargeVectorsIsExactlyZero) {
  const std::vector<float> q{12345.678f, -98765.43f};
  EXPECT_EQ(Distance<Width::none>::score<float>(q.data(), q.data(), 2, nullptr), 0.0f);
}

TEST(Cosine, AVectorWithoutDirectionScoresZeroAndGetsNoGradient) {
  const std::vector<double> tiny{1e-9, 0.0}, k{1.0, 2.0};
  std::vector<double> dq(2), dk(2);
  EXPECT_EQ(Cosine::score(tiny.data(), k.data(), 2), 0.0);
  EXPECT_EQ(Cosine::score(k.data(), tiny.data(), 2), 0.0);
  Cosine::backward<double>(1.0, tiny.data(), k.data(), 2, nullptr, dq.data(), dk.data());
  EXPECT_EQ(dq, std::vector<double>(2));
  EXPECT_EQ(dk, std::vector<double>(2));
}

}  // namespace
}  // namespace attn
