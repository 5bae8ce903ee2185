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

}  // namespace

nlohmann::json offline_data(const tasks::Answerer& answerer, const std::string& model,
                            const std::string& text, const tasks::Reply& reply) {
  auto live = nlohmann::json::array();
  for (const LiveExample& example : live_examples())
    live.push_back({{"example", live_json(example)}, {"map", live_map(example)}});
  nlohmann::json data = answerer.model().json_of(text, reply, tasks::Detail::heads);
  // An answer that is no tokens over tokens is drawn as its own picture.
  if (answerer.model().pairs() == nullptr && !reply.pieces.empty())
    data["figure"] =
        nlohmann::json::parse(maps::to_json(answerer.model().map(text, reply.pieces.front())));
  data["task"] = answerer.task().name();
  data["model"] = model;
  data["text"] = text;
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
