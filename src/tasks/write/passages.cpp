#include "tasks/write/passages.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"

namespace attn::tasks {
namespace {

constexpr const char* kPassage = "passage";
constexpr const char* kPlace = "place";
constexpr const char* kWhole = "whole";
constexpr const char* kBegin = "begin";
constexpr const char* kMiddle = "middle";
constexpr const char* kEnd = "end";

/// Where a passage from `begin` ends: behind the first white space from `most` bytes on, not
/// much later, and never within a character.
std::size_t end_of(std::string_view text, std::size_t begin, std::size_t most) {
  constexpr std::size_t kLongestWord = 64;
  std::size_t end = std::min(text.size(), begin + most);
  const std::size_t last = std::min(text.size(), end + kLongestWord);
  const std::size_t space = text.substr(0, last).find_first_of(" \n", end);
  if (space != std::string_view::npos) return space + 1;
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) ++end;
  return end;
}

}  // namespace

bool is_passage(const Input& input) {
  return input.find<std::string>(kPassage) != nullptr;
}

Excerpt passage_of(const Input& input) {
  const auto* text = input.find<std::string>(kPassage);
  const auto* place = input.find<std::string>(kPlace);
  if (text == nullptr) fail("attn::tasks::write: there is no passage");
  const std::string_view where = place == nullptr ? kWhole : std::string_view(*place);
  return {*text, where == kWhole || where == kBegin, where == kWhole || where == kEnd};
}

std::vector<Example> cut(const Document& document, std::size_t most) {
  std::vector<Example> passages;
  const std::string_view text = document.text;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = end_of(text, begin, most);
    const bool first = begin == 0;
    const bool last = end == text.size() && document.ends;
    const char* place = first && last ? kWhole : first ? kBegin : last ? kEnd : kMiddle;
    Example example{.id = document.id, .source = "", .targets = {""}};
    if (!first || end != text.size()) example.id += " " + std::to_string(begin);
    example.parts = {{kPassage, std::string(text.substr(begin, end - begin))},
                     {kPlace, std::string(place)}};
    passages.push_back(std::move(example));
    begin = end;
  }
  return passages;
}

std::string joined(std::span<const Example> passages) {
  std::string text;
  for (const Example& passage : passages) text += passage_of(passage.input()).text;
  return text;
}

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

}  // namespace attn::tasks
