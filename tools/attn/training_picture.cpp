#include "tools/attn/training_picture.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <string>
#include <utility>

#include "attn/core/error.hpp"
#include "attn/tasks/fetch/cache.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/training_history.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/draw_map.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const fs::path& file) {
  return fs::absolute(file).lexically_normal().parent_path();
}

}  // namespace

TrainingPicture::TrainingPicture(fs::path file, fs::path run, const Streams& streams)
    : file_(std::move(file)), run_(std::move(run)), streams_(streams) {
  if (file_.empty()) return;
  // A picture may lie in the folder of the run, which a new run has not made yet.
  if (folder_of(file_) == folder_of(run_ / "log.jsonl")) tasks::make_folder(run_);
  check_map_output(file_);
}

std::string TrainingPicture::draw() const {
  try {
    const tasks::TrainingHistory history = tasks::read_history(run_);
    write_map(tasks::training_map({&history, 1}), file_);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

void TrainingPicture::operator()(const tasks::Progress& progress) {
  if (!file_.empty() && !progress.development.empty()) draw();
}

void TrainingPicture::end() {
  if (file_.empty()) return;
  if (const std::string problem = draw(); !problem.empty()) {
    fmt::print(streams_.err, "attn: the curve was not drawn: {}\n", problem);
    return;
  }
  fmt::print(streams_.err, "Written: {}\n", file_.string());
}

}  // namespace attn::tools
