#include "attn/tasks/numbers.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/text/unicode.hpp"

namespace attn::tasks {

std::vector<std::string> numbers_of(std::string_view text) {
  std::vector<std::string> numbers;
  bool inside = false;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (digit && !inside) numbers.emplace_back();
    if (digit) numbers.back() += c;
    inside = digit;
  }
  return numbers;
}

NumberCounts count_numbers(std::span<const std::string> texts,
                           std::span<const std::string> answers) {
  NumberCounts counts;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::vector<std::string> source = numbers_of(text::normalise(texts[i]));
    const std::vector<std::string> answer = numbers_of(text::normalise(answers[i]));
    counts.in_texts += source.size();
    counts.in_answers += answer.size();
    std::vector<std::string> open = source;
    for (const std::string& number : answer) {
      if (std::find(source.begin(), source.end(), number) == source.end()) ++counts.invented;
      const auto same = std::find(open.begin(), open.end(), number);
      if (same == open.end()) continue;
      open.erase(same);
      ++counts.kept;
    }
  }
  return counts;
}

}  // namespace attn::tasks
