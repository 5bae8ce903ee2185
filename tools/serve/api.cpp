// The handlers of the JSON interface.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <ratio>
#include <string>
#include <utility>
#include <vector>

#include "attn/files/printable.hpp"
#include "attn/models/search.hpp"
#include "attn/nn/registry.hpp"
#include "attn/tasks/task.hpp"
#include "attn/text/unicode.hpp"
#include "tools/serve/answers.hpp"
#include "tools/serve/assets.hpp"
#include "tools/serve/caption_api.hpp"
#include "tools/serve/fields.hpp"
#include "tools/serve/live.hpp"
#include "tools/serve/look_field.hpp"
#include "tools/serve/mechanism_json.hpp"
#include "tools/serve/mechanism_picture.hpp"
#include "tools/serve/message.hpp"
#include "tools/serve/models.hpp"
#include "tools/serve/openapi.hpp"
#include "tools/serve/options.hpp"
#include "tools/serve/service.hpp"
#include "tools/serve/step_api.hpp"

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

models::SearchOptions search_of(const Fields& fields, const tasks::Task& task,
                                const Limits& limits) {
  models::SearchOptions search = task.search;
  search.best = fields.whole("best", 1, 1, limits.beam);
  // A beam that nobody chose grows with the answers that are wanted.
  search.beam = fields.whole("beam", std::max(std::min(search.beam, limits.beam), search.best),
                             1, limits.beam);
  if (search.best > search.beam)
    refuse(400, "the field \"best\" is " + std::to_string(search.best) +
                    "; at most the beam, which is " + std::to_string(search.beam) +
                    ", is accepted");
  search.look = look_of(fields);
  return search;
}

Plan answer(const Service& service, const Request& request) {
  const Limits& limits = service.options().limits;
  const Fields fields(request.body, {"task", "model", "text", "beam", "best", "temperature",
                                     "forbid", "force", "heads"});
  const std::string task = fields.text("task", kLongestName);
  const ServedModel& served =
      service.models().find(task, fields.optional_text("model", kLongestName));
  std::string text = fields.text("text", limits.text);
  if (text::normalise(text).empty())
    refuse(400, "the field \"text\" is empty; there is nothing to do");
  models::SearchOptions search = search_of(fields, tasks::task_named(task), limits);
  const Heads heads = fields.flag("heads", false) ? Heads::yes : Heads::no;
  return Plan([&served, text = std::move(text), search = std::move(search), heads] {
    const auto start = std::chrono::steady_clock::now();
    nlohmann::json answers = answers_json(served.model, text, search, heads);
    const std::chrono::duration<double, std::milli> took =
        std::chrono::steady_clock::now() - start;
    return json_response(
        {{"answers", std::move(answers)}, {"milliseconds", six_digits(took.count())}});
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
                                          {"POST", "/api/caption", answer_caption}};
  return kRoutes;
}

}  // namespace attn::serve
