// SPDX-License-Identifier: Apache-2.0

#include "tasks/las/data.hpp"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/prepared.hpp"
#include "attn/tasks/transcribe/samples.hpp"
#include "attn/tasks/value.hpp"
#include "tasks/las/features.hpp"
#include "tasks/loading.hpp"

namespace attn::tasks::las {
namespace {

constexpr std::size_t kColumns = 6;
/// One speaker of so many is development.
constexpr std::int64_t kSpeakersOfOne = 10;

std::vector<std::string_view> columns_of(std::string_view line) {
  std::vector<std::string_view> columns;
  while (true) {
    const std::size_t tab = line.find('\t');
    columns.push_back(line.substr(0, tab));
    if (tab == std::string_view::npos) return columns;
    line.remove_prefix(tab + 1);
  }
}

std::int64_t whole_number(std::string_view text, const std::string& place) {
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0)
    fail<FileError>(place, ": ", files::in_quotes(text), " is no count");
  return number;
}

struct Utterance {
  std::string_view part;
  std::string_view speaker;
  Example example;
};

Utterance utterance_of(std::string_view line, std::string_view frames,
                       const std::string& place) {
  const auto columns = columns_of(line);
  if (columns.size() != kColumns)
    fail<FileError>(place, " has ", columns.size(),
                    " columns; offset, frames, part, speaker, utterance and words are "
                    "accepted");
  const std::int64_t offset = whole_number(columns[0], place);
  const std::int64_t count = whole_number(columns[1], place);
  const auto size = static_cast<std::int64_t>(frames.size());
  if (count == 0 || offset > size || count > (size - offset) / kBands)
    fail<FileError>(place, ": ", count, " frames from byte ", offset, " on; there are ", size,
                    " bytes, ", kBands, " a frame");
  if (columns[2] != "train" && columns[2] != "test")
    fail<FileError>(place, ": part ", files::in_quotes(columns[2]),
                    "; train and test are accepted");
  if (columns[5].empty()) fail<FileError>(place, " has no words");
  const std::string_view bytes =
      frames.substr(static_cast<std::size_t>(offset), static_cast<std::size_t>(count * kBands));
  Example example;
  example.id = columns[4];
  example.targets = {std::string(columns[5])};
  example.parts.emplace(kFrames, picture_of({count, {bytes.begin(), bytes.end()}}));
  return {columns[2], columns[3], std::move(example)};
}

}  // namespace

const std::vector<PreparedFile>& prepared_files() {
  static const std::string kSource =
      "AN4, the census database of 1991 (github.com/cmusphinx/an4), free for any purpose, "
      "Carnegie Mellon University; sounds as log-mel frames";
  static const std::vector<PreparedFile> kFiles{
      {"an4.tsv.xz", "eafdf6b2cdc054ffa41bbfed15618b58648e1dcb8cd8aa8f75a2a4b941c6b8c2",
       kSource},
      {"an4-logmel.bin.xz", "4c41d7c3d0a2949a7c1dd9ceed2c4fa42e6b4bafb7365c972b6962e8f041b9fd",
       kSource}};
  return kFiles;
}

Corpus parse_utterances(std::string_view table, std::string_view frames,
                        const std::string& where) {
  std::vector<Utterance> train;
  std::map<std::string_view, std::int64_t> speakers;
  Corpus corpus;
  corpus.name = "AN4";
  for (std::size_t number = 1; !table.empty(); ++number) {
    const std::string_view line = take_line(table);
    if (line.empty()) continue;
    Utterance one = utterance_of(line, frames, where + ", line " + std::to_string(number));
    if (one.part == "test") {
      corpus.test.push_back(std::move(one.example));
    } else {
      speakers.emplace(one.speaker, 0);
      train.push_back(std::move(one));
    }
  }
  std::int64_t place = 0;
  for (auto& [name, number] : speakers) number = place++;
  for (Utterance& one : train) {
    const bool held_out = speakers.at(one.speaker) % kSpeakersOfOne == kSpeakersOfOne / 2;
    (held_out ? corpus.development : corpus.train).push_back(std::move(one.example));
  }
  if (corpus.train.empty() || corpus.development.empty())
    fail<FileError>(where, ": utterances of ", speakers.size(), " speakers to learn from; ",
                    kSpeakersOfOne, " and more are accepted");
  corpus.notes.push_back("speakers of the development and of the test part are in no other");
  return corpus;
}

Picture picture_of(const LogMel& sound) {
  Picture picture{.width = sound.frames, .height = kBands, .channels = 1, .pixels = {}};
  picture.pixels.reserve(sound.values.size());
  for (std::int64_t band = kBands; band-- > 0;)
    for (std::int64_t frame = 0; frame < sound.frames; ++frame)
      picture.pixels.push_back(sound.values[static_cast<std::size_t>(frame * kBands + band)]);
  return picture;
}

LogMel frames_of(const Input& input) {
  if (const auto* picture = input.find<Picture>(kFrames)) {
    LogMel sound{picture->width, {}};
    sound.values.reserve(picture->pixels.size());
    for (std::int64_t frame = 0; frame < picture->width; ++frame)
      for (std::int64_t band = kBands; band-- > 0;)
        sound.values.push_back(
            picture->pixels[static_cast<std::size_t>(band * picture->width + frame)]);
    return sound;
  }
  const auto* sound = input.find<Sound>(kSound);
  if (sound == nullptr) fail("attn::tasks::las: the input has no sound");
  const auto samples = samples_of(*sound);
  std::vector<float> numbers(static_cast<std::size_t>(samples->size()));
  samples->read(0, numbers);
  return log_mel(numbers);
}

}  // namespace attn::tasks::las
