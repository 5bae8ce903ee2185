// The handlers of the JSON interface.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <ratio>
#include <string>
#include <utility>
#include <vector>

#include "attn/files/printable.hpp"
#include "attn/nn/registry.hpp"
#include "attn/tasks/reply.hpp"
#include "attn/tasks/task.hpp"
#include "tools/serve/answers.hpp"
#include "tools/serve/assets.hpp"
#include "tools/serve/caption_api.hpp"
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
  return json_response({{"version", ATTN_VERSION},
                        {"page", has_page()},
                        {"tasks", service.models().describe()},
                        {"limits", {{"text_bytes", limits.text}, {"beam", limits.beam}}}});
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

/// What the request leaves out, the task decides.
tasks::Choices choices_of(const Fields& fields, const tasks::Task& task, const Limits& limits) {
  tasks::Choices choices;
  choices.best = fields.whole("best", 1, 1, limits.beam);
  if (fields.has("beam")) choices.beam = fields.whole("beam", 1, 1, limits.beam);
  choices.steering = steering_of(fields);
  const std::int64_t beam = choices.beam.value_or(std::max(task.search.beam, choices.best));
  if (choices.best > beam)
    refuse(400, "the field \"best\" is " + std::to_string(choices.best) +
                    "; at most the beam, which is " + std::to_string(beam) + ", is accepted");
  return choices;
}

Plan answer(const Service& service, const Request& request) {
  const Limits& limits = service.options().limits;
  const Fields fields(request.body, {"task", "model", "text", "beam", "best", "temperature",
                                     "forbid", "force", "heads"});
  const std::string task = fields.text("task", kLongestName);
  const ServedModel& served =
      service.models().find(task, fields.optional_text("model", kLongestName));
  std::string text = fields.text("text", limits.text);
  if (const std::string problem = served.answerer.refusal(text); !problem.empty())
    refuse(400, "the field \"text\" " + problem);
  tasks::Choices choices = choices_of(fields, served.answerer.task(), limits);
  const Detail detail = fields.flag("heads", false) ? Detail::heads : Detail::weights;
  return Plan([&served, text = std::move(text), choices = std::move(choices), detail] {
    const auto start = std::chrono::steady_clock::now();
    nlohmann::json json =
        reply_json(served.answerer.model(), served.answerer(text, choices), detail);
    const std::chrono::duration<double, std::milli> took =
        std::chrono::steady_clock::now() - start;
    json["milliseconds"] = six_digits(took.count());
    return json_response(json);
  });
}

}  // namespace

const std::vector<Route>& routes() {
  static const std::vector<Route> kRoutes{{"GET", "/health", health},
                                          {"GET", "/openapi.json", openapi},
                                          {"GET", "/api/info", info},
                                          {"GET", "/api/mechanisms", mechanisms},
                                          {"GET", "/api/live", live_list},
                                          {"POST", "/api/live", live},
                                          {"POST", "/api/answer", answer},
                                          {"POST", "/api/step", answer_step},
                                          {"POST", "/api/caption", answer_caption},
                                          {"GET", "/api/run", watch_runs}};
  return kRoutes;
}

}  // namespace attn::serve
