/// Slots: named runs of words, as BIO tags tell them.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep
#include "attn/tasks/answer.hpp"

namespace attn::tasks::classify {

/// Words [begin, end) of the text.
struct Slot {
  std::string name;
  std::size_t begin = 0;
  std::size_t end = 0;

  bool operator==(const Slot&) const = default;
};

/// Of tags "O", "B-name" and "I-name"; an I- that continues nothing begins a slot, as the
/// script of CoNLL has it.
std::vector<Slot> slots_of(std::span<const std::string> tags);

/// Whether it is "O", "B-name" or "I-name".
bool is_tag(const std::string& tag);

/// The likeliest tags that fit together, an I- behind a B- or I- of the same name alone:
/// log_probs [words, tags]. Viterbi, 1967.
std::vector<std::size_t> likeliest_tags(std::span<const float> log_probs,
                                        std::span<const std::string> tags);

/// The slots as an answer tells them: a table of names and words, and, as numbers, where each
/// begins and ends among the words.
void put_slots(std::span<const Slot> slots, std::span<const std::string> words, Answer& answer);
std::vector<Slot> slots_in(const Answer& answer);

/// Of slots that must agree in name and extent, of 100.
class SlotScore {
 public:
  void add(const std::vector<Slot>& answer, const std::vector<Slot>& right);
  double f1() const;

 private:
  std::size_t answered_ = 0;
  std::size_t wanted_ = 0;
  std::size_t right_ = 0;
};

}  // namespace attn::tasks::classify
