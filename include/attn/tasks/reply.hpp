/// Answerer: what a model answers to a text, whichever door the text came through. Commands,
/// the server, `explain`, `eval` and programs all ask it, so that they all get one answer.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attn/models/search.hpp"
#include "attn/models/steering.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/task.hpp"

namespace attn::tasks {

/// What a task is asked: a text. Another kind of input becomes a member beside it.
struct Input {
  std::string text;

  Input(std::string words) : text(std::move(words)) {}  // NOLINT(google-explicit-constructor)
  Input(const char* words) : text(words) {}             // NOLINT(google-explicit-constructor)
};

/// What the caller decides about an answer. What is left out, the task decides.
struct Choices {
  /// None: the task's, or `best` where that is more.
  std::optional<std::int64_t> beam{};
  std::optional<double> length_penalty{};
  std::optional<std::int64_t> no_repeat{};
  std::optional<models::Choice> choice{};
  std::int64_t best = 1;  ///< answers; more of them change none of the first
  double temperature = 0.0;
  std::int64_t top = 0;
  std::uint64_t seed = 1;
  /// Positions count over the tokens of the whole text, the end of each piece included. The
  /// step of a forced position counts within the piece that holds the position.
  models::Steering steering{};
};

/// The task's search with the choices over it. InvalidArgument where they do not go together.
models::SearchOptions search_of(const Task& task, const Choices& choices);

/// What the model read in one go.
struct Piece {
  std::string source;           ///< the part of the text
  bool cut = false;             ///< it is longer than the model reads
  models::Steering steering{};  ///< the part of the steering that belongs to it
  std::vector<Answer> answers;  ///< best first
};

struct Reply {
  /// Of the whole text, best first. Those of several pieces are joined: texts by spaces, scores
  /// added, tokens one behind another, weights along the diagonal.
  std::vector<Answer> answers;
  std::vector<Piece> pieces;
  bool cut = false;  ///< part of the text was not read
  /// The text is unlike what the model learnt from; of a model that was calibrated.
  bool unfamiliar = false;
  /// What a person should know of this answer, a sentence each.
  std::vector<std::string> notes;
};

/// The mean over the tokens of an answer, its end among them.
double log_probability_of_token(const Answer& answer);

/// Constant once made: any number of threads may ask it.
class Answerer {
 public:
  /// Loads a model folder.
  explicit Answerer(const std::filesystem::path& folder);
  explicit Answerer(PairModel model);

  const PairModel& model() const { return model_; }
  const Task& task() const { return *task_; }

  /// Why the model does not answer, to stand behind "the text "; "": it does.
  std::string refusal(const Input& input) const;

  /// InvalidArgument with the refusal where there is one, and for positions that the text does
  /// not have.
  Reply operator()(const Input& input, const Choices& choices = {}) const;

  /// The same for many, in batches; the error names the first that is refused.
  std::vector<Reply> operator()(std::span<const Input> inputs, const Choices& choices = {},
                                const Done& done = {}) const;

 private:
  std::vector<Piece> pieces_of(const Input& input) const;
  void tell(const Input& input, const Choices& choices, Reply& reply) const;

  PairModel model_;
  const Task* task_;
};

}  // namespace attn::tasks
