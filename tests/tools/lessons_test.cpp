// Lessons: their numbers against closed forms, what they show, and wrong calls.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numbers>
#include <numeric>
#include <string>
#include <variant>
#include <vector>

#include "attn/files/read_file.hpp"
#include "attn/maps/map.hpp"
#include "support/tolerance.hpp"
#include "tools/attn/diagrams/diagrams.hpp"
#include "tools/attn/lessons/lesson.hpp"
#include "tools/attn/lessons/tutorial_regression.hpp"
#include "tools/attn/model_folder.hpp"
#include "tools/say.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;

std::vector<double> softmax_of(std::vector<double> scores) {
  double sum = 0.0;
  for (double& score : scores) sum += score = std::exp(score);
  for (double& score : scores) score /= sum;
  return scores;
}

void expect_numbers(const std::vector<double>& got, const std::vector<double>& want,
                    double within = test::kDoubleScore) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], within) << i;
}

TEST(Lessons, EveryLessonHasNumbersWordsAndAFigure) {
  for (const Lesson& lesson : lessons()) {
    SCOPED_TRACE(lesson.name);
    const LessonResult result = lesson.run();
    EXPECT_FALSE(result.tables.empty());
    EXPECT_FALSE(result.remarks.empty());
    EXPECT_NO_THROW(maps::validate(result.figure));
    EXPECT_FALSE(maps::title_of(result.figure).empty());
    for (const LessonTable& table : result.tables)
      for (const LessonRow& row : table.rows) {
        EXPECT_EQ(row.numbers.size() + 1, table.columns.size()) << table.title;
        for (const double number : row.numbers) EXPECT_TRUE(std::isfinite(number)) << row.name;
      }
    EXPECT_TRUE(fs::exists(fs::path(ATTN_TEST_DATA) / "../../docs/lessons" / lesson.page));
  }
}

TEST(Lessons, CuesAreSoftmaxOfProducts) {
  const LessonTable table = cues_lesson().tables.front();
  expect_numbers(table.row("no query"), std::vector<double>(5, 0.2));
  expect_numbers(table.row("I want to read"), softmax_of({3.5, 3.0, 0.0, 2.0, 5.0}));
  const std::vector<double>& stands_out = table.row("what stands out");
  EXPECT_EQ(table.columns[1 + static_cast<std::size_t>(
                                  std::max_element(stands_out.begin(), stands_out.end()) -
                                  stands_out.begin())],
            "red cup");
}

TEST(Lessons, ASoftMemoryLiesBetweenTheAverageAndTheDictionary) {
  const LessonTable table = addressing_lesson().tables.front();
  expect_numbers(table.row("0"), {0.25, 0.25, 0.25, 0.25, 13.0});
  expect_numbers(table.row("hard"), {0.0, 1.0, 0.0, 0.0, 12.0});
  // May is four months after January: the angle to each key in turn.
  std::vector<double> scores;
  for (const double months : {4.0, 1.0, -2.0, -5.0})
    scores.push_back(2.0 * std::cos(std::numbers::pi * months / 6.0));
  std::vector<double> want = softmax_of(scores);
  want.push_back(2.0 * want[0] + 12.0 * want[1] + 24.0 * want[2] + 14.0 * want[3]);
  expect_numbers(table.row("2"), want);
}

TEST(Lessons, ScoresAreThoseOfTheirFormulas) {
  const std::vector<LessonTable> tables = scores_lesson().tables;
  expect_numbers(tables[0].row("dot"), {1.25, 2.5, 0.0, -1.25});
  expect_numbers(tables[0].row("general"), {0.0, 0.0, 1.25, 0.0});
  expect_numbers(tables[0].row("cosine"), {1.0, 1.0, 0.0, -1.0});
  expect_numbers(tables[0].row("distance"), {0.0, -0.625, -1.25, -2.5});
  std::vector<double> scaled{1.25, 2.5, 0.0, -1.25};
  for (double& score : scaled) score /= std::numbers::sqrt2;
  // The scale of a score is stored as a float.
  expect_numbers(tables[0].row("scaled dot"), scaled, test::kFloat);
  expect_numbers(tables[1].row("scaled dot"), softmax_of(scaled), test::kFloat);
  expect_numbers(tables[2].row("sum over the keys"), {0.0});
}

/// A product of two standard normal numbers has kurtosis 9, and sums of them less: so far does
/// the variance of 512 x 16 of them stray.
TEST(Lessons, TheVarianceOfAProductIsItsLengthAndOneWhenScaled) {
  const double stray = 5.0 * std::sqrt(8.0 / (512.0 * 16.0));
  const LessonTable table = scale_lesson().tables.front();
  double last_gradient = 1e9;
  for (const LessonRow& row : table.rows) {
    const double d = std::stod(row.name);
    EXPECT_NEAR(row.numbers[0] / d, 1.0, stray) << row.name;
    EXPECT_NEAR(row.numbers[3], row.numbers[0] / d, test::kDoubleScore) << row.name;
    if (d >= 16.0) {
      EXPECT_LT(row.numbers[2], last_gradient) << "it fades";
    }
    last_gradient = row.numbers[2];
  }
  const std::vector<double>& first = table.rows.front().numbers;
  const std::vector<double>& last = table.rows.back().numbers;
  EXPECT_GT(last[1], 0.9) << "nearly one-hot";
  EXPECT_LT(last[2], 0.25 * first[2]);
  EXPECT_GT(last[5], 0.5 * first[5]) << "scaled, it stays";
}

TEST(Lessons, OneContextIsTheSameForEveryWord) {
  const std::vector<LessonTable> tables = equal_weights_lesson().tables;
  for (const LessonRow& row : tables[0].rows)
    expect_numbers(row.numbers, std::vector<double>(3, 1.0 / 3.0));
  expect_numbers(tables[2].row("without attention"), {0.0});
  EXPECT_GT(tables[2].row("with attention")[0], 0.5);
}

TEST(Lessons, OrderIsLostWithoutPositionsAlone) {
  const std::vector<LessonTable> tables = order_lesson().tables;
  for (const LessonTable& table : tables)
    for (const LessonRow& row : table.rows) {
      const bool bag = row.name == "without positions" || row.name == "none";
      EXPECT_EQ(row.numbers[0] < test::kDoubleScore, bag) << table.title << ": " << row.name;
    }
}

TEST(Lessons, HeadsFindOneWordEachAndCostNoParameter) {
  const std::vector<LessonTable> tables = heads_lesson().tables;
  const std::vector<double>& one = tables[0].row("one head");
  EXPECT_NEAR(one[0], one[4], test::kDoubleScore);
  EXPECT_GT(tables[0].row("head 1 of 2")[0], 0.9);
  EXPECT_GT(tables[0].row("head 2 of 2")[4], 0.9);
  for (const LessonRow& row : tables[2].rows) EXPECT_EQ(row.numbers[1], 4.0 * 64.0 * 64.0);
  // Multi-dimensional attention whose scores are the features is a softmax over each feature.
  expect_numbers(tables[3].row("who acts"), softmax_of({6.0, 0.0, 1.2, 0.0, 0.0}));
  expect_numbers(tables[3].row("what is given"), softmax_of({0.0, 0.0, 0.6, 1.2, 6.0}));
}

/// Equal words differ by their places alone.
TEST(Lessons, EachWayOfPlacingTellsEqualWordsApart) {
  const std::vector<LessonTable> tables = order_lesson().tables;
  for (const LessonRow& row : tables[3].rows) {
    EXPECT_NEAR(std::accumulate(row.numbers.begin(), row.numbers.end(), 0.0), 1.0,
                test::kDoubleScore)
        << row.name;
    const auto [least, most] = std::minmax_element(row.numbers.begin(), row.numbers.end());
    if (row.name == "nothing") {
      EXPECT_NEAR(*least, *most, test::kDoubleScore);
    } else {
      EXPECT_GT(*most, 1.1 * *least) << row.name;
    }
  }
  expect_numbers(tables[3].row("ALiBi"), softmax_of({-0.75, -0.5, -0.25, 0.0}));
}

TEST(Lessons, AMaskAndAHandChangeTheLook) {
  const LessonTable table = addressing_lesson().tables[2];
  const std::vector<double> two = softmax_of({-1.0, std::sqrt(3.0)});
  const std::vector<double>& masked = table.row("only two months known");
  expect_numbers({masked[0], masked[1], masked[2], masked[3]}, {two[0], two[1], 0.0, 0.0});
  const std::vector<double>& forced = table.row("half of it on January");
  EXPECT_NEAR(forced[0], 0.5, test::kDoubleScore);
  EXPECT_NEAR(forced[1] + forced[2] + forced[3], 0.5, test::kDoubleScore);
}

TEST(Lessons, CostsAreCountedRight) {
  const std::vector<LessonTable> tables = cost_lesson().tables;
  EXPECT_EQ(tables[0].row("convolution")[0], 3.0 * 64.0 * 64.0 + 64.0);
  EXPECT_EQ(tables[0].row("recurrent")[0], 2.0 * 3.0 * (64.0 * 64.0 + 64.0));
  EXPECT_EQ(tables[0].row("self-attention")[0], 4.0 * 64.0 * 64.0);
  for (const std::size_t i : {1u, 2u}) {
    const double n = i == 1 ? 16.0 : 64.0;
    // One place further in each layer, or a window.
    EXPECT_EQ(tables[i].row("convolution")[2], n - 1.0);
    EXPECT_EQ(tables[i].row("local attention")[2], std::ceil((n - 1.0) / 5.0));
    EXPECT_EQ(tables[i].row("self-attention")[2], 1.0);
    EXPECT_EQ(tables[i].row("recurrent")[3], n);
  }
  EXPECT_EQ(tables[2].row("self-attention")[0], tables[2].row("recurrent")[0]) << "n = d";
  for (const LessonRow& row : tables[3].rows) {
    EXPECT_GT(row.numbers[0], 0.1) << "a part alone is wrong";
    EXPECT_EQ(row.numbers[1], 0.0) << "merged it is the whole, up to 1e-12";
  }
}

TEST(Lessons, TheCompositeEndsNormed) {
  const std::vector<LessonTable> tables = composite_lesson().tables;
  EXPECT_NEAR(tables[1].row("theta(x)")[0], 0.0, test::kDoubleScore);
  EXPECT_NEAR(tables[1].row("theta(x)")[1], 1.0, test::kFloatModel) << "up to the norm's eps";
  EXPECT_LT(tables[2].rows.front().numbers[0], test::kFloatSum);
}

TEST(TutorialRegression, AKernelIsBetterThanTheAverageAndItsWidthIsLearnt) {
  const LessonResult result = tutorial_regression({.epochs = 40, .rate = 0.02});
  const LessonTable& errors = result.tables[0];
  EXPECT_LT(errors.row("fixed width")[1], errors.row("uniform average")[1]);
  EXPECT_LT(errors.row("learnt width")[1], 0.5 * errors.row("uniform average")[1]);
  const std::vector<LessonRow>& epochs = result.tables[1].rows;
  ASSERT_EQ(epochs.size(), 41u);
  EXPECT_LT(epochs.back().numbers[0], epochs.front().numbers[0]);
  EXPECT_EQ(errors.row("learnt width")[0], epochs.back().numbers[1]);
}

TEST(TutorialRegression, TheHeatMapHoldsAverages) {
  for (const TutorialHeat heat : {TutorialHeat::fixed, TutorialHeat::learnt}) {
    const maps::Map figure = tutorial_regression({}, heat).figure;
    const auto& map = std::get<maps::Alignment>(figure);
    ASSERT_EQ(map.weights.rows, 50u);
    ASSERT_EQ(map.weights.columns, 50u);
    for (std::size_t row = 0; row < 50; ++row) {
      const auto begin = map.weights.values.begin() + static_cast<std::ptrdiff_t>(50 * row);
      EXPECT_NEAR(std::accumulate(begin, begin + 50, 0.0), 1.0, test::kFloatSum) << row;
    }
  }
  EXPECT_NE(tutorial_regression({.seed = 1}).tables[0].row("fixed width"),
            tutorial_regression({.seed = 2}).tables[0].row("fixed width"));
}

TEST(Diagrams, EveryOneIsAMapWithItsLabels) {
  const std::vector<std::vector<std::string>> labels{
      {"I want to read", "red cup"}, {"softmax", "May", "output"},
      {"W_q", "tanh( + )"},          {"context", "insegue"},
      {"attention", "query s1"},     {"convolution", "recurrent", "self-attention"},
      {"join", "W_o", "head 2"},     {"causal self-attention", "keys and values"}};
  ASSERT_EQ(diagrams().size(), labels.size());
  const fs::path folder =
      fs::temp_directory_path() / ("attn-diagrams-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const NamedDiagram& one = diagrams()[i];
    SCOPED_TRACE(one.name);
    const std::string json = say({"diagram", std::string(one.name), "--json"}).out;
    EXPECT_EQ(maps::parse_map(json), maps::Map(one.draw()));
    for (const std::string& label : labels[i])
      EXPECT_NE(json.find(label), std::string::npos) << label;
    const Said shown = say({"diagram", std::string(one.name)});
    EXPECT_NE(shown.out.find(labels[i].front()), std::string::npos) << shown.out;
    if (program_beside("attn-draw").empty()) continue;
    const std::string file = folder / (std::string(one.name) + ".svg");
    const Said said = say({"diagram", std::string(one.name), "--map", file});
    ASSERT_EQ(said.status, success) << said.err;
    const std::string svg = files::read_text(file, 1 << 20);
    EXPECT_TRUE(svg.starts_with("<?xml"));
    EXPECT_NE(svg.find("<title>" + one.draw().title + "</title>"), std::string::npos);
    EXPECT_TRUE(svg.ends_with("</svg>\n"));
  }
  fs::remove_all(folder);
}

TEST(LessonCommand, ListsRunsAndTellsJson) {
  const Said list = say({"lesson"});
  EXPECT_EQ(list.status, success);
  for (const Lesson& lesson : lessons())
    EXPECT_NE(list.out.find(lesson.title), std::string::npos) << list.out;
  const auto json = nlohmann::json::parse(say({"lesson", "cues", "--json"}).out);
  EXPECT_EQ(json.at("name"), "cues");
  EXPECT_EQ(json.at("tables").at(0).at("rows").at(0).at("numbers").size(), 5u);
  EXPECT_EQ(nlohmann::json::parse(say({"lesson", "--json"}).out).size(), lessons().size());
  EXPECT_NE(say({"lesson", "cues", "--show"}).out.find("red cup"), std::string::npos);
  EXPECT_NE(say({"diagram"}).out.find("query-key-value"), std::string::npos);
}

TEST(LessonCommand, WrongCallsAreToldSo) {
  const std::vector<std::vector<std::string>> wrong{{"lesson", "scales"},
                                                    {"lesson", "scale", "more"},
                                                    {"lesson", "scale", "--map", "a.gif"},
                                                    {"lesson", "--show"},
                                                    {"diagram", "nothing"},
                                                    {"diagram", "--map", "a.svg"},
                                                    {"diagram", "--json"},
                                                    {"regress", "tutorial", "--x", "a"},
                                                    {"regress", "tutorial", "--out", "folder"},
                                                    {"regress", "tutorial", "--heat", "wide"},
                                                    {"regress", "tutorial", "--epochs", "0"},
                                                    {"regress", "co2", "--heat", "fixed"}};
  for (const auto& call : wrong) {
    const Said said = say(call);
    EXPECT_EQ(said.status, usage) << call[1] << " " << call.back();
    EXPECT_FALSE(said.err.empty());
    EXPECT_EQ(said.out, "");
  }
  EXPECT_EQ(say({"lesson", "cues", "--map", "/nowhere/at/all.svg"}).status, failure);
  const Said wild = say({"regress", "tutorial", "--rate", "1e300"});
  EXPECT_EQ(wild.status, failure);
  EXPECT_NE(wild.err.find("--rate"), std::string::npos) << wild.err;
}

}  // namespace
}  // namespace attn::tools
