// attn transcribe with a model of a few numbers: what it prints and writes, and what it says of
// files that are empty, silent, short, cut, mislabelled, or no sound.

#include <gtest/gtest.h>
#include <stdlib.h>  // setenv

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "attn/files/read_file.hpp"
#include "attn/maps/base64.hpp"
#include "attn/maps/map.hpp"
#include "attn/tasks/fetch/cache.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/transcribe/fetch.hpp"
#include "attn/tasks/transcribe/samples.hpp"
#include "attn/tasks/transcribe/word_errors.hpp"
#include "support/wav.hpp"
#include "tasks/scratch.hpp"
#include "tasks/transcribe/fake_package.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/model_folder.hpp"
#include "tools/say.hpp"
#include "tools/serve/assets.hpp"
#include "tools/serve/message.hpp"
#include "tools/serve/models.hpp"
#include "tools/serve/service.hpp"

namespace attn::tools {
namespace {

using nlohmann::json;

constexpr std::uint64_t kLargest = 1 << 20;

/// The cache is a scratch folder with a package of small models.
class Transcribe : public testing::Test {
 protected:
  Transcribe() {
    if (const char* home = std::getenv("XDG_CACHE_HOME")) before_ = home;
    setenv("XDG_CACHE_HOME", scratch_.path().c_str(), 1);
    test::FakePackage().write(tasks::transcribe_folder());
  }
  ~Transcribe() override {
    if (before_.empty())
      unsetenv("XDG_CACHE_HOME");
    else
      setenv("XDG_CACHE_HOME", before_.c_str(), 1);
  }
  void SetUp() override {
    if (program_beside("attn-sound").empty())
      GTEST_SKIP() << "attn-sound was not built: libsndfile or libsoxr is not here";
  }

  std::string write(const std::string& name, const std::string& content) const {
    return scratch_.write(name, content).string();
  }
  std::string path(const std::string& name) const { return (scratch_.path() / name).string(); }
  Said transcribe(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "transcribe");
    return say(arguments);
  }
  /// An error: nothing on standard output, and a message with these parts.
  void expect_refused(const std::string& file, const std::vector<std::string>& parts) const {
    const Said said = transcribe({file});
    EXPECT_EQ(said.status, failure) << file;
    EXPECT_EQ(said.out, "") << file;
    for (const std::string& part : parts)
      EXPECT_NE(said.err.find(part), std::string::npos) << "said: " << said.err;
    EXPECT_EQ(said.err.find("attn::"), std::string::npos) << said.err;
  }
  /// No words, and a note.
  void expect_note(const std::string& file, const std::string& part) const {
    const Said said = transcribe({file});
    EXPECT_EQ(said.status, success) << said.err;
    EXPECT_EQ(said.out, "");
    EXPECT_NE(said.err.find(part), std::string::npos) << "said: " << said.err;
  }

  tasks::Scratch scratch_;

 private:
  std::string before_;
};

TEST_F(Transcribe, PrintsTheWordsAlone) {
  const Said said = transcribe({write("a.wav", test::wav(test::tone(3.0)))});
  ASSERT_EQ(said.status, success) << said.err;
  EXPECT_EQ(said.err, "");
  EXPECT_GT(said.out.size(), 1u);
  EXPECT_EQ(said.out.back(), '\n');
  // The other model, and one thread, of the same numbers.
  EXPECT_EQ(transcribe({path("a.wav"), "--model", "tiny", "--threads", "1"}).out, said.out);
}

TEST_F(Transcribe, LeavesNoSamplesBehindHoweverItEnds) {
  const std::string sound = write("a.wav", test::wav(test::tone(1.0)));
  const auto files_now = [] {
    std::size_t count = 0;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(tasks::temporary_folder()))
      count += entry.path().filename() == "samples" ? 1 : 0;
    return count;
  };
  const tasks::Scratch temporary;
  setenv("TMPDIR", temporary.path().c_str(), 1);
  const tasks::SoundFile input = tasks::read_sound(sound, {});
  const std::size_t left = files_now();
  unsetenv("TMPDIR");
  EXPECT_EQ(left, 0u) << "a killed program would leave them";
  const auto samples = tasks::samples_of(input.sound);
  std::vector<float> some(100);
  samples->read(samples->size() - 100, some);
  EXPECT_NE(some, std::vector<float>(100));
}

TEST_F(Transcribe, ReadsAnyRateAndNumberOfChannels) {
  const std::string plain = transcribe({write("a.wav", test::wav(test::tone(2.0)))}).out;
  std::vector<float> stereo;
  for (const float x : test::tone(2.0)) stereo.insert(stereo.end(), {x, x});
  EXPECT_EQ(transcribe({write("b.wav", test::wav(stereo, 16000, 2))}).out, plain);
  for (const int rate : {8000, 22050, 44100, 48000}) {
    const Said said =
        transcribe({write("c.wav", test::wav(test::tone(2.0, 440.0, rate), rate)), "--json"});
    ASSERT_EQ(said.status, success) << said.err;
    EXPECT_NEAR(json::parse(said.out)["seconds"].get<double>(), 2.0, 0.001) << rate;
  }
}

TEST_F(Transcribe, TellsWordsWithTheirTimes) {
  const std::string file = write("a.wav", test::wav(test::tone(3.0)));
  const Said said = transcribe({file, "--json", "--srt", path("a.srt"), "--vtt", path("a.vtt"),
                                "--map", path("a.json")});
  ASSERT_EQ(said.status, success) << said.err;
  const json result = json::parse(said.out);
  EXPECT_EQ(result["file"], file);
  EXPECT_EQ(result["model"], "base");
  ASSERT_FALSE(result["words"].empty());
  double last = 0.0;
  std::string words;
  for (const json& word : result["words"]) {
    EXPECT_GE(word["begin"].get<double>(), last);
    EXPECT_GE(word["end"], word["begin"]);
    EXPECT_LE(word["end"].get<double>(), 3.0);
    last = word["begin"].get<double>();
    words += (words.empty() ? "" : " ") + word["word"].get<std::string>();
  }
  EXPECT_EQ(result["text"], words);
  EXPECT_TRUE(files::read_text(path("a.srt"), kLargest).starts_with("1\n00:00:0"));
  EXPECT_TRUE(files::read_text(path("a.vtt"), kLargest).starts_with("WEBVTT\n\n00:00:0"));
  const maps::Map map = maps::read_map(path("a.json"));
  const auto* speech = std::get_if<maps::Speech>(&map);
  ASSERT_NE(speech, nullptr);
  EXPECT_EQ(speech->words.size(), result["words"].size());
}

TEST_F(Transcribe, SaysWhatIsWrongWithAFile) {
  expect_refused(path("nowhere.wav"), {"nowhere.wav", "No such file"});
  expect_refused(scratch_.path().string(), {"it is a folder"});
  expect_refused(write("empty.wav", ""), {"empty.wav", "the file is empty"});
  expect_refused(write("text.wav", "This is no sound, it is a text.\n"),
                 {"text.wav", "not a sound file", "WAV"});
  expect_refused(write("head.wav", test::wav({}).substr(0, 30)), {"head.wav"});
  expect_refused("/dev/zero", {"no plain file"});
  // Rates and channels that nobody has.
  expect_refused(write("rate.wav", test::wav(test::tone(0.1), 10)),
                 {"10 samples a second", "1000 to 768000"});
  expect_refused(write("wide.wav", test::wav(test::tone(0.1), 16000, 100)), {"100 channels"});
}

TEST_F(Transcribe, NotesWhatIsOddAboutAFile) {
  expect_note(write("one.wav", test::wav({0.5f})), "shorter than a tenth of a second");
  expect_note(write("none.wav", test::wav({})), "shorter than a tenth of a second");
  expect_note(write("silent.wav", test::wav(std::vector<float>(48000, 0.0f))),
              "no speech was heard");
  const std::string whole = test::wav(test::tone(3.0));
  const Said cut = transcribe({write("cut.wav", whole.substr(0, whole.size() / 2))});
  EXPECT_EQ(cut.status, success);
  EXPECT_GT(cut.out.size(), 1u);
  EXPECT_NE(cut.err.find("it is cut short"), std::string::npos) << cut.err;
  // A header that claims four gigabytes takes no memory for them.
  const Said huge =
      transcribe({write("huge.wav", test::wav(test::tone(1.0), 16000, 1, 4000000000))});
  EXPECT_EQ(huge.status, success);
  EXPECT_NE(huge.err.find("it is cut short"), std::string::npos) << huge.err;
  // A WAV file that is called something else is read for what it is.
  const Said named = transcribe({write("named.flac", whole)});
  EXPECT_EQ(named.status, success) << named.err;
  EXPECT_EQ(named.out, transcribe({write("right.wav", whole)}).out);
}

TEST_F(Transcribe, GoesOnBehindAFileThatIsNoSound) {
  const std::string good = write("a.wav", test::wav(test::tone(1.5)));
  const std::string bad = write("b.wav", "text");
  const Said said = transcribe({good, bad, good});
  EXPECT_EQ(said.status, failure);
  const std::string once = transcribe({good}).out;
  EXPECT_EQ(said.out, once + "\n\n" + once);
  EXPECT_NE(said.err.find("b.wav"), std::string::npos);
  EXPECT_EQ(transcribe({good, good, "--srt", path("x.srt")}).status, usage);
}

TEST_F(Transcribe, IsScoredOnFilesWithTheirTexts) {
  const std::string heard = json::parse(
      transcribe({write("a.wav", test::wav(test::tone(2.0))), "--json"}).out)["text"];
  write("clips.tsv", "a.wav\t" + heard + "\r\n" + path("a.wav") + "\t" + heard + " more\n");
  const Said said = say({"eval", "transcribe", "--data", path("clips.tsv"), "--json",
                         "--answers", path("answers.jsonl")});
  ASSERT_EQ(said.status, success) << said.err;
  const json result = json::parse(said.out);
  EXPECT_EQ(result["examples"], 2);
  EXPECT_EQ(result["model"], "base");
  EXPECT_EQ(result["data"]["name"], "clips.tsv");
  // One word of the second text was not said.
  const auto count = static_cast<double>(tasks::spoken_words(heard).size());
  EXPECT_DOUBLE_EQ(result["scores"]["WER"].get<double>(), 100.0 / (2.0 * count + 1.0));
  EXPECT_GT(result["scores"]["real time"].get<double>(), 0.0);
  const std::string answers = files::read_text(path("answers.jsonl"), kLargest);
  const json first = json::parse(answers.substr(0, answers.find('\n')));
  EXPECT_EQ(first["answer"], heard);
  EXPECT_EQ(first["id"], path("a.wav"));
  const Said lines = say(
      {"eval", "transcribe", "--data", path("clips.tsv"), "--limit", "1", "--model", "tiny"});
  EXPECT_NE(lines.out.find("transcribe (tiny) on 1 test clips of clips.tsv: WER 0.00"),
            std::string::npos)
      << lines.out << lines.err;

  const Said without = say({"eval", "transcribe"});
  EXPECT_EQ(without.status, failure);
  EXPECT_NE(without.err.find("--data FILE"), std::string::npos) << without.err;
  EXPECT_EQ(say({"eval", "transcribe", "--data", path("clips.tsv"), "--beam", "3"}).status,
            failure);
  write("bad.tsv", "no tab\n");
  const Said bad = say({"eval", "transcribe", "--data", path("bad.tsv")});
  EXPECT_EQ(bad.status, failure);
  EXPECT_NE(bad.err.find("line 1 is \"no tab\""), std::string::npos) << bad.err;
}

TEST_F(Transcribe, TellsBeforeWhereManySamplesWillLie) {
  // 2.3 hours of a thousand samples a second.
  const std::string file =
      write("long.wav", test::wav(std::vector<float>(8'300'000, 0.0f), 1000));
  struct Heard {};
  std::string told;
  EXPECT_THROW(tasks::read_sound(file,
                                 [&](std::string_view line) {
                                   told = line;
                                   throw Heard{};  // nothing is decoded yet
                                 }),
               Heard);
  for (const char* part : {"long.wav\" lasts 2.3 hours", "531 MB in ", "TMPDIR=DIR"})
    EXPECT_NE(told.find(part), std::string::npos) << told;
  told.clear();
  tasks::read_sound(write("a.wav", test::wav(test::tone(10.0))),
                    [&](std::string_view line) { told = line; });
  EXPECT_EQ(told, "") << "of what takes little nothing is told";
}

TEST_F(Transcribe, DrawsItsHeadsAndRefusesWhatItDoesNotHaveByName) {
  const std::string file = write("a.wav", test::wav(test::tone(2.0)));
  ASSERT_EQ(transcribe({file, "--heads", "all", "--map", path("heads.json")}).status, success);
  EXPECT_TRUE(std::holds_alternative<maps::Heads>(maps::read_map(path("heads.json"))));
  EXPECT_EQ(transcribe({file, "--heads", "all"}).status, usage);
  for (const char* flag : {"--forbid", "--force", "--beam"}) {
    const Said said = transcribe({file, flag, "1"});
    EXPECT_EQ(said.status, usage);
    EXPECT_NE(said.err.find(std::string("there is no flag ") + flag), std::string::npos)
        << said.err;
  }
  const Said model = transcribe({file, "--model", "huge"});
  EXPECT_EQ(model.status, failure);
  EXPECT_NE(model.err.find("accepted: base, tiny, or a folder"), std::string::npos)
      << model.err;
  EXPECT_EQ(
      transcribe({file, "--model", (tasks::transcribe_folder() / "dist/model/tiny").string()})
          .out,
      transcribe({file, "--model", "tiny"}).out);
}

TEST_F(Transcribe, IsATaskAmongTheOthers) {
  const json all = json::parse(say({"tasks", "--json"}).out);
  const auto found = std::find_if(
      all.begin(), all.end(), [](const json& one) { return one.at("name") == "transcribe"; });
  ASSERT_NE(found, all.end());
  EXPECT_EQ(found->at("fetched").size(), 2u);
  EXPECT_EQ(found->at("fetched")[0].at("here"), true);
  EXPECT_NE(say({"tasks"}).out.find("    base, here: WER"), std::string::npos);
  write("a.wav", test::wav(test::tone(1.0)));
  const Said shown = say({"data", "transcribe", "--data", write("clips.tsv", "a.wav\tyes\n")});
  ASSERT_EQ(shown.status, success) << shown.err;
  EXPECT_NE(shown.out.find("1 clips with 1 words"), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find("-> yes"), std::string::npos) << shown.out;
  const Said train =
      say({"train", "transcribe", "--data", path("clips.tsv"), "--out", path("run")});
  EXPECT_EQ(train.status, failure);
  EXPECT_NE(train.err.find("no examples to learn from"), std::string::npos) << train.err;
}

TEST_F(Transcribe, IsExplainedInAFile) {
  if (!serve::has_page()) GTEST_SKIP() << "the page is not in this program";
  const Said said = say({"explain", "transcribe", write("a.wav", test::wav(test::tone(2.0))),
                         "--html", path("a.html")});
  ASSERT_EQ(said.status, success) << said.err;
  const std::string page = files::read_text(path("a.html"), std::uint64_t{64} << 20);
  EXPECT_NE(page.find("\"kind\":\"speech\""), std::string::npos);
  EXPECT_NE(page.find("\"words\":[{\"begin\""), std::string::npos);
  EXPECT_EQ(said.out, transcribe({path("a.wav")}).out) << "one answer, whichever door";
}

/// What the server says to a request, without a socket.
serve::Response answered(const serve::Service& service, const json& body) {
  serve::Request request;
  request.method = "POST";
  request.path = "/api/transcribe";
  request.body = body.dump();
  const serve::Plan plan = service.plan(request);
  return plan.later ? serve::Service::run(plan.later) : plan.now;
}

json sound_field(const std::string& wav) {
  return maps::to_base64(std::vector<std::uint8_t>(wav.begin(), wav.end()));
}

TEST_F(Transcribe, IsServed) {
  serve::Models models;
  models.add_packaged(tasks::task_named("transcribe"));
  const serve::Service service({}, std::move(models));
  const std::string wav = test::wav(test::tone(2.0));
  const serve::Response response = answered(service, {{"sound", sound_field(wav)}});
  ASSERT_EQ(response.status, 200) << response.text;
  const json reply = json::parse(response.text);
  EXPECT_EQ(reply.at("text").get<std::string>() + "\n", transcribe({write("a.wav", wav)}).out);
  EXPECT_FALSE(reply.at("words").empty());
  EXPECT_EQ(reply.at("map").at("kind"), "speech");
  EXPECT_EQ(answered(service, {{"sound", sound_field(wav)}, {"model", "tiny"}}).status, 200);
  const auto error = [&](const json& body) {
    const serve::Response refused = answered(service, body);
    EXPECT_GE(refused.status, 400);
    return json::parse(refused.text).at("error").get<std::string>();
  };
  EXPECT_NE(error({{"sound", sound_field(wav)}, {"forbid", {1}}}).find("no field \"forbid\""),
            std::string::npos);
  EXPECT_NE(error({{"sound", sound_field(wav)}, {"model", "huge"}}).find("base, tiny"),
            std::string::npos);
  EXPECT_NE(error({{"sound", std::string(3'000'000, 'A')}}).find("at most 2097152"),
            std::string::npos);
  EXPECT_NE(error({{"sound", sound_field(test::wav(test::tone(1.0, 440.0, 8000), 8000))}})
                .find("8000 samples a second"),
            std::string::npos);
}

TEST_F(Transcribe, IsNotFetchedByAServer) {
  std::filesystem::remove_all(tasks::transcribe_folder());
  serve::Models models;
  models.add_packaged(tasks::task_named("transcribe"));
  EXPECT_FALSE(models.has("transcribe"));
  for (const json& one : models.describe())
    if (one.at("name") == "transcribe") {
      EXPECT_TRUE(one.at("models").empty());
      EXPECT_NE(one.at("missing").get<std::string>().find("73 MB"), std::string::npos);
    }
  const serve::Service service({}, std::move(models));
  const serve::Response response =
      answered(service, {{"sound", sound_field(test::wav(test::tone(1.0)))}});
  EXPECT_EQ(response.status, 404);
  EXPECT_NE(response.text.find("attn data transcribe"), std::string::npos) << response.text;
  EXPECT_FALSE(std::filesystem::exists(tasks::transcribe_folder()));
}

}  // namespace
}  // namespace attn::tools
