// The task write: it learns what five-grams cannot see, reads passages to the last bit, writes
// on within bounds, and draws what each word looked at.

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/maps/map.hpp"
#include "attn/nn/init.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/answerer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/text/byte_pieces.hpp"
#include "nn/support/learns.hpp"
#include "support/tolerance.hpp"
#include "tasks/scratch.hpp"
#include "tasks/tasks.hpp"
#include "tasks/write/kneser_ney.hpp"
#include "tasks/write/network.hpp"
#include "tasks/write/passages.hpp"

namespace attn::tasks {
namespace {

namespace fs = std::filesystem;
using Tokens = std::vector<std::int64_t>;

/// Lines of six letters that are drawn, and the same six again: seven places back is the
/// answer, further than five-grams see.
std::string echoes(std::size_t count) {
  Random random(3);
  const auto draws = random_integers({static_cast<std::int64_t>(count * 6)}, 0, 2, random)
                         .to_vector<std::int64_t>();
  std::string text;
  for (std::size_t line = 0; line < count; ++line) {
    std::string six;
    for (std::size_t i = 0; i < 6; ++i) six += draws[line * 6 + i] == 0 ? 'a' : 'b';
    text += six + " " + six + "\n";
  }
  return text;
}

double bits_of(const Scores& scores) {
  return scores.front().value;
}

models::LanguageModelOptions small() {
  models::LanguageModelOptions options;
  options.dim = 16;
  options.layers = 2;
  options.heads = 2;
  options.feed_forward = 16;
  options.window = 12;
  options.vocabulary = text::BytePieces::kFirstPiece + 4;
  return options;
}

text::BytePieces four_pieces() {
  return text::BytePieces({{"he", 0}, {"the", -1}, {" the", -2}, {" c", -3}});
}

/// With weights that nothing was learnt into.
std::shared_ptr<WriteNetwork> fresh() {
  nn::seed(9);
  auto network = std::make_shared<WriteNetwork>(small(), four_pieces(), "own");
  network->eval();
  return network;
}

Reply reply_of(const WriteNetwork& network, const Input& input, const Choices& choices = {}) {
  const NoGrad off_the_tape;
  return network.answer(std::vector<Input>{input}, choices).front();
}

TEST(Write, LearnsWhatFiveGramsCannotSee) {
  const Scratch scratch;
  const fs::path file = scratch.path() / "echoes.txt";
  std::ofstream(file) << echoes(1500);
  const nlohmann::json asked{{"data", file.string()},
                             {"model",
                              {{"vocabulary", 260},
                               {"dim", 24},
                               {"layers", 1},
                               {"rounds", 1},
                               {"heads", 2},
                               {"feed_forward", 32},
                               {"window", 48}}}};
  const Task& task = write_task();
  TrainingRun run = task.defaults(asked, nullptr);
  task.read(asked, "the test", run.what);
  run.how.rate = 1e-2;
  run.how.warm_up = 20;
  run.how.batch_tokens = 768;
  run.how.average = 0.9;
  run.how.evaluate_every = 1000;
  run.budget.steps = test::most_steps(900);
  run.where.folder = scratch.path() / "model";
  const Corpus corpus = task.corpus(run.what, {});
  const auto learner = task.learner(run, corpus, {});
  learner->begin(run.where.folder);
  save_run(run);
  train(*learner, run);
  const Answerer answerer(run.where.folder);
  EXPECT_EQ(answerer.model().variant(), "own");
  const double bits = bits_of(task.evaluate(answerer.model(), corpus.test));
  if (!test::is_judged()) return;
  EXPECT_GT(bits, 6.0 / 14.0);  // no one can know what is drawn
  EXPECT_LT(bits, 0.68);
  const text::BytePieces letters{{}};
  const std::vector<Tokens> train_letters{letters.encode(joined(corpus.train))};
  const std::string rest = joined(corpus.test);
  const KneserNey five_grams(train_letters, letters.size(), 5);
  EXPECT_GT(five_grams.bits(letters.encode(rest)) / static_cast<double>(characters(rest)), 0.8);
}

TEST(Write, CountsEveryTokenOfAPassageOnce) {
  const auto network = fresh();
  // More than a window, and marks at both ends.
  const std::string text = "the cat the cat the cat the cat\nthe";
  Tokens tokens = network->pieces().encode(text);
  tokens.insert(tokens.begin(), 1);
  tokens.push_back(2);
  const NoGrad off_the_tape;
  double sum = 0.0;
  // The first window whole, then half a window at a time, as the documents say.
  std::size_t counted = 0;
  for (std::size_t begin = 0; counted + 1 < tokens.size(); begin += 6) {
    const std::size_t end = std::min(begin + 12, tokens.size() - 1);
    const Tokens ids(tokens.begin() + static_cast<std::ptrdiff_t>(begin),
                     tokens.begin() + static_cast<std::ptrdiff_t>(end));
    const Tensor all = log_softmax(
        network->model().logits(Tensor::from(ids, {1, static_cast<std::int64_t>(ids.size())})));
    const auto numbers = all.to_vector<float>();
    const auto width = static_cast<std::size_t>(network->pieces().size());
    for (std::size_t i = counted; i < end; ++i)
      sum += static_cast<double>(
          numbers[(i - begin) * width + static_cast<std::size_t>(tokens[i + 1])]);
    counted = end;
  }
  const std::vector<Example> passages = cut({"d", text, true}, 1000);
  const Reply reply = reply_of(*network, passages.front().input());
  EXPECT_TRUE(test::close(reply.answers.front().log_probability, sum, test::kFloatModel));
  const Scores scores = write_task().score(passages, std::vector<Reply>{reply});
  EXPECT_TRUE(test::close(bits_of(scores), -sum / std::log(2.0) / 35.0, test::kFloatModel));
}

TEST(Write, WritesOnBeyondItsWindow) {
  const auto network = fresh();
  const Reply greedy = reply_of(*network, "the cat");
  const Answer& answer = greedy.answers.front();
  EXPECT_TRUE(answer.text.starts_with("the cat"));
  EXPECT_TRUE(answer.finished || answer.target.size() == 200);
  Choices drawn;
  drawn.temperature = 1.0;
  const std::string once = reply_of(*network, "the cat", drawn).answers.front().text;
  EXPECT_EQ(reply_of(*network, "the cat", drawn).answers.front().text, once);
  drawn.seed = 2;
  EXPECT_NE(reply_of(*network, "the cat", drawn).answers.front().text, once);
  EXPECT_TRUE(files::is_utf8(once));
}

TEST(Write, ReadsTheEndOfALongText) {
  const auto network = fresh();
  std::string text;
  for (int i = 0; i < 10000; ++i) text += " the";
  const Reply reply = reply_of(*network, text);
  EXPECT_TRUE(reply.cut);
  EXPECT_FALSE(reply.notes.empty());
  EXPECT_TRUE(reply.answers.front().text.starts_with(text));
  EXPECT_LE(reply.answers.front().source.size(), 12u);
}

TEST(Write, RefusesWhatItCannotGoOnWith) {
  const auto network = fresh();
  EXPECT_EQ(network->refusal(""), "");
  EXPECT_EQ(network->refusal("the cat"), "");
  EXPECT_NE(network->refusal(std::string("a\0b", 3)), "");
  EXPECT_NE(network->refusal("a\xFF"), "");
  EXPECT_NE(network->refusal("介绍一下西安"), "");
  EXPECT_EQ(network->refusal("the café"), "");
  EXPECT_FALSE(reply_of(*network, "the café").notes.empty());
}

TEST(Write, DrawsWordsByEarlierWords) {
  const auto network = fresh();
  const Input input("the cat the");
  const Reply reply = reply_of(*network, input);
  const NoGrad off_the_tape;
  const maps::Map map = network->map(input, reply.pieces.front(), "");
  maps::validate(map);
  const auto& rows = std::get<maps::Alignment>(map);
  EXPECT_EQ(rows.rows, rows.columns);
  for (std::size_t row = 0; row < rows.weights.rows; ++row)
    for (std::size_t column = row + 1; column < rows.weights.columns; ++column)
      EXPECT_EQ(rows.weights.at(row, column), 0.0f);
  const maps::Map heads = network->map(input, reply.pieces.front(), "all");
  maps::validate(heads);
  EXPECT_EQ(std::get<maps::Heads>(heads).maps.size(), 4u);
}

TEST(WrittenText, ShowsWholeCharactersAlone) {
  WrittenText text;
  EXPECT_EQ(text.add("a\xC3"), "a");
  EXPECT_EQ(text.add("\xA9"), "é");
  EXPECT_EQ(text.add("\xE4\xBB"), "");
  EXPECT_EQ(text.add("x"), "\xEF\xBF\xBD\xEF\xBF\xBDx");
  EXPECT_EQ(text.add("\xFF"), "\xEF\xBF\xBD");
}

TEST(WriteFacts, ComeBackAndAreChecked) {
  const text::BytePieces pieces = four_pieces();
  EXPECT_EQ(pieces_of(facts_of(pieces), "facts").encode("the cat"), pieces.encode("the cat"));
  for (const char* member : {"pieces", "scores", "opening"}) {
    nlohmann::json facts = facts_of(pieces);
    facts[member] = nlohmann::json::array({"x"});
    EXPECT_THROW(pieces_of(facts, "facts"), FileError) << member;
    facts.erase(member);
    EXPECT_THROW(pieces_of(facts, "facts"), FileError) << member;
  }
}

}  // namespace
}  // namespace attn::tasks
