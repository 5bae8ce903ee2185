// transcribe behind the interface of every task, with a model of a few numbers.

#include "attn/tasks/task.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/maps/base64.hpp"
#include "attn/maps/map.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/answerer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/prepared.hpp"
#include "attn/tasks/transcribe/samples.hpp"
#include "attn/tasks/value.hpp"
#include "support/wav.hpp"
#include "tasks/scratch.hpp"
#include "tasks/transcribe/doubt.hpp"
#include "tasks/transcribe/fake_package.hpp"
#include "tasks/transcribe/load.hpp"

namespace attn::tasks {
namespace {

const Task& task() {
  return task_named("transcribe");
}

nlohmann::json request(const std::string& wav) {
  return {{"sound", maps::to_base64(std::vector<std::uint8_t>(wav.begin(), wav.end()))}};
}

std::string refusal_of(const nlohmann::json& request) {
  try {
    task().input_of(request);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

class Hears : public testing::Test {
 protected:
  Hears() { test::FakePackage().write(scratch_.path()); }
  Answerer answerer() const { return Answerer(load_transcriber(scratch_.path())); }

  Scratch scratch_;
};

TEST_F(Hears, LoadsAPackageByItsFolderOrThatOfAModel) {
  EXPECT_EQ(load_transcriber(scratch_.path())->variant(), "base");
  const auto tiny = scratch_.path() / "dist" / "model" / "tiny";
  EXPECT_EQ(load_transcriber(tiny)->variant(), "tiny");
  EXPECT_EQ(load_transcriber(tiny / "quantized")->kind(), "moonshine");
  const Scratch empty;
  EXPECT_THROW(load_transcriber(empty.path()), FileError);
  // A folder with a config.json is one of a model that was taught here.
  empty.write("config.json", R"({"format": 1, "task": "transcribe", "model": {"kind": 3}})");
  EXPECT_NE(message_of<FileError>([&] { task().load(empty.path()); }).find("kind"),
            std::string::npos);
}

TEST_F(Hears, AnswersWithWordsAndTheirTimes) {
  const Answerer hears = answerer();
  const Input input{Sound{kSpeechRate, test::tone(3.0)}};
  std::string told;
  double read = 0.0;
  const Reply reply = hears(input, {.told =
                                        [&](std::string_view line) {
                                          told += line;
                                          return true;
                                        },
                                    .progress = [&](double share) { read = share; }});
  const Answer& answer = reply.answers.front();
  ASSERT_FALSE(answer.text.empty());
  EXPECT_EQ(told, answer.text + "\n");
  EXPECT_EQ(read, 1.0);
  ASSERT_TRUE(answer.table.has_value());
  std::string words;
  for (const auto& row : answer.table->rows) {
    words += (words.empty() ? "" : " ") + std::get<std::string>(row[0]);
    EXPECT_LE(std::get<double>(row[1]), std::get<double>(row[2]));
  }
  EXPECT_EQ(words, answer.text);
  const nlohmann::json json = hears.model().json_of(input, reply, Detail::weights);
  EXPECT_EQ(json.at("words").size(), answer.table->rows.size());
  EXPECT_EQ(json.at("map").at("kind"), "speech");
  EXPECT_EQ(json.at("seconds"), 3.0);
  const maps::Map heads = hears.model().map(input, reply.pieces.front(), "all");
  EXPECT_TRUE(std::holds_alternative<maps::Heads>(heads));
  EXPECT_TRUE(task().form_of("srt", reply).starts_with("1\n00:00:0"));
  EXPECT_THROW(task().form_of("doc", reply), InvalidArgument);
}

TEST_F(Hears, TellsNoTimesWhereNoneAreWanted) {
  const Reply reply =
      answerer()(Input{Sound{kSpeechRate, test::tone(3.0)}}, {.weights = false});
  EXPECT_FALSE(reply.answers.front().table.has_value());
  EXPECT_EQ(reply.answers.front().map, nullptr);
}

TEST_F(Hears, RefusesWhatItCannotHearOrDo) {
  const Answerer hears = answerer();
  EXPECT_NE(hears.refusal("a text").find("there is nothing to hear"), std::string::npos);
  EXPECT_NE(hears.refusal(Sound{8000, {0.0f}}).find("8000 samples a second"),
            std::string::npos);
  EXPECT_NE(hears.refusal(Sound{kSpeechRate, {std::numeric_limits<float>::infinity()}})
                .find("no finite numbers"),
            std::string::npos);
  const Input input{Sound{kSpeechRate, test::tone(1.0)}};
  const auto refused = [&](const Choices& choices) -> std::string {
    try {
      hears(input, choices);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refused({.steering = {.forbid = {1}}}).find("\"forbid\""), std::string::npos);
  EXPECT_NE(refused({.steering = {.force = {{0, 1}}}}).find("\"force\""), std::string::npos);
  EXPECT_NE(refused({.steering = {.temperature = 2.0}}).find("\"attention-temperature\""),
            std::string::npos);
  EXPECT_NE(refused({.beam = 4}).find("\"beam\""), std::string::npos);
  const Reply reply = hears(input);
  EXPECT_THROW(hears.model().map(input, reply.pieces.front(), "encoder"), InvalidArgument);
}

TEST(TranscribeTask, ReadsTheSoundOfARequest) {
  const Input input = task().input_of(request(test::wav(test::tone(1.0))));
  const auto* sound = input.find<Sound>("sound");
  ASSERT_NE(sound, nullptr);
  EXPECT_EQ(sound->samples.size(), 16000u);
}

TEST(TranscribeTask, RefusesARequestByItsSizeFirst) {
  EXPECT_NE(refusal_of(nlohmann::json::object()).find("\"sound\" is missing"),
            std::string::npos);
  EXPECT_NE(refusal_of({{"sound", 3}}).find("WAV file in base64"), std::string::npos);
  EXPECT_NE(refusal_of({{"sound", "%%%"}}).find("is not base64"), std::string::npos);
  EXPECT_NE(refusal_of(request("no sound at all")).find("no WAV file"), std::string::npos);
  // No base64 at all, but what is told is that it is too long: nothing was decoded.
  const std::string told = refusal_of({{"sound", std::string(3'000'000, '%')}});
  EXPECT_NE(told.find("at most 2097152 are accepted"), std::string::npos) << told;
  EXPECT_EQ(refusal_of(request(test::wav(std::vector<float>(1'048'500, 0.0f)))), "");
}

TEST(TranscribeTask, LearnsFromPreparedSoundsOrClips) {
  EXPECT_EQ(task().misfit(task().defaults({}, nullptr)), "");
  const std::vector<PreparedFile> files = task().prepared();
  if (!std::all_of(files.begin(), files.end(), has_prepared)) {
    EXPECT_NE(message_of<FileError>([] {
                task().corpus(task().defaults({}, nullptr).what, {});
              }).find("attn data transcribe --from FOLDER"),
              std::string::npos);
  }
}

TEST(TranscribeTask, ReadsAListOfClips) {
  const Scratch scratch;
  scratch.write("a.wav", test::wav(test::tone(0.5)));
  const auto list = [&](const std::string& lines) {
    nlohmann::json what = task().defaults({}, nullptr).what;
    what["data"] = scratch.write("clips.tsv", lines).string();
    return task().corpus(what, {});
  };
  const Corpus corpus = list("a.wav\tyes no\r\n\na.wav\tmaybe\n");
  ASSERT_EQ(corpus.test.size(), 2u);
  EXPECT_EQ(corpus.test[0].targets.front(), "yes no");
  EXPECT_TRUE(corpus.train.empty());
  EXPECT_EQ(task().facts(corpus, corpus.test).at("words"), 3);
  EXPECT_THROW(list("no tab\n"), FileError);
  EXPECT_THROW(list("b.wav\tnot there\n"), FileError);
  EXPECT_THROW(list("\n"), FileError);
}

std::vector<SpokenWord> words(const std::string& text) {
  std::vector<SpokenWord> all;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    all.push_back({text.substr(begin, end - begin)});
    begin = end + 1;
  }
  return all;
}

TEST(Doubt, CountsRunsOfWordsThatRepeatThoseBefore) {
  EXPECT_EQ(repeated_share(words("It was a bright cold day in April.")), 0.0);
  EXPECT_EQ(repeated_share(words("no no no")), 0.0) << "too short to tell";
  // Six runs of three, of which the first alone is new.
  EXPECT_DOUBLE_EQ(repeated_share(words("No, no no no. no no no no")), 5.0 / 6.0);
  EXPECT_GT(repeated_share(words("I know it. I know it. I know it. I know it.")), 0.5);
}

TEST(Doubt, IsOfUnlikelyOrRepeatedWords) {
  const auto doubt = [](std::int64_t words, double a_token, double repeated = 0.0) {
    return doubt_of({.words = words,
                     .tokens = 10,
                     .log_probability = 10.0 * a_token,
                     .repeated = repeated});
  };
  EXPECT_EQ(doubt(8, -0.2), "");
  EXPECT_NE(doubt(8, -0.7).find("a probability of 0.50 a token"), std::string::npos)
      << doubt(8, -0.7);
  EXPECT_EQ(doubt(2, -0.7), "") << "of two words a token's probability says little";
  EXPECT_NE(doubt(2, -1.1), "");
  EXPECT_NE(doubt(40, -0.1, 0.6).find("repeat themselves"), std::string::npos);
  EXPECT_EQ(doubt_of({}), "") << "no words, nothing to doubt";
}

}  // namespace
}  // namespace attn::tasks
