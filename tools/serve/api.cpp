// The handlers of the JSON interface.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <ratio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/nn/registry.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/answer_json.hpp"
#include "attn/tasks/answerer.hpp"
#include "attn/tasks/task.hpp"
#include "tools/serve/assets.hpp"
#include "tools/serve/fields.hpp"
#include "tools/serve/live.hpp"
#include "tools/serve/mechanism_json.hpp"
#include "tools/serve/mechanism_picture.hpp"
#include "tools/serve/message.hpp"
#include "tools/serve/models.hpp"
#include "tools/serve/openapi.hpp"
#include "tools/serve/options.hpp"
#include "tools/serve/service.hpp"
#include "tools/serve/steering_field.hpp"
#include "tools/serve/step_api.hpp"
#include "tools/serve/watch_api.hpp"

namespace attn::serve {
namespace {

constexpr std::size_t kLongestName = 200;

const tasks::Task* find_task(std::string_view name) {
  for (const tasks::Task* task : tasks::all_tasks())
    if (task->name() == name) return task;
  return nullptr;
}

/// "caption" of /api/caption; "" where that is no task.
std::string task_in_path(std::string_view path) {
  constexpr std::string_view kBegin = "/api/";
  if (!path.starts_with(kBegin)) return "";
  // A route of its own, /api/answer, is not that of a task which is called so.
  for (const Route& route : routes())
    if (route.path == path) return "";
  const tasks::Task* task = find_task(path.substr(kBegin.size()));
  return task == nullptr ? "" : task->name();
}

Plan health(const Service&, const Request&) {
  return json_response({{"status", "ok"}});
}

Plan openapi(const Service&, const Request&) {
  Response response;
  response.fixed = openapi_text();
  return response;
}

Plan info(const Service& service, const Request&) {
  const Limits& limits = service.options().limits;
  return json_response(
      {{"version", ATTN_VERSION},
       {"page", has_page()},
       {"tasks", service.models().describe()},
       {"limits",
        {{"text_bytes", limits.text}, {"body_bytes", limits.body}, {"beam", limits.beam}}}});
}

Plan mechanisms(const Service&, const Request&) {
  static const std::string kText = [] {
    nlohmann::json all = mechanisms_json();
    for (nlohmann::json& one : all) {
      const nn::Mechanism* mechanism = nn::find_mechanism(one.at("name").get<std::string>());
      if (mechanism != nullptr) one["picture"] = mechanism_picture(*mechanism);
    }
    return json_response(all).text;
  }();
  Response response;
  response.fixed = kText;
  return response;
}

Plan live_list(const Service&, const Request&) {
  auto examples = nlohmann::json::array();
  for (const LiveExample& one : live_examples()) examples.push_back(live_json(one));
  return json_response({{"examples", std::move(examples)}});
}

/// A few dozen scores: not worth a place in the line.
Plan live(const Service&, const Request& request) {
  const Fields fields(request.body, {"name", "values"});
  const std::string name = fields.text("name", kLongestName);
  const LiveExample* example = find_live(name);
  if (example == nullptr)
    refuse(404,
           "there is no live example " + files::in_quotes(name) + "; GET /api/live lists them");
  return json_response(live_map(*example, fields.numbers("values")));
}

/// Of a text that is written on for a request.
constexpr std::int64_t kMostTokens = 2000;

/// What the request leaves out, the task decides.
tasks::Choices choices_of(const Fields& fields, const tasks::Task& task, const Limits& limits) {
  tasks::Choices choices;
  if (const tasks::Writing* writing = task.writing(); writing != nullptr) {
    choices.tokens = fields.whole("tokens", writing->tokens, 1, kMostTokens);
    choices.temperature = fields.number("temperature", writing->temperature, 0.0, 100.0);
    choices.top = fields.whole("top", 0, 0, kMostTokens);
    choices.top_p = fields.number("top_p", writing->top_p, 0.0, 1.0);
    choices.seed = static_cast<std::uint64_t>(
        fields.whole("seed", 1, 0, std::numeric_limits<std::int32_t>::max()));
  }
  if (task.search() == nullptr) return choices;
  choices.best = fields.whole("best", 1, 1, limits.beam);
  if (fields.has("beam")) choices.beam = fields.whole("beam", 1, 1, limits.beam);
  choices.steering = steering_of(fields);
  const std::int64_t beam = choices.beam.value_or(std::max(task.search()->beam, choices.best));
  if (choices.best > beam)
    refuse(400, "the field \"best\" is " + std::to_string(choices.best) +
                    "; at most the beam, which is " + std::to_string(beam) + ", is accepted");
  return choices;
}

/// Fields that a request to a task may have; null: a task that nobody knows.
std::vector<std::string> known_fields(const tasks::Task* task) {
  std::vector<std::string> known{"task", "model"};
  if (task == nullptr) {
    known.emplace_back("text");
  } else {
    for (const std::string& field : task->fields()) known.push_back(field);
  }
  if (task != nullptr && !task->card().variants.empty())
    known.push_back(task->card().variant_flag);
  if (task != nullptr && task->writing() != nullptr)
    known.insert(known.end(), {"tokens", "temperature", "top", "top_p", "seed", "heads"});
  if (task != nullptr && !task->card().directions.empty())
    known.insert(known.end(), {"from", "to"});
  if (task == nullptr || task->search() != nullptr)
    known.insert(known.end(), {"beam", "best", "temperature", "attention_temperature", "forbid",
                               "force", "heads"});
  return known;
}

/// The direction that a request asks for, or its text by its script; null where a model is
/// named, or the task has none.
const tasks::TaskCard::Direction* direction_of(const Fields& fields, const tasks::Task* task,
                                               std::size_t longest) {
  if (task == nullptr || task->card().directions.empty() || fields.has("model")) return nullptr;
  const auto language = [&](const char* field) {
    return fields.optional_text(field, kLongestName).value_or("");
  };
  const std::string text = fields.optional_text("text", longest).value_or("");
  try {
    return &tasks::direction_of(task->card(), {language("from"), language("to")}, text);
  } catch (const InvalidArgument& error) {
    refuse(400, error.what());
  }
}

/// The name of the model that is asked for, by itself, as a variant or by its languages.
std::optional<std::string> model_name(const Fields& fields, const tasks::Task* task,
                                      std::size_t longest) {
  auto name = fields.optional_text("model", kLongestName);
  if (const auto* direction = direction_of(fields, task, longest)) {
    // The first is answered by whichever model stands first.
    if (direction->model == task->card().directions.front().model) return std::nullopt;
    return direction->model.substr(task->name().size() + 1);
  }
  if (name || task == nullptr || task->card().variants.empty()) return name;
  const tasks::TaskCard& card = task->card();
  const char* flag = card.variant_flag.c_str();
  std::string variant = fields.optional_text(flag, kLongestName).value_or(card.variants[0]);
  if (std::find(card.variants.begin(), card.variants.end(), variant) != card.variants.end())
    return variant;
  std::string names;
  for (const std::string& one : card.variants)
    names += (names.empty() ? "" : " or ") + files::in_quotes(one);
  refuse(400, "the field " + files::in_quotes(flag) + " must be " + names + ", not " +
                  files::in_quotes(variant));
}

tasks::Input input_of(const Fields& fields, const ServedModel& served, std::size_t longest) {
  const tasks::Task& task = served.answerer.task();
  const std::vector<std::string> names = task.fields();
  const bool text = names == std::vector<std::string>{"text"};
  if (text) fields.text("text", longest);
  tasks::Input input;
  try {
    input = task.input_of(fields.object());
    if (const auto* direction = direction_of(fields, &task, longest))
      input.parts["to"] = direction->to;
    else if (!task.card().directions.empty() && fields.has("to"))
      input.parts["to"] = fields.text("to", kLongestName);
  } catch (const InvalidArgument& error) {
    refuse(400, error.what());
  }
  if (const std::string problem = served.answerer.refusal(input); !problem.empty())
    refuse(400, (text ? "the field \"text\" " : "the " + task.card().noun() + " ") + problem);
  return input;
}

Plan answer(const Service& service, const Request& request) {
  const Limits& limits = service.options().limits;
  const Fields fields(request.body);
  const std::string in_path = task_in_path(request.path);
  const std::string name =
      !in_path.empty() ? in_path : fields.optional_text("task", kLongestName).value_or("");
  const tasks::Task* task = find_task(name);
  fields.accept(known_fields(task));
  if (in_path.empty()) fields.text("task", kLongestName);
  const ServedModel& served =
      service.models().find(name, model_name(fields, task, limits.text));
  tasks::Input input = input_of(fields, served, limits.text);
  tasks::Choices choices = choices_of(fields, served.answerer.task(), limits);
  const auto detail =
      fields.flag("heads", false) ? tasks::Detail::heads : tasks::Detail::weights;
  return Plan([&served, input = std::move(input), choices = std::move(choices), detail] {
    const auto start = std::chrono::steady_clock::now();
    nlohmann::json json =
        served.answerer.model().json_of(input, served.answerer(input, choices), detail);
    const std::chrono::duration<double, std::milli> took =
        std::chrono::steady_clock::now() - start;
    json["milliseconds"] = tasks::six_digits(took.count());
    return json_response(json);
  });
}

}  // namespace

const std::vector<Route>& routes() {
  static const std::vector<Route> kRoutes{
      {"GET", "/health", health},      {"GET", "/openapi.json", openapi},
      {"GET", "/api/info", info},      {"GET", "/api/mechanisms", mechanisms},
      {"GET", "/api/live", live_list}, {"POST", "/api/live", live},
      {"POST", "/api/answer", answer}, {"POST", "/api/step", answer_step},
      {"GET", "/api/run", watch_runs}};
  return kRoutes;
}

const Route* task_route(std::string_view path) {
  static const Route kRoute{"POST", "/api/TASK", answer};
  return task_in_path(path).empty() ? nullptr : &kRoute;
}

}  // namespace attn::serve
