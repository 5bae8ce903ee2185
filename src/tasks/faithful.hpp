/// Faithful: what an answer must neither invent nor lose, as rules of a search.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/text/tokeniser.hpp"

namespace attn::tasks {

/// For one batch of texts. Constant once made.
class Faithful {
 public:
  /// The rules of the task that the model's calibration found its data to follow.
  Faithful(const PairModel& model, const PairTask& task, std::span<const std::string> texts);

  bool has_rules() const { return numbers_ != Numbers::free || !marks_.empty(); }

  /// Forbids digits that would make a number which the text does not have, an end within one,
  /// and marks that the text does not have.
  void forbid(std::size_t text, std::span<const std::int64_t> said,
              std::span<float> log_probabilities) const;

  /// What the numbers cost that the answer lacks.
  double fault(std::size_t text, std::span<const std::int64_t> said) const;

 private:
  /// A token as it is written, if a digit or a mark is in it.
  struct Written {
    std::int64_t token;
    std::string text;
  };
  struct Source {
    std::vector<std::string> numbers;
    bool free = false;                              ///< its answer may have any number
    std::set<std::string, std::less<>> beginnings;  ///< of its numbers
    std::vector<std::int64_t> no_marks;             ///< tokens with marks that the text lacks
    std::vector<std::int64_t> no_digits;  ///< tokens that may not follow outside a number
  };

  std::string open_number(std::span<const std::int64_t> said) const;
  bool may_follow(const Source& source, const std::string& number, std::string_view text) const;

  const text::Tokeniser& target_;
  Numbers numbers_ = Numbers::free;
  std::string marks_;
  std::vector<std::string> texts_;  ///< of each token with a digit; else empty
  std::vector<Written> digits_;
  std::vector<Written> marked_;
  std::vector<Source> sources_;
};

}  // namespace attn::tasks
