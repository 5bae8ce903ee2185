// docs/lessons: what a page shows of a command is what the command prints, and its figures are
// those that commands draw.

#include <gtest/gtest.h>

#include <cctype>
#include <cstddef>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "attn/files/read_file.hpp"
#include "attn/maps/map.hpp"
#include "support/tolerance.hpp"
#include "tools/attn/diagrams/diagrams.hpp"
#include "tools/attn/lessons/lesson.hpp"
#include "tools/attn/lessons/tutorial_regression.hpp"
#include "tools/say.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;

fs::path pages() {
  return fs::path(ATTN_TEST_DATA) / "../../docs/lessons";
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

bool number_in(const std::string& word, double& number) {
  std::istringstream in(word);
  return static_cast<bool>(in >> number) && in.peek() == std::istringstream::traits_type::eof();
}

/// Words must be equal, numbers as near as the digits that are printed.
void expect_same(const std::string& page, const std::string& printed) {
  const std::vector<std::string> want = words_of(page);
  const std::vector<std::string> got = words_of(printed);
  ASSERT_EQ(want.size(), got.size()) << printed;
  for (std::size_t i = 0; i < want.size(); ++i) {
    double a = 0.0;
    double b = 0.0;
    if (number_in(want[i], a) && number_in(got[i], b)) {
      EXPECT_TRUE(test::close(b, a, test::kFloatTraining)) << "word " << i << ": " << got[i];
    } else {
      EXPECT_EQ(want[i], got[i]);
    }
  }
}

TEST(LessonPages, ShowWhatTheCommandsPrint) {
  std::size_t blocks = 0;
  for (const auto& entry : fs::directory_iterator(pages())) {
    if (entry.path().extension() != ".md") continue;
    SCOPED_TRACE(entry.path().filename().string());
    const std::string page = files::read_text(entry.path(), 1 << 20);
    const std::string begin = "```console\n$ ./attn ";
    for (std::size_t at = page.find(begin); at != std::string::npos;
         at = page.find(begin, at + 1)) {
      const std::size_t end = page.find("\n```", at + begin.size());
      const std::string block = page.substr(at + begin.size(), end - at - begin.size());
      const std::size_t line = block.find('\n');
      ASSERT_NE(line, std::string::npos) << "nothing is shown of " << block;
      const Said said = say(words_of(block.substr(0, line)));
      ASSERT_EQ(said.status, success) << said.err;
      expect_same(block.substr(line), said.out);
      ++blocks;
    }
  }
  EXPECT_EQ(blocks, 10u) << "one a lesson";
}

/// A figure begins with the title and caption of the map it was drawn from.
void expect_figure(const std::string& name, const maps::Map& map) {
  const fs::path path = pages() / name;
  ASSERT_TRUE(fs::exists(path)) << name;
  constexpr std::uintmax_t kMostBytes = 140000;
  EXPECT_LT(fs::file_size(path), kMostBytes) << name;
  const std::string svg = files::read_text(path, 1 << 20);
  EXPECT_NE(svg.find("<title>" + maps::title_of(map) + "</title>"), std::string::npos)
      << name << ": draw it again";
  std::string caption = maps::caption_of(map);
  EXPECT_NE(svg.find("<desc>" + caption.substr(0, caption.find_first_of("<&>"))),
            std::string::npos)
      << name << ": draw it again";
}

TEST(LessonPages, HaveTheFiguresThatCommandsDraw) {
  expect_figure("01-kernel-regression.svg", tutorial_regression({}).figure);
  expect_figure("02-cues.svg", cues_diagram());
  expect_figure("03-queries-keys-values.svg", query_key_value_diagram());
  expect_figure("04-scores.svg", scores_diagram());
  expect_figure("05-scale.svg", scale_lesson().figure);
  expect_figure("06-seq2seq.svg", seq2seq_diagram());
  expect_figure("06-seq2seq-attention.svg", seq2seq_attention_diagram());
  expect_figure("07-order.svg", order_lesson().figure);
  expect_figure("08-heads.svg", multi_head_diagram());
  expect_figure("09-cost.svg", architectures_diagram());
  expect_figure("10-transformer.svg", transformer_diagram());
  expect_figure("10-composite.svg", composite_lesson().figure);
}

TEST(LessonPages, EndWithAnExerciseAndLeadOn) {
  const std::string index = files::read_text(pages() / "README.md", 1 << 20);
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(pages())) {
    const std::string name = entry.path().filename();
    if (std::isdigit(static_cast<unsigned char>(name[0])) == 0 || !name.ends_with(".md"))
      continue;
    ++count;
    const std::string page = files::read_text(entry.path(), 1 << 20);
    EXPECT_NE(page.find("**Exercise.**"), std::string::npos) << name;
    EXPECT_NE(page.find("](../mechanisms.md#"), std::string::npos) << name;
    EXPECT_NE(index.find("](" + name + ")"), std::string::npos) << name;
  }
  EXPECT_EQ(count, 10u);
}

}  // namespace
}  // namespace attn::tools
