// Slots from BIO tags and back to scores.

#include "tasks/classify/slots.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attn/tasks/answer.hpp"
#include "attn/tasks/value.hpp"

namespace attn::tasks::classify {
namespace {

/// Whether `tag` may stand behind `before`; at the front, behind "O".
bool may_follow(const std::string& before, const std::string& tag) {
  return !tag.starts_with("I-") || (before.size() > 2 && before.substr(2) == tag.substr(2));
}

}  // namespace

bool is_tag(const std::string& tag) {
  return tag == "O" || (tag.size() > 2 && (tag.starts_with("B-") || tag.starts_with("I-")));
}

std::vector<Slot> slots_of(std::span<const std::string> tags) {
  std::vector<Slot> slots;
  for (std::size_t i = 0; i < tags.size(); ++i) {
    if (tags[i] == "O") continue;
    const std::string name = tags[i].substr(2);
    const bool goes_on = tags[i].starts_with("I-") && !slots.empty() && slots.back().end == i &&
                         slots.back().name == name;
    if (goes_on) {
      slots.back().end = i + 1;
    } else {
      slots.push_back({name, i, i + 1});
    }
  }
  return slots;
}

std::vector<std::size_t> likeliest_tags(std::span<const float> log_probs,
                                        std::span<const std::string> tags) {
  const std::size_t kinds = tags.size();
  const std::size_t words = log_probs.size() / kinds;
  constexpr float kNever = -std::numeric_limits<float>::infinity();
  std::vector<char> fits(kinds * kinds);
  for (std::size_t before = 0; before < kinds; ++before)
    for (std::size_t tag = 0; tag < kinds; ++tag)
      fits[before * kinds + tag] = may_follow(tags[before], tags[tag]) ? 1 : 0;
  std::vector<float> best(words * kinds, kNever);
  std::vector<std::size_t> from(words * kinds, 0);
  for (std::size_t word = 0; word < words; ++word)
    for (std::size_t tag = 0; tag < kinds; ++tag) {
      const std::size_t at = word * kinds + tag;
      if (word == 0) {
        if (may_follow("O", tags[tag])) best[at] = log_probs[at];
        continue;
      }
      for (std::size_t before = 0; before < kinds; ++before) {
        const float sum = best[(word - 1) * kinds + before] + log_probs[at];
        if (sum > best[at] && fits[before * kinds + tag] != 0) {
          best[at] = sum;
          from[at] = before;
        }
      }
    }
  std::vector<std::size_t> path(words, 0);
  if (words == 0) return path;
  const auto last = best.end() - static_cast<std::ptrdiff_t>(kinds);
  path.back() = static_cast<std::size_t>(std::max_element(last, best.end()) - last);
  for (std::size_t word = words - 1; word > 0; --word)
    path[word - 1] = from[word * kinds + path[word]];
  return path;
}

void put_slots(std::span<const Slot> slots, std::span<const std::string> words,
               Answer& answer) {
  Table table{{"slot", "words"}, {}};
  std::vector<float>& begins = answer.numbers["begins"];
  std::vector<float>& ends = answer.numbers["ends"];
  for (const Slot& slot : slots) {
    std::string text;
    for (std::size_t i = slot.begin; i < slot.end; ++i)
      text += (i == slot.begin ? "" : " ") + words[i];
    table.rows.push_back({slot.name, text});
    begins.push_back(static_cast<float>(slot.begin));
    ends.push_back(static_cast<float>(slot.end));
  }
  answer.table = std::move(table);
}

std::vector<Slot> slots_in(const Answer& answer) {
  std::vector<Slot> slots;
  if (!answer.table) return slots;
  for (std::size_t i = 0; i < answer.table->rows.size(); ++i)
    slots.push_back({std::get<std::string>(answer.table->rows[i].front()),
                     static_cast<std::size_t>(answer.numbers.at("begins")[i]),
                     static_cast<std::size_t>(answer.numbers.at("ends")[i])});
  return slots;
}

void SlotScore::add(const std::vector<Slot>& answer, const std::vector<Slot>& right) {
  answered_ += answer.size();
  wanted_ += right.size();
  for (const Slot& slot : answer)
    right_ += std::find(right.begin(), right.end(), slot) != right.end() ? 1 : 0;
}

double SlotScore::f1() const {
  if (answered_ + wanted_ == 0) return 100.0;
  return 200.0 * static_cast<double>(right_) / static_cast<double>(answered_ + wanted_);
}

}  // namespace attn::tasks::classify
