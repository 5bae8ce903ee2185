#include "tasks/faithful.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/text/tokeniser.hpp"
#include "attn/text/unicode.hpp"

namespace attn::tasks {
namespace {

constexpr float kForbidden = -std::numeric_limits<float>::infinity();
/// Of the score, for each number that is lost. Chosen on the development part of translate.
constexpr double kLostNumber = 1.0;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// A token as it is written: bytes as what they stand for, the beginning of a word as a space.
std::string written(const text::Tokeniser& tokeniser, std::int64_t token) {
  const std::string label = tokeniser.label(token);
  if (label.size() == 6 && label.starts_with("<0x") && label.back() == '>') {
    const auto byte = std::strtoul(label.substr(3, 2).c_str(), nullptr, 16);
    return std::string(1, static_cast<char>(byte));
  }
  const bool word = tokeniser.units() == text::Units::words;
  return word ? " " + label : label;
}

std::size_t leading_digits(std::string_view text) {
  return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) -
                                  text.begin());
}

}  // namespace

Faithful::Faithful(const PairModel& model, const PairTask& task,
                   std::span<const std::string> texts)
    : target_(model.target) {
  if (!model.calibration) return;
  if (model.calibration->copies_numbers || model.calibration->copies_digits)
    numbers_ = task.numbers;
  marks_ = model.calibration->copied_marks;
  if (!has_rules()) return;
  texts_.resize(static_cast<std::size_t>(target_.size()));
  for (std::int64_t token = text::Mark::unknown + 1; token < target_.size(); ++token) {
    const std::string text = written(target_, token);
    if (numbers_ != Numbers::free && std::any_of(text.begin(), text.end(), is_digit)) {
      texts_[static_cast<std::size_t>(token)] = text;
      digits_.push_back({token, text});
    }
    if (text.find_first_of(marks_) != std::string::npos) marked_.push_back({token, text});
  }
  for (const std::string& text : texts) {
    Source& source = sources_.emplace_back();
    const std::string plain = text::normalise(text);
    source.numbers = numbers_of(plain);
    source.free = !model.calibration->copies_numbers && source.numbers.empty();
    for (const std::string& number : source.numbers)
      for (std::size_t length = 1; length <= number.size(); ++length)
        source.beginnings.insert(number.substr(0, length));
    std::string missing = marks_;
    std::erase_if(missing, [&](char mark) { return plain.find(mark) != std::string::npos; });
    for (const Written& one : marked_)
      if (one.text.find_first_of(missing) != std::string::npos)
        source.no_marks.push_back(one.token);
    for (const Written& one : digits_)
      if (!may_follow(source, "", one.text)) source.no_digits.push_back(one.token);
  }
}

/// The digits that the answer ends with so far.
std::string Faithful::open_number(std::span<const std::int64_t> said) const {
  std::string number;
  for (std::size_t i = said.size(); i-- > 0;) {
    const std::string& text = texts_[static_cast<std::size_t>(said[i])];
    const auto first = std::find_if_not(text.rbegin(), text.rend(), is_digit).base();
    number.insert(0, text, static_cast<std::size_t>(first - text.begin()), std::string::npos);
    if (text.empty() || first != text.begin()) break;
  }
  return number;
}

bool Faithful::may_follow(const Source& source, const std::string& number,
                          std::string_view text) const {
  const auto is_whole = [&](const std::string& one) {
    return std::find(source.numbers.begin(), source.numbers.end(), one) != source.numbers.end();
  };
  std::string open = number;
  while (true) {
    const std::size_t digits = leading_digits(text);
    open += text.substr(0, digits);
    text.remove_prefix(digits);
    if (text.empty()) return open.empty() || source.beginnings.contains(open);
    if (!open.empty() && !is_whole(open)) return false;
    open.clear();
    text.remove_prefix(1);
  }
}

void Faithful::forbid(std::size_t text, std::span<const std::int64_t> said,
                      std::span<float> log_probabilities) const {
  const Source& source = sources_[text];
  const auto forbid = [&](std::int64_t token) {
    log_probabilities[static_cast<std::size_t>(token)] = kForbidden;
  };
  std::for_each(source.no_marks.begin(), source.no_marks.end(), forbid);
  if (numbers_ == Numbers::free || source.free) return;

  const std::string number = open_number(said);
  if (number.empty()) {
    std::for_each(source.no_digits.begin(), source.no_digits.end(), forbid);
    return;
  }
  const bool is_open =
      std::find(source.numbers.begin(), source.numbers.end(), number) == source.numbers.end();
  bool goes_on = false;
  for (const Written& one : digits_) {
    if (!may_follow(source, number, one.text)) {
      forbid(one.token);
    } else if (std::isfinite(log_probabilities[static_cast<std::size_t>(one.token)])) {
      goes_on = true;
    }
  }
  // Within a number nothing but its digits may come, unless something else forbids them.
  if (!is_open || !goes_on) return;
  for (std::size_t token = 0; token < log_probabilities.size(); ++token)
    if (texts_[token].empty()) log_probabilities[token] = kForbidden;
}

double Faithful::fault(std::size_t text, std::span<const std::int64_t> said) const {
  const Source& source = sources_[text];
  if (numbers_ != Numbers::all || source.numbers.empty()) return 0.0;
  std::vector<std::string> answered = numbers_of(target_.decode(said));
  double lost = 0.0;
  for (const std::string& number : source.numbers) {
    const auto same = std::find(answered.begin(), answered.end(), number);
    if (same == answered.end()) {
      lost += 1.0;
    } else {
      answered.erase(same);
    }
  }
  return kLostNumber * lost;
}

}  // namespace attn::tasks
