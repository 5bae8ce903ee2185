#include "tasks/caption/facts.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iomanip>
#include <ios>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "attn/tasks/caption/canvas.hpp"
#include "attn/tasks/caption/digits.hpp"
#include "attn/tasks/corpus.hpp"

namespace attn::tasks {
namespace {

struct CanvasCounts {
  std::size_t by_digits[4] = {};  ///< canvases with one, two and three digits
  std::map<std::string, std::size_t> words;
  std::size_t captions = 0;  ///< different ones
  double most_frequent = 0.0;
};

CanvasCounts counts_of(std::span<const Example> canvases) {
  CanvasCounts counts;
  std::map<std::string, std::size_t> captions;
  for (const Example& canvas : canvases) {
    ++counts.by_digits[std::min<std::size_t>(3, canvas.boxes.size())];
    ++captions[canvas.targets.front()];
    for (const std::int64_t token : caption_tokens(canvas.targets.front()))
      ++counts.words[caption_text({token})];
  }
  counts.captions = captions.size();
  std::size_t most = 0;
  for (const auto& [caption, count] : captions) most = std::max(most, count);
  counts.most_frequent = 100.0 * static_cast<double>(most) /
                         static_cast<double>(std::max<std::size_t>(1, canvases.size()));
  return counts;
}

}  // namespace

nlohmann::json facts_json(const Corpus& corpus, std::span<const Example> samples) {
  const DigitParts parts = load_digits([](std::string_view) {});
  const CanvasCounts counts = counts_of(corpus.test);
  nlohmann::json json{
      {"digits",
       {{"train", parts.train.size()},
        {"development", parts.development.size()},
        {"test", parts.test.size()}}},
      {"test_canvases",
       {{"count", corpus.test.size()},
        {"with_digits", {counts.by_digits[1], counts.by_digits[2], counts.by_digits[3]}},
        {"captions", counts.captions},
        {"words", counts.words},
        {"most_frequent_caption", counts.most_frequent}}}};
  for (const Example& sample : samples) {
    nlohmann::json digits = nlohmann::json::array();
    for (const Box& box : sample.boxes)
      digits.push_back({{"digit", std::stoi(box.label)},
                        {"x", box.x},
                        {"y", box.y},
                        {"width", box.width},
                        {"height", box.height}});
    json["samples"].push_back(
        {{"caption", sample.targets.front()}, {"digits", std::move(digits)}});
  }
  return json;
}

std::string facts_text(const Corpus& corpus) {
  const DigitParts parts = load_digits([](std::string_view) {});
  const CanvasCounts counts = counts_of(corpus.test);
  std::ostringstream text;
  text << "\n  digits of MNIST: " << parts.train.size() << " train, "
       << parts.development.size() << " development, " << parts.test.size()
       << " test; parts share none\n  test canvases: " << corpus.test.size() << ", of which "
       << counts.by_digits[1] << " with one digit, " << counts.by_digits[2] << " with two, "
       << counts.by_digits[3] << " with three\n  captions: " << counts.captions
       << " different ones; saying the most frequent is right on " << std::fixed
       << std::setprecision(1) << counts.most_frequent << " %\n";
  return text.str();
}

}  // namespace attn::tasks
