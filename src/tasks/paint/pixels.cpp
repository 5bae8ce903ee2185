#include "tasks/paint/pixels.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attn/tasks/caption/canvas.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/value.hpp"
#include "tasks/dice.hpp"

namespace attn::tasks::paint {
namespace {

constexpr std::uint64_t kDevelopmentSeed = 0xD0;
constexpr std::uint64_t kTestSeed = 0x7E;

std::string id_of(const char* what, std::size_t index) {
  std::string number = std::to_string(index);
  number.insert(0, 5 - std::min<std::size_t>(5, number.size()), '0');
  return std::string(what) + "-" + number;
}

template <class Make>
std::vector<Example> examples_of(const Digits& digits, const char* part, const Make& make) {
  std::vector<Example> examples;
  examples.reserve(digits.size());
  for (std::size_t i = 0; i < digits.size(); ++i) {
    Example example{
        .id = id_of(part, i), .source = "", .targets = {std::to_string(int{digits.labels[i]})}};
    example.parts.emplace(part, make(digits.at(i), i));
    examples.push_back(std::move(example));
  }
  return examples;
}

}  // namespace

Bits draw_bits(std::span<const std::uint8_t> grey, std::uint64_t seed, std::uint64_t index) {
  Dice dice(seed, index);
  Bits bits;
  bits.reserve(grey.size());
  for (const std::uint8_t pixel : grey)
    bits.push_back(dice.between(0, 254) < std::int64_t{pixel} ? 1 : 0);
  return bits;
}

Picture picture_of(const Bits& bits) {
  Picture picture{kSide, kSide, 1, {}};
  for (const std::uint8_t bit : bits) picture.pixels.push_back(bit != 0 ? 255 : 0);
  return picture;
}

Bits bits_of(const Picture& picture) {
  Bits bits;
  for (const std::uint8_t pixel : picture.pixels) bits.push_back(pixel >= 128 ? 1 : 0);
  return bits;
}

Corpus corpus_of(const DigitParts& parts) {
  const auto once = [](std::uint64_t seed) {
    return [seed](std::span<const std::uint8_t> grey, std::size_t i) {
      return picture_of(draw_bits(grey, seed, i));
    };
  };
  Corpus corpus;
  corpus.name = "MNIST digits in two colours";
  corpus.train = examples_of(parts.train, kDigit, [](auto grey, std::size_t) {
    return Picture{kSide, kSide, 1, {grey.begin(), grey.end()}};
  });
  corpus.development = examples_of(parts.development, kFixed, once(kDevelopmentSeed));
  corpus.test = examples_of(parts.test, kFixed, once(kTestSeed));
  corpus.shuffled = true;
  return corpus;
}

}  // namespace attn::tasks::paint
