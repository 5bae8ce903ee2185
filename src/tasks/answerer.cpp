#include "attn/tasks/answerer.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/models/search.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/task.hpp"
#include "tasks/tasks.hpp"

namespace attn::tasks {

models::SearchOptions search_of(const Task& task, const Choices& choices) {
  if (task.search() == nullptr) return {};
  models::SearchOptions search = *task.search();
  search.best = choices.best;
  // A beam that nobody chose grows with the answers that are wanted.
  search.beam = choices.beam.value_or(std::max(search.beam, search.best));
  search.length_penalty = choices.length_penalty.value_or(search.length_penalty);
  search.no_repeat = choices.no_repeat.value_or(search.no_repeat);
  search.choice = choices.choice.value_or(search.choice);
  search.temperature = choices.temperature;
  search.top = choices.top;
  search.seed = choices.seed;
  search.steering.temperature = choices.steering.temperature;
  search.weights = choices.weights;
  if (search.best > search.beam)
    fail("attn::tasks::search_of: best ", search.best, " is more than a beam of ", search.beam,
         " finds; at most the beam is accepted");
  return search;
}

Answerer::Answerer(const std::filesystem::path& folder) : Answerer(load(folder)) {}

Answerer::Answerer(std::shared_ptr<const Model> model) : model_(std::move(model)) {}

Answerer::Answerer(PairModel model) {
  const Task& task = task_named(model.task);
  model_ = answering(std::move(model), task);
}

Reply Answerer::operator()(const Input& input, const Choices& choices) const {
  return std::move((*this)(std::span(&input, 1), choices).front());
}

std::vector<Reply> Answerer::operator()(std::span<const Input> inputs, const Choices& choices,
                                        const Done& done) const {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (const std::string problem = refusal(inputs[i]); !problem.empty()) {
      const std::string noun = task().card().noun();
      fail(inputs.size() == 1 ? "the " + noun : noun + " " + std::to_string(i + 1), " ",
           problem);
    }
  return model_->answer(inputs, choices, done);
}

}  // namespace attn::tasks
