// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/models/captioner.hpp"
#include "attn/tasks/caption/caption_training.hpp"
#include "attn/tasks/caption/digits.hpp"
#include "attn/tasks/prepare.hpp"
#include "attn/tasks/trainer.hpp"
#include "tools/attn/caption_training.hpp"
#include "tools/attn/checks.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/interrupt.hpp"
#include "tools/attn/model_folder.hpp"
#include "tools/attn/progress.hpp"
#include "tools/attn/training_end.hpp"
#include "tools/attn/training_flags.hpp"
#include "tools/attn/training_picture.hpp"
#include "tools/attn/training_progress.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;

void refuse_flags_of_pairs(const TrainingFlags& flags) {
  if (!flags.model.empty() || !flags.data.empty() || !flags.language.empty() ||
      !flags.source_units.empty() || !flags.target_units.empty() || flags.vocabulary > 0 ||
      !flags.source_column.empty() || !flags.target_column.empty())
    fail("attn train caption: the groups Model and Data of the flags are of tasks that learn ",
         "from pairs; here --attention and the groups Caption, Training and Budget are");
}

void apply_caption(const CaptionFlags& flags, tasks::CaptionRequest& request) {
  if (flags.canvases > 0) request.canvases = flags.canvases;
  if (flags.doubly >= 0.0) request.loss.doubly = flags.doubly;
  if (flags.entropy >= 0.0) request.loss.reinforce.lambda_e = flags.entropy;
  if (flags.reward >= 0.0) request.loss.reinforce.lambda_r = flags.reward;
  if (flags.soft_share >= 0.0) request.loss.soft_probability = flags.soft_share;
}

/// The part of the command that is worth keeping in the card of the model.
std::string caption_command(const TrainCaption& asked) {
  std::string text = "attn train caption";
  const auto add = [&](const std::string& flag, const std::string& value) {
    text += " --" + flag + " " + value;
  };
  const auto number = [&](const std::string& flag, double value) {
    if (value >= 0.0) add(flag, fmt::format("{:g}", value));
  };
  const CaptionFlags& flags = asked.caption;
  if (!flags.attention.empty()) add("attention", flags.attention);
  for (const std::string& begin : asked.flags.begin)
    add("begin", fs::path(begin).filename().string());
  if (flags.canvases > 0) add("canvases", std::to_string(flags.canvases));
  number("doubly", flags.doubly);
  number("reward", flags.reward);
  number("entropy", flags.entropy);
  number("soft-share", flags.soft_share);
  for (const auto& [name, value] : asked.flags.training) add(name, value);
  return text + device_text(asked.flags) + budget_text(asked.flags.budget);
}

tasks::CaptionRequest caption_request(const TrainCaption& asked) {
  refuse_flags_of_pairs(asked.flags);
  const fs::path folder = asked.out;
  check_training_folder(folder, asked.resume ? tasks::Resume::yes : tasks::Resume::no);
  const auto looking = asked.caption.attention.empty()
                           ? models::Looking::soft
                           : models::looking_named(asked.caption.attention);
  tasks::CaptionRequest request = asked.resume ? tasks::load_caption_request(folder)
                                               : tasks::default_caption_request(looking);
  if (!asked.caption.attention.empty() && request.model.looking != looking)
    fail(files::path_text(folder), " is a training of ", models::name_of(request.model.looking),
         " attention, not of ", asked.caption.attention);
  apply_caption(asked.caption, request);
  if (asked.flags.begin.size() > 1)
    fail(
        "attn train caption: --begin takes one model; the tasks on text take the mean of more");
  if (!asked.flags.begin.empty())
    request.begin = model_folder(asked.flags.begin.front(),
                                 std::string("caption-") + models::name_of(looking));
  for (const auto& [name, value] : asked.flags.training)
    tasks::set_training_option(request.training, name, value);
  if (request.training.self_critical > 0.0)
    fail(
        "attn train caption: --self-critical is of the tasks on text; --attention hard learns ",
        "from --reward");
  if (!asked.resume) request.command = caption_command(asked);
  return request;
}

}  // namespace

bool CaptionFlags::given() const {
  return !attention.empty() || canvases > 0 || doubly >= 0.0 || entropy >= 0.0 ||
         reward >= 0.0 || soft_share >= 0.0;
}

void add_caption_flags(CLI::App& command, CaptionFlags& flags) {
  const auto in_group = [](CLI::Option* option) { return option->group("Caption"); };
  in_group(command.add_option("--attention", flags.attention, "How a caption model looks"))
      ->type_name("soft|hard")
      ->check(CLI::IsMember({"soft", "hard"}));
  in_group(command.add_option("--canvases", flags.canvases, "Pictures of a step; default 32"))
      ->check(CLI::Range(1, 1 << 16));
  in_group(command.add_option("--doubly", flags.doubly,
                              "Weight of the doubly stochastic term, of soft attention"))
      ->check(at_least(0));
  in_group(command.add_option("--reward", flags.reward, "Of REINFORCE, of hard attention"))
      ->check(at_least(0));
  in_group(command.add_option("--entropy", flags.entropy, "Weight of the entropy, of hard"))
      ->check(at_least(0));
  in_group(command.add_option("--soft-share", flags.soft_share,
                              "Share of captions that use the mixture while hard is trained"))
      ->check(between(0, 1));
}

int train_caption(const TrainCaption& asked, const Streams& streams) {
  const tasks::CaptionRequest request = caption_request(asked);
  const tasks::DigitParts parts = tasks::load_digits(progress(streams));
  TrainingPicture picture(asked.map, asked.out, streams);
  if (!asked.resume) tasks::save_caption_request(asked.out, request);
  const Interrupt interrupt;
  fmt::print(streams.err,
             "attn: {} digits to compose canvases of, {} for development; {} "
             "attention\n",
             parts.train.size(), parts.development.size(),
             models::name_of(request.model.looking));
  TrainingProgress line(streams);
  const tasks::Trained trained =
      tasks::train_caption({.request = request,
                            .budget = asked.flags.budget,
                            .folder = asked.out,
                            .resume = asked.resume ? tasks::Resume::yes : tasks::Resume::no,
                            .save_every = asked.save_every,
                            .shard_bytes = asked.shard_bytes,
                            .device = asked.flags.device,
                            .precision = steps_in(asked.flags.precision)},
                           parts,
                           {.progress =
                                [&](const tasks::Progress& now) {
                                  line(now);
                                  picture(now);
                                },
                            .stop = [&] { return interrupt.asked(); }});
  line.end();
  picture.end();
  tell_end_of_training("caption", asked.out, "", trained, streams);
  return success;
}

}  // namespace attn::tools
