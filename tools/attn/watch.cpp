// attn watch: a clip, as a GIF, as pictures, as a folder of them or as a video, is named.

// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <variant>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/thread_pool.hpp"
#include "attn/files/printable.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/answerer.hpp"
#include "attn/tasks/fetch/cache.hpp"
#include "attn/tasks/fetch/child.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/value.hpp"
#include "attn/tensor/storage.hpp"
#include "tools/attn/answer_maps.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/device.hpp"
#include "tools/attn/draw_map.hpp"
#include "tools/attn/model_folder.hpp"
#include "tools/attn/pictures.hpp"
#include "tools/attn/training_flags.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTask = "watch";
constexpr std::size_t kMostFiles = 2000;
constexpr std::size_t kLabelsShown = 5;

struct WatchOptions {
  std::vector<std::string> files;
  std::string model;
  bool json = false;
  int threads = 0;
  Device device = Device::cpu;
  MapOptions map;
};

std::string ending_of(const fs::path& path) {
  std::string ending = path.extension().string();
  for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return ending;
}

bool is_picture(const fs::path& path) {
  const std::string ending = ending_of(path);
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg" || ending == ".gif";
}

/// Names in the order in which people count: walk-2 before walk-10.
bool counts_before(const fs::path& a, const fs::path& b) {
  const std::string x = a.filename().string();
  const std::string y = b.filename().string();
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < x.size() && j < y.size()) {
    if (!is_digit(x[i]) || !is_digit(y[j])) {
      if (x[i] != y[j]) return x[i] < y[j];
      ++i;
      ++j;
      continue;
    }
    while (i < x.size() && x[i] == '0') ++i;
    while (j < y.size() && y[j] == '0') ++j;
    std::size_t m = i;
    std::size_t n = j;
    while (m < x.size() && is_digit(x[m])) ++m;
    while (n < y.size() && is_digit(y[n])) ++n;
    if (m - i != n - j) return m - i < n - j;
    const int order = x.compare(i, m - i, y, j, n - j);
    if (order != 0) return order < 0;
    i = m;
    j = n;
  }
  return x.size() - i < y.size() - j;
}

std::vector<fs::path> pictures_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (is_picture(entry->path())) files.push_back(entry->path());
    if (files.size() > kMostFiles)
      fail<FileError>(files::path_text(folder), " has more than ", kMostFiles, " pictures");
  }
  if (error) fail<FileError>(files::path_text(folder), ": ", error.message());
  if (files.empty())
    fail<FileError>(files::path_text(folder), " has no .png, .jpg or .gif files");
  std::sort(files.begin(), files.end(), counts_before);
  return files;
}

/// Of a video: ffmpeg, where it is, writes its frames, small and few.
tasks::Frames frames_of_video(const fs::path& path) {
  const tasks::ScratchFolder scratch(tasks::temporary_folder());
  const fs::path log = scratch.path() / "log";
  // A name that begins with a dash, or with a protocol's name, is a file all the same.
  const std::string file = fs::absolute(path).string();
  const tasks::Ended ended = tasks::run_program(
      {"ffmpeg", "-v", "error", "-nostdin", "-protocol_whitelist", "file", "-t", "20", "-i",
       "file:" + file, "-vf", "fps=10,scale='min(144,iw)':-2", "-frames:v", "200",
       (scratch.path() / "frame-%04d.png").string()},
      scratch.path() / "out", log);
  if (ended == tasks::Ended::not_started)
    fail<Unsupported>(files::path_text(path),
                      " is no picture; a video needs ffmpeg, which is not here (on Debian: "
                      "apt-get install ffmpeg)");
  if (ended == tasks::Ended::badly)
    fail<FileError>(files::path_text(path), ": ffmpeg cannot read it: ", tasks::complaint(log));
  tasks::Frames frames;
  for (const fs::path& one : pictures_in(scratch.path())) frames.push_back(read_picture(one));
  return frames;
}

void add_frames(const fs::path& path, tasks::Frames& frames) {
  if (is_picture(path)) {
    tasks::Frames film = read_film(path).frames;
    std::move(film.begin(), film.end(), std::back_inserter(frames));
  } else {
    tasks::Frames film = frames_of_video(path);
    std::move(film.begin(), film.end(), std::back_inserter(frames));
  }
}

/// All that is named is one clip: its frames in that order.
tasks::Frames frames_of(const std::vector<std::string>& files) {
  tasks::Frames frames;
  for (const std::string& file : files) {
    std::error_code ignored;
    if (!fs::exists(file, ignored))
      fail<FileError>(files::path_text(file), " cannot be opened: there is no such file");
    if (!fs::is_directory(file, ignored)) {
      add_frames(file, frames);
      continue;
    }
    for (const fs::path& one : pictures_in(file)) add_frames(one, frames);
  }
  return frames;
}

void print(const tasks::Answer& answer, const Streams& streams) {
  fmt::print(streams.out, "{}\n", answer.text);
  const auto* labels = answer.output ? std::get_if<tasks::Labels>(&*answer.output) : nullptr;
  if (labels == nullptr) return;
  const char* before = "";
  for (std::size_t i = 0; i < std::min(labels->size(), kLabelsShown); ++i) {
    fmt::print(streams.out, "{}{} {:.3f}", before, (*labels)[i].name, (*labels)[i].score);
    before = "  ";
  }
  fmt::print(streams.out, "\n");
}

int watch(const WatchOptions& options, const Streams& streams) {
  if (options.threads > 0) ThreadPool::set_default_threads(options.threads);
  check_device(options.device, "attn watch");
  if (!options.map.file.empty()) check_map_output(options.map.file);
  const tasks::Task& task = tasks::task_named(kTask);
  tasks::Input input;
  input.parts.emplace("frames", frames_of(options.files));
  const tasks::Answerer answerer(load_model_of(
      task, options.device, model_folder(options.model, task.card().shipped()), "attn watch"));
  if (const std::string problem = answerer.refusal(input); !problem.empty())
    fail<FileError>("the clip ", problem);
  tasks::Choices choices;
  choices.weights = options.map.wanted();
  const tasks::Reply reply = answerer(input, choices);
  for (const std::string& note : reply.notes) fmt::print(streams.err, "attn: {}\n", note);
  if (options.json) {
    fmt::print(streams.out, "{}\n",
               answerer.model()
                   .line_of(options.files.front(), input, reply, tasks::Detail::none)
                   .dump());
  } else {
    print(reply.answers.front(), streams);
  }
  AnswerMaps maps(options.map, options.json ? streams.err : streams.out);
  if (const std::string note = maps.draw(answerer.model(), input, reply.pieces.front());
      !note.empty())
    fmt::print(streams.err, "attn: {}\n", note);
  return success;
}

}  // namespace

void add_watch(CLI::App& app, Action& action) {
  auto options = std::make_shared<WatchOptions>();
  const tasks::TaskCard& card = tasks::task_named(kTask).card();
  CLI::App* command = app.add_subcommand(card.name, card.title);
  command->footer(
      "\nA small net sees eight frames, and a non-local block in it lets every cell of every "
      "frame\n"
      "look at all others. It learnt what figures of a game do: melee, ranged, magic, move, "
      "idle,\n"
      "die. All files that are named are one clip: a GIF, pictures in order, a folder of them, "
      "or,\n"
      "where ffmpeg is, a video.\n\n"
      "Examples:\n"
      "    attn watch clip.gif\n"
      "    attn watch frame-1.png frame-2.png frame-3.png --map looked.png\n"
      "    attn watch FOLDER --json\n"
      "    attn train watch --fold 2 --out mine --minutes 5");
  command->add_option("files", options->files, "A GIF, pictures, a folder of them, or a video")
      ->required()
      ->type_name("FILE");
  command->add_option("--model", options->model, "Model folder, or the name of one that ships")
      ->type_name("DIR");
  command->add_flag("--json", options->json, "Print a JSON object with all labels");
  add_threads_flag(*command, options->threads);
  add_device_flag(*command, options->device, "Device that watches");
  add_map_options(*command, options->map);
  command->callback([options, &action] {
    action = [options](const Streams& streams) { return watch(*options, streams); };
  });
}

}  // namespace attn::tools
