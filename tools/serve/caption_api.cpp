#include "tools/serve/caption_api.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <ratio>
#include <string>
#include <utility>
#include <vector>

#include "attn/files/printable.hpp"
#include "attn/maps/base64.hpp"
#include "attn/maps/map.hpp"
#include "attn/tasks/caption.hpp"
#include "attn/tasks/caption/canvas.hpp"
#include "tools/serve/answers.hpp"
#include "tools/serve/fields.hpp"
#include "tools/serve/message.hpp"
#include "tools/serve/models.hpp"
#include "tools/serve/service.hpp"

namespace attn::serve {
namespace {

constexpr auto kPixels = static_cast<std::size_t>(tasks::kCanvasSide * tasks::kCanvasSide);

Response described(const tasks::CaptionModel& model, const std::vector<std::uint8_t>& grey) {
  const auto start = std::chrono::steady_clock::now();
  // Dark ink on light paper is understood as well.
  const std::vector<std::vector<std::uint8_t>> canvases{
      tasks::fit_to_canvas(grey, tasks::kCanvasSide, tasks::kCanvasSide)};
  const std::vector<tasks::CaptionAnswer> answers = tasks::caption(model, canvases);
  const maps::Map map =
      tasks::caption_map(answers.front(), canvases.front(), model.model->options().looking);
  const std::chrono::duration<double, std::milli> took =
      std::chrono::steady_clock::now() - start;
  return json_response({{"text", answers.front().text},
                        {"words", answers.front().words},
                        {"milliseconds", six_digits(took.count())},
                        {"map", nlohmann::json::parse(maps::to_json(map))}});
}

}  // namespace

Plan answer_caption(const Service& service, const Request& request) {
  const Fields fields(request.body, {"pixels", "attention"});
  const std::string looking =
      fields.optional_text("attention", service.options().limits.text).value_or("soft");
  if (looking != "soft" && looking != "hard")
    refuse(400, "the field \"attention\" must be \"soft\" or \"hard\", not " +
                    files::in_quotes(looking));
  const tasks::CaptionModel* model = service.models().captioner(looking);
  if (model == nullptr) refuse(404, "there is no caption model with " + looking + " attention");
  auto pixels = maps::from_base64(fields.text("pixels", 2 * kPixels));
  if (!pixels || pixels->size() != kPixels)
    refuse(400, "the field \"pixels\" must be " + std::to_string(kPixels) +
                    " bytes in base64: 64 rows of 64 grey values");
  return Plan([model, grey = *std::move(pixels)] { return described(*model, grey); });
}

}  // namespace attn::serve
