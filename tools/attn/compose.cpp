// attn compose: music is composed, or a file gone on with; MIDI, ABC and WAV files come out.

// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/thread_pool.hpp"
#include "attn/files/atomic_write.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/answerer.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/value.hpp"
#include "attn/tensor/storage.hpp"
#include "tasks/compose/abc.hpp"
#include "tasks/compose/midi.hpp"
#include "tasks/compose/music.hpp"
#include "tasks/compose/synthesiser.hpp"
#include "tools/attn/answer_maps.hpp"
#include "tools/attn/checks.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/device.hpp"
#include "tools/attn/draw_map.hpp"
#include "tools/attn/model_folder.hpp"
#include "tools/attn/output_path.hpp"
#include "tools/attn/training_flags.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;
using tasks::compose::Music;

constexpr const char* kTask = "compose";
constexpr const char* kTune = "tune";
constexpr std::int64_t kTokensOfABar = 16;     ///< of a chorale: four quarters of four tokens
constexpr std::int64_t kTokensOfATune = 1000;  ///< at most; most end by themselves
constexpr std::int64_t kMostBars = 400;

struct ComposeOptions {
  std::string begin;
  std::string kind;
  std::string metre;
  std::string key;
  std::int64_t bars = 0;  ///< 0: the kind's own
  std::string out;
  std::string play;
  std::string model;
  bool json = false;
  bool weights = false;
  int threads = 0;
  Device device = Device::cpu;
  tasks::Choices choices;
  MapOptions map;

  bool is_tune() const { return kind == kTune; }
};

/// Small letters, with the dot.
std::string ending_of(const std::string& path) {
  std::string ending = fs::path(path).extension().string();
  for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return ending;
}

std::string out_problem(const std::string& path) {
  const std::string ending = ending_of(path);
  return ending == ".mid" || ending == ".midi" || ending == ".abc" || ending == ".wav"
             ? ""
             : files::in_quotes(path) + ": the name of a .mid, .abc or .wav file is accepted";
}

std::string play_problem(const std::string& path) {
  return ending_of(path) == ".wav"
             ? ""
             : files::in_quotes(path) + ": the name of a .wav file is accepted";
}

/// "6/8", "C", "C|".
std::string metre_problem(const std::string& metre) {
  const std::size_t slash = metre.find('/');
  const auto is_number = [](std::string_view text) {
    return !text.empty() && text.size() <= 2 &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  const bool fits =
      metre == "C" || metre == "C|" ||
      (slash != std::string::npos && is_number(std::string_view(metre).substr(0, slash)) &&
       is_number(std::string_view(metre).substr(slash + 1)));
  return fits ? "" : files::in_quotes(metre) + " is no metre, such as 6/8 or C|";
}

/// "G", "Em", "D Mixolydian".
std::string key_problem(const std::string& key) {
  const bool fits = !key.empty() && key.size() <= 20 && key[0] >= 'A' && key[0] <= 'G' &&
                    std::all_of(key.begin(), key.end(), [](unsigned char c) {
                      return std::isalpha(c) != 0 || c == '#' || c == ' ';
                    });
  return fits ? "" : files::in_quotes(key) + " is no key, such as G, Em or \"A Dorian\"";
}

/// What is wrong with the flags together; "": nothing.
std::string problem_with(const ComposeOptions& options) {
  const bool headed = !options.metre.empty() || !options.key.empty();
  if (headed && !options.is_tune()) return "--metre and --key are of a tune; add --kind tune";
  if (headed && !options.begin.empty())
    return "--metre and --key begin a tune; the file of --begin has its own";
  if (!options.map.heads.empty() && !options.map.wanted())
    return "--heads says what --map or --show draws; give one of them";
  return "";
}

tasks::Input input_of(const ComposeOptions& options) {
  if (options.begin.empty()) {
    std::string heads;
    if (!options.metre.empty()) heads += "M:" + options.metre + "\n";
    if (!options.key.empty()) heads += "K:" + options.key + "\n";
    return heads;
  }
  const std::string where = files::path_text(options.begin);
  const std::string ending = ending_of(options.begin);
  if (ending == ".abc") return files::read_text(options.begin, tasks::compose::kMostAbcBytes);
  if (ending != ".mid" && ending != ".midi")
    fail<FileError>(where, ": a .mid or .abc file is read");
  const files::Bytes bytes = files::read_bytes(options.begin, tasks::compose::kMostMidiBytes);
  const Music music = tasks::compose::read_midi(bytes.span(), where);
  if (music.notes.empty()) fail<FileError>(where, " has no notes");
  tasks::Input input;
  input.parts.emplace("notes", tasks::compose::table_of(music));
  return input;
}

void write_music(const std::string& path, const Music& music, const std::string& abc) {
  const std::string ending = ending_of(path);
  if (ending == ".abc") {
    files::atomic_write(path, abc);
    return;
  }
  const std::vector<std::uint8_t> bytes =
      ending == ".wav" ? tasks::compose::write_wav(tasks::compose::play(music))
                       : tasks::compose::write_midi(music);
  files::atomic_write(path, std::as_bytes(std::span(bytes)));
}

Music music_of(const tasks::Answer& answer) {
  const auto* table = answer.output ? std::get_if<tasks::Table>(&*answer.output) : nullptr;
  if (table == nullptr) fail("attn::tools::compose: an answer without notes");
  Music music = tasks::compose::music_of(*table);
  if (const auto tempo = answer.numbers.find("tempo"); tempo != answer.numbers.end())
    music.tempo = static_cast<double>(tempo->second.front());
  return music;
}

/// Bar lines end a tune where --bars wants it; a chorale's bars are so many tokens.
tasks::Choices choices_of(const ComposeOptions& options) {
  tasks::Choices choices = options.choices;
  choices.weights = options.weights || options.map.wanted();
  constexpr std::int64_t kUsualBars = 8;
  if (!options.is_tune()) {
    choices.tokens = kTokensOfABar * (options.bars > 0 ? options.bars : kUsualBars);
    return choices;
  }
  choices.tokens = kTokensOfATune;
  if (options.bars > 0)
    choices.told = [left = options.bars, was_line = true](std::string_view token) mutable {
      const bool is_line = token == "|";
      if (is_line && !was_line) --left;
      was_line = is_line || (was_line && token == ":");
      return left > 0;
    };
  return choices;
}

std::shared_ptr<const tasks::Model> model_of(const tasks::Task& task,
                                             const ComposeOptions& options) {
  const std::string command = std::string("attn ") + kTask;
  const std::string folder = model_folder(options.model, task.card().shipped(options.kind));
  auto model = load_model_of(task, options.device, folder, command);
  if (!options.kind.empty() && model->variant() != options.kind)
    fail("the model in ", folder, " is of ", model->variant(), "s, not of ", options.kind, "s");
  return model;
}

int compose(ComposeOptions options, const Streams& streams) {
  if (const std::string problem = problem_with(options); !problem.empty()) {
    fmt::print(streams.err, "attn: {}\nRun with --help for more information.\n", problem);
    return usage;
  }
  if (options.threads > 0) ThreadPool::set_default_threads(options.threads);
  check_device(options.device, "attn compose");
  for (const std::string& path : {options.out, options.play})
    if (!path.empty()) check_output_file(path);
  if (!options.map.file.empty()) check_map_output(options.map.file);
  const tasks::Task& task = tasks::task_named(kTask);
  const tasks::Input input =
      input_of(options);  // what is no music is told before a model is read
  const tasks::Answerer answerer(model_of(task, options));
  options.kind = answerer.model().variant();
  if (const std::string problem = answerer.refusal(input); !problem.empty())
    fail<FileError>(options.begin.empty() ? "the beginning" : files::path_text(options.begin),
                    " ", problem);
  const tasks::Reply reply = answerer(input, choices_of(options));
  const tasks::Answer& answer = reply.answers.front();
  const Music music = music_of(answer);
  for (const std::string& note : reply.notes) fmt::print(streams.err, "attn: {}\n", note);
  if (!options.out.empty()) write_music(options.out, music, answer.text);
  if (!options.play.empty()) write_music(options.play, music, answer.text);
  if (options.json) {
    const auto detail = options.weights ? tasks::Detail::weights : tasks::Detail::none;
    fmt::print(streams.out, "{}\n",
               answerer.model().line_of(options.begin, input, reply, detail).dump());
  } else if (options.out.empty() && options.play.empty()) {
    fmt::print(streams.out, "{}", answer.text);
  } else {
    fmt::print(
        streams.err, "attn: {} notes, {:.0f} s\n", music.notes.size(),
        static_cast<double>(music.end()) / tasks::compose::kQuarter * 60.0 / music.tempo);
  }
  // What reads JSON or ABC from the output would trip over a heat map.
  AnswerMaps maps(options.map, streams.err);
  if (const std::string note = maps.draw(answerer.model(), input, reply.pieces.front());
      !note.empty())
    fmt::print(streams.err, "attn: {}\n", note);
  return success;
}

void add_drawing_options(CLI::App& command, ComposeOptions& options) {
  const tasks::Writing& writing = *tasks::task_named(kTask).writing();
  options.choices.temperature = writing.temperature;
  options.choices.top_p = writing.top_p;
  command
      .add_option("--temperature", options.choices.temperature,
                  "0 takes the likeliest token each time; higher draws less likely ones, too")
      ->capture_default_str()
      ->check(between(0, 100));
  command
      .add_option("--top", options.choices.top, "Draw from this many likeliest tokens; 0: all")
      ->check(at_least(0));
  command
      .add_option("--top-p", options.choices.top_p,
                  "Draw from the likeliest tokens that together have this probability")
      ->capture_default_str()
      ->check(between(0, 1));
  command.add_option("--seed", options.choices.seed, "Random seed for drawing")
      ->check(at_least(0));
}

constexpr const char* kFooter =
    "\nA Transformer chooses each note by looking at the notes before it, and it knows how far "
    "back\n"
    "each of them is. The chorales that it learnt from are Bach's, in quarters and four "
    "voices; "
    "the\n"
    "tunes are folk tunes of Ireland, Scotland and America. What comes out is printed as ABC, "
    "or\n"
    "written as MIDI, ABC or sound.\n\n"
    "Examples:\n"
    "    attn compose\n"
    "    attn compose --seed 3 --out new.mid --play new.wav\n"
    "    attn compose --begin mine.mid --bars 8 --out longer.mid --map looked.svg\n"
    "    attn compose --kind tune --metre 6/8 --key G --out jig.abc\n"
    "    attn compose --begin hymn.abc --temperature 0.8 --json\n"
    "    attn data compose --from FOLDER; attn train compose --kind tune --out tunes";

}  // namespace

void add_compose(CLI::App& app, Action& action) {
  auto options = std::make_shared<ComposeOptions>();
  const tasks::TaskCard& card = tasks::task_named(kTask).card();
  CLI::App* command = app.add_subcommand(card.name, card.title);
  command->footer(kFooter);
  command->add_option("--begin", options->begin, "Music to go on with: a .mid or .abc file")
      ->type_name("FILE");
  command
      ->add_option("--bars", options->bars,
                   "Bars to compose; default 8 of a chorale, and a tune to its end")
      ->check(CLI::Range(std::int64_t{1}, kMostBars));
  command->add_option("--kind", options->kind, "What is composed; default " + card.variants[0])
      ->check(CLI::IsMember(card.variants));
  command->add_option("--metre", options->metre, "Metre of a tune: 6/8")->check(metre_problem);
  command->add_option("--key", options->key, "Key of a tune: G, Em, \"A Dorian\"")
      ->check(key_problem);
  command->add_option("--out", options->out, "File to write: .mid, .abc or .wav")
      ->type_name("FILE")
      ->check(out_problem);
  command->add_option("--play", options->play, "Write how it sounds, too: a .wav file")
      ->type_name("FILE")
      ->check(play_problem);
  add_drawing_options(*command, *options);
  command->add_option("--model", options->model, "Model folder, or the name of one that ships")
      ->type_name("DIR");
  command->add_flag("--json", options->json, "Print the notes and the ABC as a JSON object");
  command->add_flag("--weights", options->weights, "With --json: print attention weights too")
      ->needs(command->get_option("--json"));
  add_threads_flag(*command, options->threads);
  add_device_flag(*command, options->device, "Device that composes");
  add_map_options(*command, options->map);
  command->add_option("--heads", options->map.heads, "With --map or --show: every head")
      ->type_name("all")
      ->check(CLI::IsMember({"all"}));
  command->callback([options, &action] {
    action = [options](const Streams& streams) { return compose(*options, streams); };
  });
}

}  // namespace attn::tools
