#include "attn/models/captioner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/mechanisms/hard/hard_attention.hpp"
#include "attn/nn/optimiser.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "support/tolerance.hpp"

namespace attn::models {
namespace {

using Tokens = std::vector<std::int64_t>;

constexpr std::int64_t kSide = 8;  // 2 x 2 places
constexpr std::int64_t kPlaces = 4;
const double kCaptionWithin = test::tolerance(DType::f32, 4096);

CaptionerOptions tiny_captioner(Looking looking) {
  return {.vocabulary = 7,
          .side = kSide,
          .channels = 6,
          .words = 3,
          .hidden = 4,
          .score = 3,
          .looking = looking};
}

Captioner made(Looking looking, DType dtype = DType::f32) {
  nn::seed(5);
  Captioner model(tiny_captioner(looking));
  model.to(dtype);
  return model;
}

struct Picture {
  std::uint64_t seed;
  Tokens caption;
};

/// Pictures of noise with captions, and columns of padding behind them.
CaptionBatch batch_of(const std::vector<Picture>& pictures, DType dtype = DType::f32,
                      std::size_t padding = 0) {
  std::size_t steps = 0;
  for (const Picture& picture : pictures) steps = std::max(steps, picture.caption.size() + 1);
  steps += padding;
  std::vector<float> pixels;
  Tokens input;
  Tokens target;
  for (const auto& [seed, caption] : pictures) {
    Random random(seed);
    for (const float pixel : uniform({kSide * kSide}, 0.0, 1.0, random).to_vector<float>())
      pixels.push_back(pixel);
    Tokens in{kBos};
    in.insert(in.end(), caption.begin(), caption.end());
    in.resize(steps, kPad);
    Tokens out = caption;
    out.push_back(kEos);
    out.resize(steps, kPad);
    input.insert(input.end(), in.begin(), in.end());
    target.insert(target.end(), out.begin(), out.end());
  }
  const auto rows = static_cast<std::int64_t>(pictures.size());
  const Shape shape{rows, static_cast<std::int64_t>(steps)};
  return {Tensor::from(pixels, {rows, kSide, kSide}).to(dtype), Tensor::from(input, shape),
          Tensor::from(target, shape)};
}

const std::vector<Picture> kPictures{{1, {4, 5, 6}}, {2, {5}}, {3, {6, 6}}};

double loss_of(Captioner& model, const CaptionBatch& batch) {
  const NoGrad off_the_tape;
  return model.loss(batch, {.doubly = 0.3}).item();
}

TEST(Captioner, SoftGradientsAreFiniteDifferences) {
  Captioner model = made(Looking::soft, DType::f64);
  const CaptionBatch batch = batch_of(kPictures, DType::f64);
  model.loss(batch, {.doubly = 0.3}).backward();
  for (const auto& [name, parameter] : model.named_parameters()) {
    ASSERT_TRUE(parameter.grad().defined()) << name;
    const auto grad = parameter.grad().to_vector<double>();
    auto* numbers = parameter.mutable_data<double>();
    bool learns = false;
    for (std::size_t i = 0; i < grad.size(); i += 1 + grad.size() / 20) {
      const double kept = numbers[i];
      numbers[i] = kept + test::kDifferenceStep;
      const double above = loss_of(model, batch);
      numbers[i] = kept - test::kDifferenceStep;
      const double below = loss_of(model, batch);
      numbers[i] = kept;
      EXPECT_TRUE(test::close(grad[i], (above - below) / (2.0 * test::kDifferenceStep),
                              test::kDifferenceTolerance))
          << name << "[" << i << "]";
      learns = learns || grad[i] != 0.0;
    }
    EXPECT_TRUE(learns) << name << " has a gradient of zeros";
  }
}

TEST(Captioner, PaddingChangesNothing) {
  for (const Looking looking : {Looking::soft, Looking::hard}) {
    Captioner model = made(looking);
    model.eval();
    EXPECT_TRUE(test::close(loss_of(model, batch_of(kPictures, DType::f32, 3)),
                            loss_of(model, batch_of(kPictures)), kCaptionWithin));
  }
}

TEST(Captioner, ABatchIsItsRows) {
  for (const Looking looking : {Looking::soft, Looking::hard}) {
    Captioner model = made(looking);
    model.eval();
    const NoGrad off_the_tape;
    const CaptionReading all = model.read(batch_of(kPictures));
    const auto log_py = all.log_py.to_vector<float>();
    for (std::size_t row = 0; row < kPictures.size(); ++row) {
      const CaptionReading one = model.read(batch_of({kPictures[row]}));
      EXPECT_TRUE(test::close(log_py[row], one.log_py.item(), kCaptionWithin)) << row;
    }
  }
}

/// Every way to look at places in both steps of a caption of one word.
std::vector<Tensor> every_pair_of_places() {
  std::vector<Tensor> all;
  for (std::int64_t first = 0; first < kPlaces; ++first)
    for (std::int64_t second = 0; second < kPlaces; ++second)
      all.push_back(Tensor::from(Tokens{first, second}, {1, 2}));
  return all;
}

/// log of the probability to look there, with its gradient: [1].
Tensor log_of_places(const CaptionReading& reading) {
  return sum(nn::hard_attention(reading.scores, Tensor::zeros({1, kPlaces, 1}, DType::f64),
                                reading.places)
                 .log_prob,
             1);
}

TEST(Captioner, ReinforceIsTheGradientOfTheExpectationByEnumeration) {
  Captioner model = made(Looking::hard, DType::f64);
  const CaptionBatch batch = batch_of({{7, {5}}}, DType::f64);
  // -sum over s of p(s) log p(y | s), differentiated as it stands.
  model.zero_grad();
  std::vector<double> probabilities;
  double total = 0.0;
  for (const Tensor& places : every_pair_of_places()) {
    const CaptionReading reading = model.read(batch, places);
    const Tensor probability = exp(log_of_places(reading));
    probabilities.push_back(probability.item());
    total += probabilities.back();
    neg(sum(probability * reading.log_py)).backward();
  }
  ASSERT_TRUE(test::close(total, 1.0, test::tolerance(DType::f64, 64)));
  std::map<std::string, std::vector<double>> want;
  for (const auto& [name, parameter] : model.named_parameters())
    want[name] = parameter.grad().to_vector<double>();

  // The mean of the surrogate's gradient over all draws; any baseline that stays gives the
  // same.
  model.zero_grad();
  find_tensor(model.named_buffers(), "baseline").fill(-1.5);
  const std::vector<Tensor> draws = every_pair_of_places();
  for (std::size_t i = 0; i < draws.size(); ++i) {
    const CaptionReading reading = model.read(batch, draws[i]);
    const Tensor surrogate =
        model.reinforce(batch, reading, {.lambda_r = 1.0, .lambda_e = 0.0, .decay = 1.0});
    sum(surrogate * probabilities[i]).backward();
  }
  for (const auto& [name, parameter] : model.named_parameters()) {
    const auto got = parameter.grad().to_vector<double>();
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_TRUE(test::close(got[i], want[name][i], test::kDifferenceTolerance))
          << name << "[" << i << "]";
  }
}

TEST(Captioner, TheBaselineFollowsTheReward) {
  Captioner model = made(Looking::hard);
  const auto baseline = [&] { return find_tensor(model.named_buffers(), "baseline").item(); };
  EXPECT_EQ(baseline(), 0.0);
  for (int i = 0; i < 80; ++i) (void)model.loss(batch_of(kPictures));
  // Captions of some three words of seven, none known yet.
  EXPECT_LT(baseline(), -2.0);
  EXPECT_GT(baseline(), -12.0);
}

TEST(Captioner, SaysTheLikeliestWordAndWhereItLooked) {
  for (const Looking looking : {Looking::soft, Looking::hard}) {
    Captioner model = made(looking);
    model.eval();
    const Tensor canvas = batch_of(kPictures).canvas;
    const auto described = model.describe(canvas, 5);
    ASSERT_EQ(described.size(), kPictures.size());
    for (std::size_t row = 0; row < described.size(); ++row) {
      const Described& one = described[row];
      ASSERT_LE(one.words.size(), 5u);
      ASSERT_EQ(one.weights.size(), (one.words.size() + 1) * kPlaces);
      ASSERT_EQ(one.gates.size(), one.words.size() + 1);
      for (std::size_t t = 0; t <= one.words.size(); ++t) {
        double all = 0.0;
        double most = 0.0;
        for (std::size_t place = 0; place < kPlaces; ++place) {
          const double weight = one.weights[t * kPlaces + place];
          all += weight;
          most = std::max(most, weight);
        }
        EXPECT_TRUE(test::close(all, 1.0, kCaptionWithin));
        EXPECT_EQ(most == 1.0, looking == Looking::hard);
      }
      // Teacher forcing with the words that were said believes in them as much.
      const NoGrad off_the_tape;
      CaptionBatch same = batch_of({{kPictures[row].seed, one.words}});
      EXPECT_TRUE(
          test::close(model.read(same).log_py.item(), one.log_probability, kCaptionWithin));
      // Alone it says the same.
      const auto alone = model.describe(
          canvas.slice(0, static_cast<std::int64_t>(row), static_cast<std::int64_t>(row) + 1),
          5);
      EXPECT_EQ(alone[0].words, one.words);
    }
  }
}

TEST(Captioner, BothWaysToLookLearn) {
  for (const Looking looking : {Looking::soft, Looking::hard}) {
    Captioner model = made(looking);
    nn::Adam optimiser = nn::adam_w(model, 0.0);
    const CaptionBatch batch = batch_of(kPictures);
    for (int i = 0; i < 150; ++i) {
      optimiser.zero_grad();
      model.loss(batch, {.doubly = 0.01}).backward();
      optimiser.step(0.02);
    }
    model.eval();
    const auto described = model.describe(batch.canvas, 4);
    for (std::size_t row = 0; row < described.size(); ++row) {
      EXPECT_EQ(described[row].words, kPictures[row].caption) << name_of(looking);
      EXPECT_TRUE(described[row].finished);
    }
  }
}

TEST(Captioner, WrongSizesAreErrorsThatSaySo) {
  Captioner model = made(Looking::soft);
  CaptionBatch batch = batch_of(kPictures);
  batch.canvas = Tensor::zeros({3, 5, 8});
  EXPECT_THROW(model.loss(batch), InvalidArgument);
  batch = batch_of(kPictures);
  batch.target = Tensor::zeros({3, 1}, DType::i64);
  EXPECT_THROW(model.loss(batch), InvalidArgument);
  EXPECT_THROW(model.describe(batch.canvas, 0), InvalidArgument);
  EXPECT_THROW(looking_named("sideways"), InvalidArgument);
  CaptionerOptions options = tiny_captioner(Looking::soft);
  options.side = 12;
  EXPECT_THROW(Captioner{options}, InvalidArgument);
  options = tiny_captioner(Looking::soft);
  options.vocabulary = 2;
  EXPECT_THROW(Captioner{options}, InvalidArgument);
}

}  // namespace
}  // namespace attn::models
