/// Answerer: what a model answers, whichever door the question came through. Commands, the
/// server, `explain`, `eval` and programs all ask it, so that they all get one answer.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attn/models/search.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/task.hpp"

namespace attn::tasks {

/// The task's search with the choices over it. InvalidArgument where they do not go together,
/// or where the task does not search and there is something to choose.
models::SearchOptions search_of(const Task& task, const Choices& choices);

/// The mean over the tokens of an answer, its end among them.
double log_probability_of_token(const Answer& answer);

/// Constant once made: any number of threads may ask it.
class Answerer {
 public:
  /// Loads a model folder of any task.
  explicit Answerer(const std::filesystem::path& folder);
  explicit Answerer(std::shared_ptr<const Model> model);
  explicit Answerer(PairModel model);

  const Model& model() const { return *model_; }
  const Task& task() const { return model_->task(); }

  /// Why the model does not answer, to stand behind "the text " or "the picture "; "": it does.
  std::string refusal(const Input& input) const { return model_->refusal(input); }

  /// InvalidArgument with the refusal where there is one, and for positions that the text does
  /// not have.
  Reply operator()(const Input& input, const Choices& choices = {}) const;

  /// The same for many, in batches; the error names the first that is refused.
  std::vector<Reply> operator()(std::span<const Input> inputs, const Choices& choices = {},
                                const Done& done = {}) const;

 private:
  std::shared_ptr<const Model> model_;
};

}  // namespace attn::tasks
