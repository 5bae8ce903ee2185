// Models that ship are calibrated, and a calibration stays with its model.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/answerer.hpp"
#include "attn/tasks/calibration.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/pair_model.hpp"
#include "tasks/scratch.hpp"
#include "tools/attn/command.hpp"
#include "tools/say.hpp"

namespace attn::tasks {
namespace {

namespace fs = std::filesystem;

/// A model folder that may be written to.
class Folder {
 public:
  explicit Folder(const std::string& model) : path(scratch_.path() / model) {
    fs::copy(fs::path(ATTN_SHIPPED_MODELS) / model, path);
    fs::remove(path / "calibration.json");
  }

 private:
  Scratch scratch_;

 public:
  const fs::path path;
};

/// Some of what the shipped model learnt from, by hand.
Corpus descriptions() {
  Corpus corpus;
  corpus.name = "descriptions";
  for (int i = 0; i < 40; ++i) {
    for (const char* source :
         {"This package contains the shared library.", "a simple text editor",
          "command line tool to manage version 2 of the configuration files",
          "This package provides the documentation.",
          "graphical user interface for the server"})
      corpus.train.push_back({"", source, {"x"}});
  }
  for (const char* source :
       {"This package contains the text editor.", "shared library of the server",
        "command line tool to manage files", "documentation for version 3 of the library"})
    corpus.development.push_back({"", source, {"version 3"}});
  corpus.development.front().targets = {"questo"};
  return corpus;
}

TEST(Calibration, IsKeptBesideTheModelItBelongsTo) {
  const Folder folder("translate");
  const PairModel model = load_model(folder.path);
  ASSERT_EQ(model.calibration, nullptr);
  const Calibration made = calibrate(model, descriptions());
  ASSERT_TRUE(made.words.has_value());
  EXPECT_FALSE(made.copies_numbers) << "two of three right answers invent a 3";
  EXPECT_EQ(made.copied_marks, ";");
  save_calibration(folder.path, model, made);

  const PairModel again = load_model(folder.path);
  ASSERT_NE(again.calibration, nullptr);
  EXPECT_EQ(again.calibration->unknown, made.unknown);
  EXPECT_EQ(again.calibration->log_probability, made.log_probability);
  EXPECT_EQ(again.calibration->words->least, made.words->least);
  EXPECT_EQ(again.calibration->words->weights, made.words->weights);
  EXPECT_EQ(again.calibration->copied_marks, ";");
  const Answerer answerer(again);
  EXPECT_FALSE(answerer("This package contains the text editor.").unfamiliar);
  const Reply love = answerer("I love you, my dear.");
  EXPECT_TRUE(love.unfamiliar);
  EXPECT_FALSE(love.notes.empty());
}

TEST(Calibration, OfOtherWeightsOrDamagedIsAnError) {
  const Folder folder("pronounce-local");
  const PairModel model = load_model(folder.path);
  Calibration calibration;
  calibration.log_probability = -3.0;
  save_calibration(folder.path, model, calibration);
  EXPECT_NE(load_model(folder.path).calibration, nullptr);

  const Folder other("pronounce-global");
  fs::copy(folder.path / "calibration.json", other.path / "calibration.json");
  try {
    load_model(other.path);
    FAIL() << "a calibration of another model was taken";
  } catch (const FileError& error) {
    EXPECT_NE(std::string(error.what()).find("other weights"), std::string::npos)
        << error.what();
  }
  for (const char* text : {"", "{}", R"({"format": 2})", "[1]"}) {
    std::ofstream(folder.path / "calibration.json") << text;
    EXPECT_THROW(load_model(folder.path), FileError) << text;
  }
}

TEST(Calibration, NeedsExamples) {
  const PairModel model = load_model(fs::path(ATTN_SHIPPED_MODELS) / "pronounce-local");
  EXPECT_THROW(calibrate(model, {}), InvalidArgument);
}

/// The lines of a file of tests/data/everyday.
std::vector<Input> lines_of(const char* name) {
  std::vector<Input> lines;
  std::ifstream in(fs::path(ATTN_TEST_DATA) / "everyday" / name);
  for (std::string line; std::getline(in, line);) lines.emplace_back(line);
  return lines;
}

/// How many of them the model tells that it does not know.
std::size_t unfamiliar_of(const Answerer& answerer, const std::vector<Input>& inputs) {
  std::size_t told = 0;
  for (const Reply& reply : answerer(inputs)) told += reply.unfamiliar ? 1 : 0;
  return told;
}

TEST(ShippedCalibration, VerseLawAndCodeAreUnfamiliarToTheTranslator) {
  const Answerer translator(fs::path(ATTN_SHIPPED_MODELS) / "translate");
  const std::vector<Input> everyday = lines_of("sentences.txt");
  ASSERT_EQ(everyday.size(), 60u);
  EXPECT_LE(unfamiliar_of(translator, everyday), 1u);
  const std::vector<Input> others = lines_of("verse-law-code.txt");
  ASSERT_EQ(others.size(), 60u);
  EXPECT_GE(unfamiliar_of(translator, others), 50u);
  for (const char* known :
       {"This package provides a simple tool to edit images.", "a text editor",
        "fast web server with few dependencies", "Python bindings for the library",
        "It supports several file formats and can be extended with plugins.", "I love you."})
    EXPECT_FALSE(translator(known).unfamiliar) << known;
}

TEST(ShippedCalibration, EverydayTextsAreUnfamiliarToTheSummariser) {
  const Answerer summariser(fs::path(ATTN_SHIPPED_MODELS) / "summarise");
  const std::vector<Input> everyday = lines_of("texts.txt");
  ASSERT_GE(everyday.size(), 20u);
  const std::vector<Reply> replies = summariser(everyday);
  for (std::size_t i = 0; i < everyday.size(); ++i)
    EXPECT_TRUE(replies[i].unfamiliar) << everyday[i].text();
  EXPECT_FALSE(summariser(summariser.task().card().example).unfamiliar);
}

TEST(ShippedCalibration, WordsWithDigitsAndOtherScriptsAreNotPronouncedInSilence) {
  const Answerer speaker(fs::path(ATTN_SHIPPED_MODELS) / "pronounce");
  for (const char* odd : {"mp3", "b2b", "r2d2x", "na\u00efve", "caf\u00e9"})
    EXPECT_TRUE(speaker(odd).unfamiliar) << odd;
  for (const char* foreign :
       {"2024", "42", "\u043f\u0440\u0438\u0432\u0435\u0442", "\u4f60\u597d"})
    EXPECT_NE(speaker.refusal(foreign).find("never learnt"), std::string::npos) << foreign;
  for (const char* word : {"attention", "debian", "Schwarzenegger", "o'clock", "house"})
    EXPECT_FALSE(speaker(word).unfamiliar) << word;
}

TEST(ShippedCalibration, AnotherScriptIsRefused) {
  setenv("ATTN_MODELS", ATTN_SHIPPED_MODELS, 1);
  const tools::Said said = tools::say(
      {"translate",
       "\u0431\u044b\u0441\u0442\u0440\u044b\u0439 \u0441\u0435\u0440\u0432\u0435\u0440"});
  EXPECT_EQ(said.status, tools::failure);
  EXPECT_EQ(said.out, "");
  EXPECT_NE(said.err.find("never learnt"), std::string::npos) << said.err;
  // A foreign name inside a text is no reason.
  EXPECT_EQ(tools::say({"translate", "font for \u65e5\u672c\u8a9e texts"}).status,
            tools::success);
  const tools::Said warned = tools::say(
      {"translate", "Shall I compare thee to a summer's day? Thou art more lovely.", "--json"});
  EXPECT_EQ(warned.status, tools::success);
  EXPECT_TRUE(nlohmann::json::parse(warned.out).at("unfamiliar").get<bool>());
  EXPECT_NE(warned.err.find("unlike what the model learnt"), std::string::npos) << warned.err;
  unsetenv("ATTN_MODELS");
}

TEST(ShippedCalibration, NumbersSurviveAndSemicolonsAreNotInvented) {
  const Answerer translator(fs::path(ATTN_SHIPPED_MODELS) / "translate");
  const auto answer = [&](const char* text) { return translator(text).answers.front().text; };
  for (const char* number : {"8080", "6667", "31337", "175"}) {
    const std::string text = std::string("The server listens on port ") + number + ".";
    EXPECT_NE(answer(text.c_str()).find(number), std::string::npos) << answer(text.c_str());
  }
  for (const char* text : {"a text editor", "a simple calculator", "password hashing"})
    EXPECT_EQ(answer(text).find(';'), std::string::npos) << answer(text);
}

}  // namespace
}  // namespace attn::tasks
