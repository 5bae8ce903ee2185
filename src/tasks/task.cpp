#include "attn/tasks/task.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"
#include "attn/maps/map.hpp"
#include "attn/models/search.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/answerer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/value.hpp"
#include "tasks/model_folder.hpp"
#include "tasks/tasks.hpp"

namespace attn::tasks {
namespace {

/// The shipped ones first.
std::vector<const Task*>& registry() {
  static std::vector<const Task*> tasks = shipped_tasks();
  return tasks;
}

}  // namespace

const std::string& Input::text() const {
  static const std::string kNone;
  const auto* text = find<std::string>("text");
  return text == nullptr ? kNone : *text;
}

Input Example::input() const {
  if (parts.empty()) return source;
  Input input;
  input.parts = parts;
  return input;
}

nlohmann::json Model::json_of(const Input& input, const Reply& reply, Detail detail) const {
  const Answer& best = reply.answers.front();
  nlohmann::json json{{"text", best.text}, {"notes", reply.notes}};
  if (best.output) json["output"] = tasks::json_of(*best.output);
  if (best.table) json["table"] = tasks::json_of(*best.table);
  for (const auto& [name, numbers] : best.numbers) json["numbers"][name] = numbers;
  if (reply.answers.size() > 1)
    for (const Answer& answer : reply.answers)
      json["answers"].push_back({{"text", answer.text}, {"score", answer.score}});
  if (detail != Detail::none && !reply.pieces.empty())
    json["map"] = nlohmann::json::parse(
        maps::to_json(map(input, reply.pieces.front(), detail == Detail::heads ? "all" : "")));
  return json;
}

nlohmann::json Model::line_of(const std::string& name, const Input& input, const Reply& reply,
                              Detail detail) const {
  nlohmann::json line = json_of(input, reply, detail);
  if (!name.empty()) line["file"] = files::printable(name, 4096);
  for (const auto& [part, value] : input.parts)
    if (const auto* text = std::get_if<std::string>(&value)) line["input"][part] = *text;
  return line;
}

std::unique_ptr<Model> Task::taken(const std::string&) const {
  return nullptr;
}

std::string Task::form_of(std::string_view form, const Reply&) const {
  fail("attn::tasks::Task::form_of: an answer of ", name(), " is not written as ",
       files::in_quotes(form));
}

std::vector<std::string> Task::fields() const {
  std::vector<std::string> names;
  for (const TaskCard::Part& part : card().parts) names.push_back(part.name);
  if (names.empty()) names.emplace_back("text");
  return names;
}

Input Task::input_of(const nlohmann::json& request) const {
  Input input;
  for (const std::string& name : fields()) {
    if (!request.contains(name)) fail("the field \"", name, "\" is missing");
    try {
      input.parts.emplace(name, value_of(request.at(name), "the field \"" + name + "\""));
    } catch (const FileError& error) {
      fail(error.what());
    }
  }
  return input;
}

Scores Task::evaluate(const Model& model, std::span<const Example> examples) const {
  std::vector<Input> inputs;
  for (const Example& example : examples) inputs.push_back(example.input());
  return score(examples, model.answer(inputs, {}, {}));
}

std::vector<const Task*> all_tasks() {
  return registry();
}

const Task& task_named(std::string_view name) {
  std::string names;
  for (const Task* task : registry()) {
    if (task->name() == name) return *task;
    names += (names.empty() ? "" : ", ") + task->name();
  }
  fail("there is no task ", files::in_quotes(name), "; there are ", names);
}

TaskRegistration::TaskRegistration(std::unique_ptr<const Task> task) : task_(std::move(task)) {
  for (const Task* other : registry())
    if (other->name() == task_->name())
      fail("attn::tasks::TaskRegistration: there is a task ", task_->name(), " already");
  registry().push_back(task_.get());
}

TaskRegistration::~TaskRegistration() {
  registry().erase(std::remove(registry().begin(), registry().end(), task_.get()),
                   registry().end());
}

const TaskCard::Direction& direction_of(const TaskCard& card, const WantedLanguages& wanted,
                                        const std::string& text) {
  const std::string from = wanted.from.empty() ? card.language_of(text) : wanted.from;
  if (from == wanted.to)
    fail("a text is not translated from ", files::in_quotes(from), " into itself",
         wanted.from.empty() ? " (its script tells where it comes from)" : "");
  std::string known;
  for (const TaskCard::Direction& one : card.directions) {
    if (one.from == from && (wanted.to.empty() || one.to == wanted.to)) return one;
    known += (known.empty() ? "" : ", ") + one.from + "-" + one.to;
  }
  fail("there is no model from ", files::in_quotes(from),
       wanted.to.empty() ? "" : " into " + files::in_quotes(wanted.to), "; there are ", known,
       ". Name a model of your own with --model");
}

std::unique_ptr<Model> load(const std::filesystem::path& folder) {
  const std::string where = files::path_text(folder / kConfig);
  const nlohmann::json config = read_config(folder, "attn train");
  return task_named(files::to_text(files::member(config, "task", where), where)).load(folder);
}

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
