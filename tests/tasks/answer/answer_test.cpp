// answer: questions, data with bad lines, regions, every kind of attention that learns what the
// question alone does not tell, refusals, weights and maps.

#include "attn/tasks/answer.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/maps/map.hpp"
#include "attn/tasks/answerer.hpp"
#include "attn/tasks/caption/canvas.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/prepared.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/value.hpp"
#include "nn/support/learns.hpp"
#include "support/tolerance.hpp"
#include "tasks/answer/data.hpp"
#include "tasks/answer/questions.hpp"
#include "tasks/answer/regions.hpp"
#include "tasks/answer/scores.hpp"
#include "tasks/answer/toy.hpp"
#include "tasks/scratch.hpp"

namespace attn::tasks {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

TEST(AnswerQuestions, AreSmallWordsInTheSpellingOfTheData) {
  EXPECT_EQ(vqa::words_of("Which COLOUR is the square, please?"),
            (Words{"what", "color", "is", "the", "rectangle", "please"}));
  EXPECT_EQ(vqa::words_of("Isn't there a 7?"), (Words{"not", "t", "there", "a", "7"}));
  EXPECT_EQ(vqa::words_of(" ?! "), Words{});
  EXPECT_THROW(vqa::words_of("\xFF"), InvalidArgument);
}

TEST(AnswerQuestions, LeaveOutWhatNobodyKnows) {
  const Words texts{"what shape is in the image?"};
  const text::Tokeniser known = vqa::learn_words(texts);
  const vqa::Question question = vqa::read_question(known, "What shape is it on the elephant?");
  EXPECT_EQ(question.words, (Words{"what", "shape", "is", "the"}));
  EXPECT_EQ(question.unknown, (Words{"on", "elephant"})) << "it is small";
  std::string longest;
  for (int i = 0; i < 10000; ++i) longest += "shape zebra ";
  const vqa::Question cut = vqa::read_question(known, longest);
  EXPECT_TRUE(cut.cut);
  EXPECT_EQ(cut.words.size(), vqa::kMostWords);
  EXPECT_LE(cut.unknown.size(), vqa::kMostWords + 1);
}

TEST(AnswerData, NamesBadLinesAndWrongSizes) {
  const std::string pictures(std::size_t{5000} * 64 * 64 * 3, '\0');
  const auto problem = [&](std::string_view questions) {
    return message_of<FileError>([&] { vqa::parse_shapes(questions, pictures, "easyvqa"); });
  };
  const std::string good = "train\t0\twhat shape?\tcircle\n";
  for (const char* bad : {"train\t0\twhat shape?\n", "train\t4000\tq\ta\n",
                          "test\t1000\tq\ta\n", "dev\t0\tq\ta\n", "train\tx\tq\ta\n",
                          "train\t0\t\ta\n", "train\t-1\tq\ta\n", "train\t0\tq\ta\tb\n"})
    EXPECT_NE(problem(good + bad).find("line 2"), std::string::npos) << bad;
  EXPECT_NE(problem(good).find("0 questions for development"), std::string::npos);
  EXPECT_NE(message_of<FileError>([&] {
              vqa::parse_shapes(good, "x", "easyvqa");
            }).find("1 bytes of pictures"),
            std::string::npos);
}

TEST(AnswerData, OfTheTaskIsWhatTheRecipeSays) {
  for (const PreparedFile& file : vqa::prepared_shapes())
    if (!has_prepared(file)) GTEST_SKIP() << file.name << " is not in the cache";
  const Task& task = task_named("answer");
  const Corpus corpus = task.corpus(task.defaults({}, nullptr).what, {});
  EXPECT_EQ(corpus.train.size(), 3600u);
  EXPECT_EQ(corpus.test.size(), 9673u);
  std::size_t questions = corpus.development.size();
  for (const Example& example : corpus.train) questions += example.targets.size();
  EXPECT_EQ(questions, 38575u);
}

TEST(AnswerData, ARelationIsAskedWhereOneDigitAnswersIt) {
  Canvas canvas;
  canvas.pixels.assign(64 * 64, 0);
  canvas.digits = {{7, 2, 20, 10, 10}, {3, 40, 22, 10, 10}};
  std::map<std::string, std::string> answers;
  std::map<std::string, std::string> boxes;
  for (const vqa::Asked& asked : vqa::questions_of(canvas, 0)) {
    answers[asked.question] = asked.answer;
    if (!asked.boxes.empty()) boxes[asked.question] = asked.boxes.front().label;
  }
  EXPECT_EQ(answers["how many digits are there?"], "2");
  EXPECT_EQ(answers["what is left of the 3?"], "7");
  EXPECT_EQ(answers["what is right of the 7?"], "3");
  EXPECT_EQ(answers["is there a 7?"], "yes");
  EXPECT_EQ(answers.count("what is above the 3?"), 0u);
  EXPECT_EQ(boxes["what is left of the 3?"], "7");
  // Twice the same digit: nobody could tell which is meant.
  canvas.digits[1].digit = 7;
  for (const vqa::Asked& asked : vqa::questions_of(canvas, 0))
    EXPECT_EQ(asked.question.find("what is"), std::string::npos) << asked.question;
}

TEST(AnswerRegions, AreBoxesAroundWhatStandsOut) {
  Picture picture = answer_toy::ground();
  EXPECT_EQ(vqa::regions_of(picture).size(), 1u);
  EXPECT_EQ(vqa::regions_of(picture).front().width, 64) << "the whole where there is nothing";
  answer_toy::square(picture, 4, 6, 10, {255, 0, 0});
  answer_toy::square(picture, 40, 30, 20, {0, 0, 255});
  answer_toy::square(picture, 30, 60, 2, {0, 0, 0});  // a speck
  const std::vector<Box> boxes = vqa::regions_of(picture);
  ASSERT_EQ(boxes.size(), 2u);
  EXPECT_EQ(boxes[0].x, 40);
  EXPECT_EQ(boxes[0].height, 20);
  EXPECT_EQ(boxes[1].x, 4);
  EXPECT_EQ(boxes[1].y, 6);
  EXPECT_EQ(boxes[1].width, 10);
  // A checkered picture is no heap of a thousand regions.
  for (std::size_t i = 0; i < picture.pixels.size(); ++i)
    picture.pixels[i] = i / 9 % 2 == 0 ? 0 : 255;
  EXPECT_LE(vqa::regions_of(picture).size(), vqa::kMostRegions);
}

class AnswerTask : public testing::Test {
 protected:
  fs::path trained(const std::string& attention, int steps) {
    return answer_toy::train(scratch_.path() / attention, attention, test::most_steps(steps));
  }
  static double accuracy_of(const fs::path& folder) {
    const Task& task = task_named("answer");
    return task.evaluate(*task.load(folder), answer_toy::corpus().test).front().value;
  }
  Scratch scratch_;
};

constexpr double kLearnt = 90.0;
constexpr double kNotLearnt = 70.0;

TEST_F(AnswerTask, EachAttentionLearnsWhatTheQuestionAloneDoesNotTell) {
  for (const char* attention : {"parallel", "alternating", "grid", "boxes"}) {
    const double accuracy = accuracy_of(trained(attention, 300));
    if (test::is_judged()) {
      EXPECT_GT(accuracy, kLearnt) << attention;
    }
  }
  const double alone = accuracy_of(trained("none", 60));
  if (test::is_judged()) {
    EXPECT_LT(alone, kNotLearnt);
  }
}

TEST_F(AnswerTask, WeightsOfEveryLevelSumToOne) {
  for (const char* attention : {"parallel", "grid", "boxes"}) {
    const Answerer answerer(trained(attention, 3));
    const Input input = answer_toy::corpus().test.front().input();
    const Reply reply = answerer(input);
    const auto& numbers = reply.answers.front().numbers;
    const bool levels = std::string_view(attention) == "parallel";
    EXPECT_EQ(numbers.size(), levels ? 6u : 1u) << attention;
    for (const auto& [name, weights] : numbers) {
      float sum = 0.0f;
      for (const float weight : weights) sum += weight;
      EXPECT_NEAR(sum, 1.0f, test::kFloatSum) << attention << " " << name;
    }
    const auto map = std::get<maps::Image>(answerer.model().map(input, reply.pieces.front()));
    EXPECT_NO_THROW(maps::validate(map));
    EXPECT_EQ(map.width, 64u);
    EXPECT_EQ(map.channels, 3u);
    ASSERT_EQ(map.steps.size(), levels ? 3u : 1u);
    if (std::string_view(attention) == "boxes") {
      EXPECT_EQ(map.steps.front().boxes.size(), 2u);
    } else {
      EXPECT_EQ(map.steps.front().grid->rows, 8u);
    }
  }
}

TEST_F(AnswerTask, ManyQuestionsAreAnsweredAsEachAlone) {
  for (const char* attention : {"parallel", "boxes"}) {
    const Answerer answerer(trained(attention, 3));
    std::vector<Input> inputs;
    for (const Example& example : answer_toy::corpus().test)
      if (inputs.size() < 12) inputs.push_back(example.input());
    inputs[5].parts["question"] = "what color is it on the left?";
    const std::vector<Reply> together = answerer(inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Reply alone = answerer(inputs[i]);
      EXPECT_EQ(alone.answers.front().text, together[i].answers.front().text);
      const auto& one = alone.answers.front().numbers.at("question_places");
      const auto& other = together[i].answers.front().numbers.at("question_places");
      ASSERT_EQ(one.size(), other.size());
      for (std::size_t place = 0; place < one.size(); ++place)
        EXPECT_NEAR(one[place], other[place], test::kFloatModel) << attention;
    }
  }
}

TEST_F(AnswerTask, RefusesWhatItCannotAnswerAndTellsWhatItDoesNotKnow) {
  const Answerer answerer(trained("grid", 1));
  const Input good = answer_toy::corpus().test.front().input();
  const auto refusal = [&](const char* part, const Value& value) {
    Input input = good;
    input.parts[part] = value;
    return answerer.refusal(input);
  };
  EXPECT_EQ(answerer.refusal(good), "");
  EXPECT_NE(refusal("question", "?").find("empty question"), std::string::npos);
  EXPECT_NE(refusal("question", "was ist das").find("knows no word"), std::string::npos);
  EXPECT_NE(refusal("question", "a \xFF").find("not UTF-8"), std::string::npos);
  EXPECT_NE(refusal("question", std::string("what\0", 5)).find("NUL"), std::string::npos);
  EXPECT_NE(refusal("picture", Picture{1, 1, 4, {0, 0, 0, 0}}).find("4 channels"),
            std::string::npos);
  EXPECT_NE(answerer.refusal(Input("what color?")).find("has no picture"), std::string::npos);
  // One pixel, and one that is far too wide, are pictures.
  for (const Picture& odd :
       {Picture{1, 1, 1, {9}}, Picture{900, 1, 1, std::vector<std::uint8_t>(900, 200)}}) {
    Input input = good;
    input.parts["picture"] = odd;
    EXPECT_EQ(answerer.refusal(input), "");
    EXPECT_FALSE(answerer(input).answers.front().text.empty());
  }
  Input strange = good;
  strange.parts["question"] = "what color is the left elephant?";
  const Reply reply = answerer(strange);
  EXPECT_TRUE(reply.unfamiliar);
  EXPECT_NE(reply.notes.front().find("elephant"), std::string::npos);
}

TEST_F(AnswerTask, AModelWithoutAttentionHasNoMap) {
  const Answerer answerer(trained("mean", 1));
  const Input input = answer_toy::corpus().test.front().input();
  const Reply reply = answerer(input);
  EXPECT_THROW(answerer.model().map(input, reply.pieces.front()), InvalidArgument);
}

TEST(AnswerScores, WeightInsideTheRightBoxCounts) {
  Example example = vqa::exam("1", answer_toy::ground(), {"q", "yes", {{"", 0, 0, 32, 64}}});
  Reply reply;
  Answer& answer = reply.answers.emplace_back();
  answer.text = "yes";
  // A quarter of the weight on the left half.
  std::vector<float> places(64);
  for (std::size_t i = 0; i < 64; ++i) places[i] = i % 8 < 4 ? 0.25f / 32 : 0.75f / 32;
  answer.numbers["question_places"] = places;
  const Scores scores = vqa::score_answers({&example, 1}, {&reply, 1});
  std::map<std::string, double> by_name;
  for (const NamedScore& score : scores) by_name[score.name] = score.value;
  EXPECT_DOUBLE_EQ(by_name.at("accuracy"), 100.0);
  EXPECT_NEAR(by_name.at("inside"), 25.0, 100.0 * test::kFloatSum);
}

}  // namespace
}  // namespace attn::tasks
