#include "tools/attn/answer_maps.hpp"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <variant>
#include <vector>

#include "attn/maps/map.hpp"
#include "attn/models/steering.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/task.hpp"
#include "tools/attn/checks.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/draw_map.hpp"

namespace attn::tools {
namespace {

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0)
    return std::nullopt;
  return value;
}

std::optional<models::Steering::Force> forced(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto step = whole_number(text.substr(0, colon));
  const auto position = whole_number(text.substr(colon + 1));
  if (!step || !position) return std::nullopt;
  return models::Steering::Force{*step, *position};
}

}  // namespace

void add_map_options(CLI::App& command, MapOptions& options) {
  command
      .add_option("--map", options.file,
                  "Draw the attention weights: .svg, .pdf, .png, or .json for attn map")
      ->type_name("FILE")
      ->check(map_file_problem);
  command.add_flag("--show", options.show, "Print the attention weights as a heat map");
}

void add_heads_option(CLI::App& command, MapOptions& options) {
  command
      .add_option("--heads", options.heads,
                  "With --map or --show: show every head, of all parts, or of the encoder, the "
                  "decoder or cross-attention alone")
      ->type_name("all|encoder|decoder|cross")
      ->check(CLI::IsMember({"all", "encoder", "decoder", "cross"}));
}

void add_steering_options(CLI::App& command, models::Steering& steering) {
  command
      .add_option("--attention-temperature", steering.temperature,
                  "Divide attention scores by this: above 1 gives more even weights, below 1 "
                  "sharper ones")
      ->check(between(1e-3, 1e6));
  command
      .add_option(
          "--forbid", steering.forbid,
          "Source tokens that get no attention, from 0: 0,3; the end of a sentence counts")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("PLACES")
      ->check(at_least(0));
  command
      .add_option_function<std::vector<std::string>>(
          "--force",
          [&steering](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) steering.force.push_back(*forced(text));
          },
          "Where steps of the answer must look, both from 0: 1:4,2:4; a step counts within the "
          "sentence that holds the place")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("STEP:PLACE")
      ->check([](const std::string& text) {
        return forced(text) ? std::string()
                            : "'" + text + "' is no step and place, such as 1:4";
      });
}

std::string AnswerMaps::draw(const tasks::Model& model, const tasks::Input& input,
                             const tasks::Piece& piece) {
  if (!options_.wanted()) return "";
  const maps::Map map = model.map(input, piece, options_.heads);
  ++drawn_;
  if (options_.show) {
    // The answer stands above it already.
    maps::Map untitled = map;
    std::visit([](auto& one) { one.title.clear(); }, untitled);
    show_map(untitled, show_on_);
  }
  if (options_.file.empty()) return "";
  std::filesystem::path path = options_.file;
  if (drawn_ > 1) {
    std::string name = path.stem().string();
    name += "-" + std::to_string(drawn_);
    path.replace_filename(name + path.extension().string());
  }
  return write_map(map, path);
}

}  // namespace attn::tools
