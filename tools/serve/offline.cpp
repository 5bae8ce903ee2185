#include "tools/serve/offline.hpp"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "attn/core/error.hpp"
#include "attn/maps/map.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/answerer.hpp"
#include "attn/tasks/task.hpp"
#include "tools/page/assets.hpp"
#include "tools/serve/live.hpp"

namespace attn::serve {
namespace {

constexpr std::string_view kMark = "<!--attn-data-->";

/// The texts of an input, as a task lists its parts.
std::string text_of(const tasks::Task& task, const tasks::Input& input) {
  std::string all;
  for (const std::string& name : task.fields())
    if (const auto* text = input.find<std::string>(name))
      all += (all.empty() ? "" : " / ") + *text;
  return all;
}

/// An answer as the page draws it, of a model that draws an alignment.
nlohmann::json answer_of(const tasks::Answer& answer, const nlohmann::json& map) {
  return {{"text", answer.text},
          {"score", answer.score},
          {"log_probability", answer.log_probability},
          {"finished", answer.finished},
          {"source_tokens", map.at("columns")},
          {"target_tokens", map.at("rows")},
          {"weights", map.at("weights")}};
}

}  // namespace

nlohmann::json offline_data(const tasks::Answerer& answerer, const std::string& model,
                            const tasks::Input& input, const tasks::Reply& reply) {
  auto live = nlohmann::json::array();
  for (const LiveExample& example : live_examples())
    live.push_back({{"example", live_json(example)}, {"map", live_map(example)}});
  const bool sound = answerer.task().card().reads == tasks::TaskCard::Reads::sounds;
  // The heads of a sound are no tokens over tokens, which the page would draw.
  nlohmann::json data = answerer.model().json_of(
      input, reply, sound ? tasks::Detail::none : tasks::Detail::heads);
  if (!data.contains("answers") && data.contains("map") && data["map"]["kind"] == "alignment") {
    data["answers"] = {answer_of(reply.answers.front(), data["map"])};
  } else if (answerer.model().pairs() == nullptr && !reply.pieces.empty()) {
    // An answer that is no tokens over tokens is drawn as its own picture.
    data["figure"] =
        nlohmann::json::parse(maps::to_json(answerer.model().map(input, reply.pieces.front())));
  }
  data["task"] = answerer.task().name();
  data["model"] = model;
  // What was heard stands for a sound, which the file does not hold.
  if (!sound) data["text"] = text_of(answerer.task(), input);
  data["live"] = std::move(live);
  return data;
}

std::string script_safe(const nlohmann::json& data) {
  const std::string text = data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = std::string_view(text).substr(i);
    if (rest[0] == '<') {
      safe += "\\u003c";
    } else if (rest[0] == '>') {
      safe += "\\u003e";
    } else if (rest[0] == '&') {
      safe += "\\u0026";
    } else if (rest.substr(0, 3) == "\xe2\x80\xa8" || rest.substr(0, 3) == "\xe2\x80\xa9") {
      safe += rest[2] == '\xa8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      safe += rest[0];
    }
  }
  return safe;
}

std::string with_data(std::string_view page, const nlohmann::json& data) {
  const auto at = page.find(kMark);
  if (at == std::string_view::npos)
    fail<FileError>("the page has no place for data: a line ", kMark, " is missing in it");
  std::string text(page.substr(0, at));
  text += R"(<script id="attn-data" type="application/json">)";
  text += script_safe(data);
  text += "</script>";
  text += page.substr(at + kMark.size());
  return text;
}

std::string offline_page(const nlohmann::json& data) {
  for (const tools::Asset& asset : tools::page_assets())
    if (asset.name == "offline.html") return with_data(asset.bytes, data);
  fail<FileError>(
      "the page is not in this program: it is built where npm and node 18 are found; on "
      "Debian: sudo apt-get install -y npm, then the same ./attn command again builds it in");
}

}  // namespace attn::serve
