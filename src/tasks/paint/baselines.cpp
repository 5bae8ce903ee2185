// What pictures give away without attention: how often a pixel is ink, and what its nearest
// earlier pixels tell of it.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "attn/tasks/corpus.hpp"
#include "attn/tasks/value.hpp"
#include "tasks/paint/pixels.hpp"

namespace attn::tasks::paint {
namespace {

constexpr std::uint64_t kBaselineSeed = 0xBA5E;
constexpr std::int64_t kReach = 4;  ///< pixels up, left and right, as the decoder's window
constexpr std::size_t kLearnt = 10000;
constexpr int kEpochs = 3;
constexpr double kRate = 0.02;

struct Offset {
  std::int64_t down;
  std::int64_t across;
};

/// Of earlier pixels.
const std::vector<Offset>& offsets() {
  static const std::vector<Offset> kOffsets = [] {
    std::vector<Offset> all;
    for (std::int64_t down = -kReach; down <= 0; ++down)
      for (std::int64_t across = -kReach; across <= (down < 0 ? kReach : -1); ++across)
        all.push_back({down, across});
    return all;
  }();
  return kOffsets;
}

const Picture& part(const Example& example, const char* name) {
  return std::get<Picture>(example.parts.at(name));
}

std::vector<Bits> training_bits(const Corpus& corpus) {
  std::vector<Bits> all;
  for (std::size_t i = 0; i < std::min(kLearnt, corpus.train.size()); ++i)
    all.push_back(draw_bits(part(corpus.train[i], kDigit).pixels, kBaselineSeed, i));
  return all;
}

double cost(double chance, bool ink) {
  return -std::log(std::clamp(ink ? chance : 1.0 - chance, 1e-9, 1.0));
}

double of_counts(const std::vector<Bits>& train, const std::vector<Bits>& test) {
  std::array<double, kPixels> ink{};
  for (const Bits& bits : train)
    for (std::size_t i = 0; i < ink.size(); ++i) ink[i] += bits[i];
  double nats = 0.0;
  for (const Bits& bits : test)
    for (std::size_t i = 0; i < ink.size(); ++i)
      nats += cost((ink[i] + 0.5) / (static_cast<double>(train.size()) + 1.0), bits[i] != 0);
  return nats / static_cast<double>(test.size());
}

/// p = sigmoid(bias of the pixel + weights of its window).
class Regression {
 public:
  Regression() : weights_(offsets().size(), 0.0), biases_(kPixels, 0.0) {}

  void learn(const Bits& bits, double rate) {
    for (std::int64_t i = 0; i < kPixels; ++i) {
      const double wrong = chance(bits, i) - bits[static_cast<std::size_t>(i)];
      each(bits, i, [&](std::size_t k) { weights_[k] -= rate * wrong; });
      biases_[static_cast<std::size_t>(i)] -= rate * wrong;
    }
  }

  double nats(const Bits& bits) const {
    double sum = 0.0;
    for (std::int64_t i = 0; i < kPixels; ++i)
      sum += cost(chance(bits, i), bits[static_cast<std::size_t>(i)] != 0);
    return sum;
  }

 private:
  /// For each earlier pixel of the window that is ink.
  template <class Do>
  static void each(const Bits& bits, std::int64_t i, const Do& work) {
    for (std::size_t k = 0; k < offsets().size(); ++k) {
      const std::int64_t row = i / kSide + offsets()[k].down;
      const std::int64_t column = i % kSide + offsets()[k].across;
      if (row < 0 || column < 0 || column >= kSide) continue;
      if (bits[static_cast<std::size_t>(row * kSide + column)] != 0) work(k);
    }
  }

  double chance(const Bits& bits, std::int64_t i) const {
    double sum = biases_[static_cast<std::size_t>(i)];
    each(bits, i, [&](std::size_t k) { sum += weights_[k]; });
    return 1.0 / (1.0 + std::exp(-sum));
  }

  std::vector<double> weights_;
  std::vector<double> biases_;
};

double of_regression(const std::vector<Bits>& train, const std::vector<Bits>& test) {
  Regression regression;
  for (int epoch = 0; epoch < kEpochs; ++epoch)
    for (const Bits& bits : train) regression.learn(bits, kRate / (1.0 + 2.0 * epoch));
  double nats = 0.0;
  for (const Bits& bits : test) nats += regression.nats(bits);
  return nats / static_cast<double>(test.size());
}

}  // namespace

std::vector<std::pair<std::string, double>> baselines_of(const Corpus& corpus) {
  const std::vector<Bits> train = training_bits(corpus);
  std::vector<Bits> test;
  test.reserve(corpus.test.size());
  for (const Example& example : corpus.test) test.push_back(bits_of(part(example, kFixed)));
  if (train.empty() || test.empty()) return {};
  return {{"how often each pixel is ink", of_counts(train, test)},
          {"logistic regression on the 40 nearest earlier pixels", of_regression(train, test)}};
}

}  // namespace attn::tasks::paint
