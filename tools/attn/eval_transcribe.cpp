#include "tools/attn/eval_transcribe.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/atomic_write.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "attn/tasks/transcribe/fetch.hpp"
#include "attn/tasks/transcribe/transcriber.hpp"
#include "attn/tasks/transcribe/word_errors.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/output_path.hpp"
#include "tools/attn/sound.hpp"
#include "tools/attn/speech_models.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::uint64_t kLargestList = std::uint64_t{64} << 20;

struct Clip {
  fs::path sound;
  std::string text;
};

/// Paths that are not absolute begin where the list lies.
std::vector<Clip> clips_of(const std::string& path) {
  std::vector<Clip> clips;
  std::istringstream lines(files::read_text(path, kLargestList));
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) continue;
    const std::size_t tab = line.find('\t');
    if (tab == std::string::npos || tab == 0)
      fail<FileError>(files::path_text(path), ": line ", number, " is ", files::in_quotes(line),
                      "; accepted: a sound file, a tab, its text");
    clips.push_back({fs::path(path).parent_path() / line.substr(0, tab), line.substr(tab + 1)});
  }
  if (clips.empty()) fail<FileError>(files::path_text(path), ": there is no line in it");
  return clips;
}

}  // namespace

int eval_transcribe(const TranscribeEvaluation& wanted, const Streams& streams) {
  if (wanted.data.empty())
    fail("attn eval transcribe: --data names lines of a sound file, a tab and its text");
  const std::string model = wanted.model.empty() ? tasks::kSpeechModels[0] : wanted.model;
  if (std::find(std::begin(tasks::kSpeechModels), std::end(tasks::kSpeechModels), model) ==
      std::end(tasks::kSpeechModels))
    fail("attn eval transcribe: --model ", files::in_quotes(model),
         "; accepted: base and tiny");
  if (!wanted.answers.empty()) check_output_file(wanted.answers);
  std::vector<Clip> clips = clips_of(wanted.data);
  if (wanted.limit > 0)
    clips.resize(std::min(clips.size(), static_cast<std::size_t>(wanted.limit)));
  const tasks::Transcriber transcriber = speech_model_of(model, streams);
  tasks::WordErrors errors;
  double sound_seconds = 0.0;
  double seconds = 0.0;
  std::string answers;
  for (const Clip& clip : clips) {
    const SoundInput input(clip.sound);
    // Reading the file is not counted: it is the decoder's speed.
    const auto start = std::chrono::steady_clock::now();
    const std::string text = transcriber(input.samples()).text();
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    sound_seconds += input.samples().seconds();
    errors.add(clip.text, text);
    answers += json{{"file", files::printable(clip.sound.string(), 4096)},
                    {"text", files::printable(clip.text, 1 << 20)},
                    {"answer", text}}
                   .dump() +
               "\n";
  }
  const double factor = sound_seconds > 0.0 ? seconds / sound_seconds : 0.0;
  if (wanted.json)
    fmt::print(streams.out, "{}\n",
               json{{"task", "transcribe"},
                    {"model", model},
                    {"data", files::printable(wanted.data, 4096)},
                    {"clips", clips.size()},
                    {"words", errors.words},
                    {"wer", errors.rate()},
                    {"sound_seconds", sound_seconds},
                    {"seconds", seconds},
                    {"real_time_factor", factor}}
                   .dump(2));
  else
    fmt::print(streams.out,
               "transcribe ({}) on {} clips, {} words, {:.0f} s of sound: WER {:.2f}; "
               "{:.3f} of real time\n",
               model, clips.size(), errors.words, sound_seconds, errors.rate(), factor);
  if (!wanted.answers.empty()) files::atomic_write(wanted.answers, answers);
  return success;
}

}  // namespace attn::tools
