#include "tools/attn/training_progress.hpp"

#include <fmt/core.h>
#include <stdio.h>  // fileno
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>

#include "attn/tasks/learner.hpp"
#include "attn/tasks/scores.hpp"
#include "tools/attn/command.hpp"

namespace attn::tools {
namespace {

constexpr auto kQuiet = std::chrono::seconds(10);

}  // namespace

std::string duration_text(double seconds) {
  const auto whole = static_cast<long>(std::lround(seconds));
  if (whole >= 3600) return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
  if (whole >= 60) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} s", whole);
}

TrainingProgress::TrainingProgress(const Streams& streams)
    : streams_(streams), terminal_(isatty(fileno(streams.err)) != 0) {}

void TrainingProgress::operator()(const tasks::Progress& progress) {
  const bool evaluation = !progress.development.empty();
  const auto now = std::chrono::steady_clock::now();
  if (!terminal_ && !evaluation && now - last_ < kQuiet) return;
  last_ = now;
  std::string line = fmt::format("step {}, epoch {}, loss {:.3f}", progress.step,
                                 progress.epoch + 1, progress.loss);
  if (evaluation) line += ", development " + tasks::text_of(progress.development);
  if (!evaluation && !progress.best.empty())
    line += fmt::format(", best {} {:.2f}", progress.best[0].name, progress.best[0].value);
  line += fmt::format(", {:.0f} tokens/s", progress.tokens_per_second);
  if (progress.left >= 0.0) line += ", " + duration_text(progress.left) + " left";
  if (terminal_) {
    fmt::print(streams_.err, "\r\033[K{}", line);
    open_ = true;
    if (evaluation) end();
  } else {
    fmt::print(streams_.err, "{}\n", line);
  }
  std::fflush(streams_.err);
}

void TrainingProgress::end() {
  if (open_) fmt::print(streams_.err, "\n");
  open_ = false;
}

}  // namespace attn::tools
