/// What a task is asked and what it answers, with what the model looked at.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "attn/maps/map.hpp"
#include "attn/models/search.hpp"
#include "attn/models/steering.hpp"
#include "attn/tasks/value.hpp"

namespace attn::tasks {

/// Values by name. Most tasks read one, "text" or "picture"; a task that answers questions
/// about a picture reads "picture" and "question".
struct Input {
  std::map<std::string, Value> parts;

  Input() = default;
  Input(std::string text) {  // NOLINT(google-explicit-constructor)
    parts.emplace("text", std::move(text));
  }
  Input(const char* text) : Input(std::string(text)) {}  // NOLINT(google-explicit-constructor)
  Input(Picture picture) {                               // NOLINT(google-explicit-constructor)
    parts.emplace("picture", std::move(picture));
  }
  Input(Sound sound) {  // NOLINT(google-explicit-constructor)
    parts.emplace("sound", std::move(sound));
  }

  /// Null where there is no part of that name and kind.
  template <class T>
  const T* find(const std::string& name) const {
    const auto at = parts.find(name);
    return at == parts.end() ? nullptr : std::get_if<T>(&at->second);
  }
  /// The part "text"; empty where there is none.
  const std::string& text() const;
};

/// What the caller decides about an answer. What is left out, the task decides.
struct Choices {
  /// None: the task's, or `best` where that is more.
  std::optional<std::int64_t> beam{};
  std::optional<double> length_penalty{};
  std::optional<std::int64_t> no_repeat{};
  std::optional<models::Choice> choice{};
  std::int64_t best = 1;     ///< answers; more of them change none of the first
  double temperature = 0.0;  ///< of sampling; that of attention is steering.temperature
  std::int64_t top = 0;
  std::uint64_t seed = 1;
  /// Positions count over the tokens of the whole text, the end of each piece included. The
  /// step of a forced position counts within the piece that holds the position.
  models::Steering steering{};
  bool weights = true;  ///< answers of text have them; without, they may come faster

  // Of tasks that write on (Task::writing).
  std::optional<std::int64_t> tokens{};  ///< at most
  double top_p = 1.0;                    ///< the share of probability that is sampled from
  /// Is told each part of the text as it is written, whole characters; false: it ends there.
  std::function<bool(std::string_view)> told{};

  // Of tasks that read sounds, whose `told` gets a line at a time.
  /// Is told now and then what share of the sound is read.
  std::function<void(double)> progress{};
};

struct Answer {
  std::string text;               ///< as a person reads it
  std::optional<Value> output{};  ///< where a text does not hold all of it
  std::optional<Table> table{};   ///< what stands beside it: the slots of a labelled text
  double score = 0.0;             ///< as the search ranked it
  double log_probability = 0.0;
  bool finished = false;             ///< false: it was cut at the longest length
  std::vector<std::int64_t> source;  ///< tokens it read, eos included
  std::vector<std::int64_t> target;  ///< tokens it wrote
  /// [target + 1, positions of the input], the last row of kEos; empty without attention, or
  /// where not wanted. Of a Transformer the mean over the heads of its last cross-attention.
  std::vector<float> weights;
  /// What else the model tells, by name: "gates" of each step.
  std::map<std::string, std::vector<float>> numbers{};
  /// The map of it, of a model that draws while it answers, where weights were wanted.
  std::shared_ptr<const maps::Map> map{};
};

/// What the model read in one go.
struct Piece {
  std::string source;           ///< the part of the text
  bool cut = false;             ///< it is longer than the model reads
  models::Steering steering{};  ///< the part of the steering that belongs to it
  std::vector<Answer> answers;  ///< best first
};

struct Reply {
  /// Of the whole input, best first. Those of several pieces are joined: texts by spaces,
  /// scores added, tokens one behind another, weights along the diagonal.
  std::vector<Answer> answers;
  std::vector<Piece> pieces;
  bool cut = false;  ///< part of the input was not read
  /// The input is unlike what the model learnt from; of a model that was calibrated.
  bool unfamiliar = false;
  /// What a person should know of this answer, a sentence each.
  std::vector<std::string> notes;
};

/// Called now and then with how many inputs are done.
using Done = std::function<void(std::int64_t)>;

}  // namespace attn::tasks
