#include "tasks/look/scene.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/thread_pool.hpp"
#include "attn/files/printable.hpp"
#include "attn/tasks/caption/canvas.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/value.hpp"
#include "tasks/dice.hpp"

namespace attn::tasks::look {
namespace {

constexpr SceneKind kKinds[] = {{"translated", 60, 0}, {"cluttered", 60, 4}, {"large", 100, 8}};

// Seeds of the composed parts; a training draws its own.
constexpr std::uint64_t kDevelopmentSeed = 0xD0;
constexpr std::uint64_t kTestSeed = 0x7E;

/// A square of a digit, of which only ink is drawn.
void paint(std::span<const std::uint8_t> digit, std::int64_t from_x, std::int64_t from_y,
           std::int64_t size, std::span<std::uint8_t> scene, std::int64_t side, std::int64_t x,
           std::int64_t y) {
  for (std::int64_t row = 0; row < size; ++row) {
    const auto* from = digit.data() + (from_y + row) * kDigitSide + from_x;
    auto* to = scene.data() + (y + row) * side + x;
    for (std::int64_t column = 0; column < size; ++column)
      to[column] = std::max(to[column], from[column]);
  }
}

DigitList list_of(const Digits& digits) {
  DigitList list;
  list.reserve(digits.size());
  for (std::size_t i = 0; i < digits.size(); ++i) list.push_back(digits.at(i));
  return list;
}

std::string id_of(const char* what, std::size_t index) {
  std::string number = std::to_string(index);
  number.insert(0, 5 - std::min<std::size_t>(5, number.size()), '0');
  return std::string(what) + "-" + number;
}

std::vector<Example> digits_of(const Digits& digits) {
  std::vector<Example> examples;
  examples.reserve(digits.size());
  for (std::size_t i = 0; i < digits.size(); ++i) {
    Example example{.id = id_of(kDigit, i),
                    .source = "",
                    .targets = {std::to_string(int{digits.labels[i]})}};
    const auto pixels = digits.at(i);
    example.parts.emplace(kDigit,
                          Picture{kDigitSide, kDigitSide, 1, {pixels.begin(), pixels.end()}});
    examples.push_back(std::move(example));
  }
  return examples;
}

std::vector<Example> scenes_of(const Digits& digits, const SceneKind& kind,
                               std::uint64_t seed) {
  const std::vector<std::uint8_t> all = compose_scenes(list_of(digits), kind, seed);
  const auto size = static_cast<std::ptrdiff_t>(kind.side * kind.side);
  std::vector<Example> examples;
  examples.reserve(digits.size());
  for (std::size_t i = 0; i < digits.size(); ++i) {
    Example example{.id = id_of(kScene, i),
                    .source = "",
                    .targets = {std::to_string(int{digits.labels[i]})}};
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(i) * size;
    example.parts.emplace(kScene, Picture{kind.side, kind.side, 1, {first, first + size}});
    examples.push_back(std::move(example));
  }
  return examples;
}

}  // namespace

std::span<const SceneKind> scene_kinds() {
  return kKinds;
}

std::vector<std::string> scene_names() {
  std::vector<std::string> names;
  for (const SceneKind& kind : kKinds) names.emplace_back(kind.name);
  return names;
}

const SceneKind& scene_named(std::string_view name) {
  std::string known;
  for (const SceneKind& kind : kKinds) {
    if (kind.name == name) return kind;
    known += (known.empty() ? "" : ", ") + std::string(kind.name);
  }
  fail("there are no scenes ", files::in_quotes(std::string(name)), "; there are ", known);
}

void compose_scene(const DigitList& digits, std::size_t which, const SceneKind& kind,
                   std::uint64_t seed, std::uint64_t index, std::span<std::uint8_t> scene) {
  std::fill(scene.begin(), scene.end(), std::uint8_t{0});
  Dice dice(seed, index);
  const std::int64_t free = kind.side - kDigitSide;
  const std::int64_t left = dice.between(0, free);
  const std::int64_t top = dice.between(0, free);
  paint(digits[which], 0, 0, kDigitSide, scene, kind.side, left, top);
  for (std::int64_t piece = 0; piece < kind.pieces; ++piece) {
    const auto from =
        static_cast<std::size_t>(dice.between(0, static_cast<std::int64_t>(digits.size()) - 1));
    const std::int64_t from_x = dice.between(0, kDigitSide - kPieceSide);
    const std::int64_t from_y = dice.between(0, kDigitSide - kPieceSide);
    const std::int64_t x = dice.between(0, kind.side - kPieceSide);
    const std::int64_t y = dice.between(0, kind.side - kPieceSide);
    paint(digits[from], from_x, from_y, kPieceSide, scene, kind.side, x, y);
  }
}

std::vector<std::uint8_t> compose_scenes(const DigitList& digits, const SceneKind& kind,
                                         std::uint64_t seed) {
  const auto size = static_cast<std::size_t>(kind.side * kind.side);
  std::vector<std::uint8_t> all(digits.size() * size);
  constexpr std::size_t kAtOnce = 32;
  const std::size_t tasks = (digits.size() + kAtOnce - 1) / kAtOnce;
  ThreadPool::shared().parallel_for(
      static_cast<int>(tasks), ThreadPool::default_threads(), [&](int task) {
        const std::size_t begin = static_cast<std::size_t>(task) * kAtOnce;
        for (std::size_t i = begin; i < std::min(begin + kAtOnce, digits.size()); ++i)
          compose_scene(digits, i, kind, seed, i, std::span(all).subspan(i * size, size));
      });
  return all;
}

Corpus corpus_of(const DigitParts& parts, const SceneKind& kind) {
  Corpus corpus;
  corpus.name = "MNIST digits, " + std::string(kind.name);
  corpus.train = digits_of(parts.train);
  corpus.development = scenes_of(parts.development, kind, kDevelopmentSeed);
  corpus.test = scenes_of(parts.test, kind, kTestSeed);
  corpus.shuffled = true;
  return corpus;
}

}  // namespace attn::tasks::look
