// SPDX-License-Identifier: Apache-2.0

#include "attn/tasks/caption.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/thread_pool.hpp"
#include "attn/files/printable.hpp"
#include "attn/maps/map.hpp"
#include "attn/models/captioner.hpp"
#include "attn/tasks/caption/caption_training.hpp"
#include "attn/tasks/caption/digits.hpp"
#include "attn/tensor/storage.hpp"
#include "tools/attn/caption_samples.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/device.hpp"
#include "tools/attn/draw_map.hpp"
#include "tools/attn/model_folder.hpp"
#include "tools/attn/output_path.hpp"
#include "tools/attn/png.hpp"
#include "tools/attn/progress.hpp"
#include "tools/attn/training_flags.hpp"

namespace attn::tools {
namespace {

struct CaptionOptions {
  std::vector<std::string> images;
  std::string attention;
  std::string model;
  std::string map;
  std::string save_samples;
  std::int64_t samples = 0;
  int threads = 0;
  Device device = Device::cpu;
  bool json = false;
  bool show = false;
};

/// A canvas to look at, and what it is called.
struct Shown {
  std::string name;
  std::vector<std::uint8_t> pixels;
  std::string truth;  ///< of a sample
};

std::vector<Shown> canvases_asked_for(const CaptionOptions& options, const Streams& streams) {
  std::vector<Shown> shown;
  for (const std::string& image : options.images) {
    const GreyPicture picture = read_png(image);
    shown.push_back(
        {image, tasks::fit_to_canvas(picture.pixels, picture.width, picture.height), ""});
  }
  if (options.samples == 0) return shown;
  const tasks::DigitParts parts = tasks::load_digits(progress(streams));
  const auto samples = tasks::test_canvases(parts.test, options.samples);
  for (std::size_t i = 0; i < samples.size(); ++i)
    shown.push_back({sample_name(i), samples[i].pixels, samples[i].caption});
  if (!options.save_samples.empty()) save_samples(options.save_samples, samples);
  return shown;
}

tasks::CaptionModel model_asked_for(const CaptionOptions& options) {
  const std::string looking = options.attention.empty() ? "soft" : options.attention;
  tasks::CaptionModel model = load_caption_model_on(
      options.device, model_folder(options.model, "caption-" + looking), "attn caption");
  const char* has = models::name_of(model.model->options().looking);
  if (!options.attention.empty() && options.attention != has)
    fail("the model in ", options.model, " looks with ", has, " attention, not ",
         options.attention);
  return model;
}

nlohmann::json caption_json(const Shown& shown, const tasks::CaptionAnswer& answer) {
  nlohmann::json json{{"image", files::printable(shown.name, 4096)},
                      {"text", answer.text},
                      {"words", answer.words},
                      {"log_probability", answer.log_probability},
                      {"grid", answer.grid},
                      {"gates", answer.gates},
                      {"weights", answer.weights}};
  if (!shown.truth.empty()) json["right"] = shown.truth;
  return json;
}

int caption(const CaptionOptions& options, const Streams& streams) {
  if (options.threads > 0) ThreadPool::set_default_threads(options.threads);
  check_device(options.device, "attn caption");
  if (!options.map.empty()) check_map_output(options.map);
  if (!options.save_samples.empty()) check_output_folder(options.save_samples);
  const std::vector<Shown> shown = canvases_asked_for(options, streams);
  if (!options.map.empty() && shown.size() != 1)
    fail("attn caption: --map draws one picture, and there are ", shown.size());
  const tasks::CaptionModel model = model_asked_for(options);
  std::vector<std::vector<std::uint8_t>> pixels;
  pixels.reserve(shown.size());
  for (const Shown& one : shown) pixels.push_back(one.pixels);
  const std::vector<tasks::CaptionAnswer> answers = tasks::caption(model, pixels);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const maps::Map map =
        tasks::caption_map(answers[i], pixels[i], model.model->options().looking);
    if (options.json) {
      fmt::print(streams.out, "{}\n", caption_json(shown[i], answers[i]).dump());
    } else {
      fmt::print(streams.out, "{}\t{}", shown[i].name, answers[i].text);
      if (!shown[i].truth.empty() && shown[i].truth != answers[i].text)
        fmt::print(streams.out, "\t(right: {})", shown[i].truth);
      fmt::print(streams.out, "\n");
    }
    if (options.show) show_map(map, streams.out);
    if (!options.map.empty()) write_map(map, options.map);
  }
  return success;
}

}  // namespace

void add_caption(CLI::App& app, Action& action) {
  auto options = std::make_shared<CaptionOptions>();
  CLI::App* command =
      app.add_subcommand("caption", "Say which digits are on a picture, and where");
  command->footer(
      "\nThe models that ship learnt from canvases of one to three handwritten digits "
      "(MNIST):\n"
      "\"a five\", \"seven left of three\", \"four above nine left of two\". Pictures of your "
      "own are\n"
      "PNG files of any size with digits on a plain background, dark or light. soft attention\n"
      "mixes all places of the picture, hard attention looks at one for each word.\n"
      "\nExamples:\n"
      "    attn caption --sample 5\n"
      "    attn caption --sample 5 --save-samples canvases\n"
      "    attn caption canvases/canvas-0001.png --map looked.svg\n"
      "    attn caption --attention hard --json mine.png");
  command->add_option("images", options->images, "Pictures")->type_name("FILE.png");
  command->add_option("--attention", options->attention, "soft, the default, or hard")
      ->type_name("soft|hard")
      ->check(CLI::IsMember({"soft", "hard"}));
  command->add_option("--model", options->model, "Model folder, or the name of one that ships")
      ->type_name("DIR");
  command->add_option("--map", options->map, "Draw where each word looked; the ending chooses")
      ->type_name("FILE.svg")
      ->check(map_file_problem);
  command->add_flag("--show", options->show, "Print where each word looked");
  CLI::Option* sample =
      command->add_option("--sample", options->samples, "Look at so many test canvases")
          ->check(CLI::Range(1, 5000));
  command
      ->add_option("--save-samples", options->save_samples,
                   "Write them as PNG files, with captions.tsv")
      ->type_name("DIR")
      ->needs(sample);
  add_threads_flag(*command, options->threads);
  add_device_flag(*command, options->device, "Where captions are computed");
  command->add_flag("--json", options->json, "A JSON object a picture, with all weights");
  command->callback([options, &action] {
    if (options->images.empty() && options->samples == 0)
      throw CLI::ValidationError(
          "no picture is named; give PNG files, or --sample 5 for test canvases");
    action = [options](const Streams& streams) { return caption(*options, streams); };
  });
}

}  // namespace attn::tools
