// chat: dialogues are read and bracketed, a small model learns to copy a name, attention goes
// from turns to words, and candidates are a fixed draw.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/maps/map.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/answerer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/prepared.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/tasks/value.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/text/tokeniser.hpp"
#include "nn/support/learns.hpp"
#include "support/tolerance.hpp"
#include "tasks/chat/batch.hpp"
#include "tasks/chat/candidates.hpp"
#include "tasks/chat/dialogue.hpp"
#include "tasks/chat/layers.hpp"
#include "tasks/classify/text_batch.hpp"
#include "tasks/scratch.hpp"

namespace attn::tasks {
namespace {

using Texts = std::vector<std::string>;

const Task& task() {
  return task_named("chat");
}

/// A name of three letters that no other dialogue is likely to have.
std::string name_of(Random& random) {
  std::string name;
  for (int i = 0; i < 3; ++i)
    name += static_cast<char>((i == 0 ? 'A' : 'a') + static_cast<char>(random.next() % 26));
  return name;
}

/// Dialogues in which someone says a name and a city, and hears the name again.
std::string dialogues(std::size_t count) {
  Random random(11);
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = name_of(random);
    text += "U: I am " + name + " .\tname=" + name + "\nS: Hello " + name +
            " .\nU: Goodbye .\tname=" + name + "\nS: Goodbye " + name + " .\n\n";
  }
  return text;
}

class ChatTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    scratch_ = std::make_unique<Scratch>();
    train("hierarchical", 250);
    answerer_ = std::make_unique<Answerer>(scratch_->path() / "hierarchical");
  }
  static void TearDownTestSuite() {
    answerer_.reset();
    scratch_.reset();
  }

  static void train(const std::string& attention, std::int64_t steps) {
    TrainingRun run = task().defaults({}, nullptr);
    task().read({{"data", scratch_->write("dialogues.txt", dialogues(400)).string()},
                 {"model",
                  {{"attention", attention},
                   {"dim", 16},
                   {"hidden", 16},
                   {"state", 24},
                   {"words", 16},
                   {"outputs", 16},
                   {"pieces", 64},
                   {"matches", 256},
                   {"dropout", 0.0}}}},
                "the test", run.what);
    run.where.folder = scratch_->path() / attention;
    run.how.batch_tokens = 64;
    run.how.rate = 0.02;
    run.how.warm_up = 20;
    run.how.average = 0.9;
    run.how.evaluate_every = steps;
    run.how.evaluate_on = 20;
    run.budget.steps = test::most_steps(static_cast<int>(steps));
    const Corpus corpus = task().corpus(run.what, {});
    save_run(run);
    const auto learner = task().learner(run, corpus, {});
    learner->begin(run.where.folder);
    tasks::train(*learner, run);
  }

  static Scores scores_of(const std::string& attention) {
    const Corpus corpus =
        task().corpus({{"data", (scratch_->path() / "dialogues.txt").string()}}, {});
    return task().evaluate(*task().load(scratch_->path() / attention), corpus.test);
  }

  static std::unique_ptr<Scratch> scratch_;
  static std::unique_ptr<Answerer> answerer_;
};

std::unique_ptr<Scratch> ChatTest::scratch_;
std::unique_ptr<Answerer> ChatTest::answerer_;

TEST_F(ChatTest, CopiesANameThatItNeverSaw) {
  const Reply reply = (*answerer_)("I am Qxv .");
  if (!test::is_judged()) return;
  EXPECT_EQ(reply.answers.front().text, "Hello Qxv.");
  ASSERT_TRUE(reply.answers.front().table.has_value());
  EXPECT_EQ(reply.answers.front().table->rows,
            (std::vector<std::vector<Table::Cell>>{{"name", "Qxv"}}));
  // From the first turn, two turns later.
  const Reply later = (*answerer_)("I am Wjk .\nHello Wjk .\nGoodbye .");
  EXPECT_EQ(later.answers.front().text, "Goodbye Wjk.");
  const Scores scores = scores_of("hierarchical");
  ASSERT_EQ(scores.size(), 3u);
  EXPECT_EQ(scores[0].name, "right of ten");
  EXPECT_GT(scores[0].value, 80.0);
  EXPECT_EQ(scores[1].name, "joint goal");
  EXPECT_GT(scores[1].value, 80.0);
  EXPECT_EQ(scores[2].name, "BLEU");
}

TEST_F(ChatTest, OtherAttentionLearnsAndNoneHasNoPicture) {
  train("flat", 5);
  EXPECT_EQ(scores_of("flat").size(), 3u);
  train("none", 5);
  EXPECT_EQ(scores_of("none").size(), 3u);
  const Answerer none(scratch_->path() / "none");
  const Reply reply = none("I am Qxv .");
  EXPECT_THROW(none.model().map("I am Qxv .", reply.pieces.front()), InvalidArgument);
}

TEST_F(ChatTest, AnAnswerDependsOnNoOtherAnswerBesideIt) {
  const std::vector<Input> inputs{"I am Abc .", "I am Def .\nHello Def .\nGoodbye .",
                                  "I am Ghi ."};
  const auto together = (*answerer_)(inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    EXPECT_EQ(together[i].answers.front().text, (*answerer_)(inputs[i]).answers.front().text);
  // A beam finds nothing less likely than the greedy search.
  const Reply wide = (*answerer_)(inputs[0], {.beam = 4, .best = 2});
  ASSERT_EQ(wide.answers.size(), 2u);
  EXPECT_GE(wide.answers[0].score, wide.answers[1].score);
}

TEST_F(ChatTest, DrawsTurnsAndTheirWords) {
  const Input input("I am Qxv .\nHello Qxv .\nGoodbye .");
  const Reply reply = (*answerer_)(input);
  const maps::Map map = answerer_->model().map(input, reply.pieces.front());
  maps::validate(map);
  const auto& picture = std::get<maps::Alignment>(map);
  EXPECT_EQ(picture.columns, (Texts{"U1", "I", "am", "Qxv", ".", "S1", "Hello", "Qxv", ".",
                                    "U2", "Goodbye", "."}));
  for (std::size_t row = 0; row < picture.weights.rows; ++row) {
    float turns = 0.0f;
    for (const std::size_t turn : {0u, 5u, 9u}) turns += picture.weights.at(row, turn);
    EXPECT_NEAR(turns, 1.0f, test::kFloatSum);
    float words = 0.0f;
    for (const std::size_t word : {1u, 2u, 3u, 4u}) words += picture.weights.at(row, word);
    EXPECT_NEAR(words, picture.weights.at(row, 0), test::kFloatSum);
  }
}

TEST_F(ChatTest, RefusesWhatIsNoDialogue) {
  const auto refusal = [](const std::string& text) { return answerer_->refusal(text); };
  EXPECT_EQ(refusal("I am Qxv ."), "");
  EXPECT_EQ(refusal("I am Qxv .\n"), "");
  EXPECT_NE(refusal("").find("is empty"), std::string::npos);
  EXPECT_NE(refusal(" \n \n").find("is empty"), std::string::npos);
  EXPECT_NE(refusal("a\n\nb").find("empty turn, number 2"), std::string::npos);
  EXPECT_NE(refusal("a\nb").find("the last one must be the user's"), std::string::npos);
  EXPECT_EQ(refusal("a\xff"), "is not UTF-8");
  EXPECT_EQ(refusal(std::string("a\0b", 3)), "has a NUL byte");
  EXPECT_NE(refusal(std::string((std::size_t{1} << 20) + 1, 'a')).find("bytes"),
            std::string::npos);
  EXPECT_EQ(answerer_->refusal(Input()), "is missing");
}

TEST_F(ChatTest, TellsWhatItCutsAndDoesNotKnow) {
  std::string turn = "I am Abc";
  for (int i = 0; i < 50; ++i) turn += " and";
  const Reply cut = (*answerer_)(turn);
  EXPECT_TRUE(cut.cut);
  EXPECT_NE(cut.notes.front().find("40 words"), std::string::npos) << cut.notes.front();
  std::string text = "I am Abc .";
  for (int i = 0; i < 20; ++i) text += "\nHello Abc .\nGoodbye .";
  const Reply late = (*answerer_)(text);
  EXPECT_NE(late.notes.front().find("23 turns"), std::string::npos) << late.notes.front();
  const Reply strange = (*answerer_)("zzyzx qqqq");
  EXPECT_TRUE(strange.unfamiliar);
  EXPECT_FALSE(strange.notes.empty());
}

TEST_F(ChatTest, ARequestHasTurnsOrAText) {
  const auto text_in = [](const nlohmann::json& request) {
    return task().input_of(request).text();
  };
  EXPECT_EQ(text_in({{"turns", {"a", "b\nc", "d"}}}), "a\nb c\nd");
  EXPECT_EQ(text_in({{"text", "a\nb\nc"}}), "a\nb\nc");
  for (const nlohmann::json& wrong :
       std::vector<nlohmann::json>{nlohmann::json::object(),
                                   {{"turns", "a"}},
                                   {{"turns", {1}}},
                                   {{"text", 1}},
                                   {{"text", "a"}, {"turns", {"a"}}}})
    EXPECT_THROW(task().input_of(wrong), InvalidArgument) << wrong;
}

TEST(ChatLayers, AWordWeighsWhatItsTurnWeighsTimesItsOwnShare) {
  const text::Tokeniser words(text::Units::words, {{"a"}, {"b"}, {"c"}});
  const classify::WordTables tables(words, 8);
  chat::LayerOptions options{.words = words.size(),
                             .outputs = 6,
                             .dim = 8,
                             .hidden = 6,
                             .state = 8,
                             .pieces = 8,
                             .matches = 8};
  for (const auto kind : {chat::Attention::hierarchical, chat::Attention::flat}) {
    options.attention = kind;
    chat::Layers layers(options);
    layers.eval();
    const NoGrad off_the_tape;
    const std::vector<chat::Dialogue> dialogues{chat::dialogue_of("a b c\nb\nc a"),
                                                chat::dialogue_of("c b")};
    const chat::Encoding encoding =
        layers.read(chat::batch_of(dialogues, tables, layers.device()));
    chat::Flags open(4, 3);
    open.set_first(0, 3);
    open.set_first(1, 1);
    open.set_first(2, 1);  // the last query sees nothing
    const chat::WordAttention attention = layers.look(
        encoding, encoding.turn_states.slice(1, 0, 2), open.tensor().reshape({2, 2, 3}));
    const auto weights = attention.weights.to_vector<float>();
    const auto at = [&](std::int64_t query, std::int64_t turn, std::int64_t word) {
      return weights[static_cast<std::size_t>((query * 3 + turn) * 3 + word)];
    };
    for (std::int64_t query = 0; query < 4; ++query) {
      float sum = 0.0f;
      for (std::int64_t turn = 0; turn < 3; ++turn)
        for (std::int64_t word = 0; word < 3; ++word) sum += at(query, turn, word);
      EXPECT_NEAR(sum, query < 3 ? 1.0f : 0.0f, test::kFloatSum) << query;
    }
    // Turns behind the place, and padding, weigh nothing.
    EXPECT_EQ(at(1, 1, 0), 0.0f);
    EXPECT_EQ(at(0, 1, 1), 0.0f);
    EXPECT_EQ(at(2, 0, 2), 0.0f);
    if (kind == chat::Attention::flat) continue;
    const auto turns = attention.turn_weights.to_vector<float>();
    const auto own = attention.word_weights.contiguous().to_vector<float>();
    for (std::int64_t turn = 0; turn < 3; ++turn)
      for (std::int64_t word = 0; word < 3; ++word)
        // Of the first dialogue and its first query.
        EXPECT_NEAR(at(0, turn, word),
                    turns[static_cast<std::size_t>(turn)] *
                        own[static_cast<std::size_t>(turn * 6 + word)],
                    test::kFloatSum);
  }
}

TEST(ChatDialogue, FallsIntoTurnsAndWords) {
  EXPECT_EQ(chat::turns_of(" a b \r\n\n c\n"), (Texts{"a b", "c"}));
  EXPECT_EQ(chat::words_of("At [restaurant name], please [sic!]."),
            (Texts{"At", "[restaurant_name]", ",", "please", "[sic!]", "."}));
  EXPECT_EQ(chat::sentence_of({"It", "is", "(", "[count]", ")", ",", "$5", "."}),
            "It is ([count]), $5.");
  EXPECT_EQ(chat::sentence_of(chat::words_of("At [restaurant name], 5 p.m. today?")),
            "At [restaurant name], 5 p.m. today?");
  EXPECT_EQ(chat::form_of("San"), "san");
  EXPECT_EQ(chat::form_of("\u00c9t\u00e9"), "\u00e9t\u00e9");
}

TEST(ChatDialogue, PutsWhatOnlyADatabaseKnowsIntoBrackets) {
  const auto values = chat::values_of_acts(
      "OFFER(restaurant_name=P.f. Chang's (San Jose)) INFORM(price=52) REQ_MORE "
      "INFORM(city=San Jose) INFORM(open=True)");
  EXPECT_EQ(values,
            (std::vector<chat::SlotValue>{{"restaurant_name", "P.f. Chang's (San Jose)"},
                                          {"price", "52"},
                                          {"city", "San Jose"},
                                          {"open", "True"}}));
  EXPECT_EQ(chat::bracketed("P.f. Chang's (San Jose) in San Jose is $52, not 525. True!",
                            values, "Something in san jose"),
            "[restaurant name] in San Jose is [price], not 525. True!");
  EXPECT_EQ(chat::bracketed("Nothing.", {}, ""), "Nothing.");
  // As a state: only where the dialogue has the bracket.
  const chat::State state{{"city", "San Jose"}, {"restaurant_name", "Sino"}};
  EXPECT_EQ(chat::bracketed(state, "in San Jose\nthere is [restaurant name]").back().second,
            "[restaurant name]");
  EXPECT_EQ(chat::bracketed(state, "in San Jose\nthere is Sino").back().second, "Sino");
}

TEST(ChatDialogue, AStateComesBackFromItsText) {
  const chat::State state =
      chat::state_of_file("FindHotel stars=3;city=St. Helena;time=5 p.m.");
  EXPECT_EQ(chat::text_of(state), "city = St. Helena ; stars = 3 ; time = 5 p.m.");
  const chat::State back = chat::state_of(chat::words_of(chat::text_of(state)));
  EXPECT_TRUE(chat::same(state, back));
  EXPECT_TRUE(chat::same({{"city", "SAN Jose"}}, {{"city", "san jose"}}));
  EXPECT_FALSE(chat::same({{"city", "San Jose"}}, {{"city", "Fremont"}}));
  EXPECT_FALSE(chat::same({{"city", "San Jose"}}, {}));
  EXPECT_TRUE(chat::state_of_file("NONE").empty());
  // What a model may write instead.
  EXPECT_EQ(chat::state_of({"city", "=", "A", ";", "=", ";", "city", "=", "B", ";", "x"}),
            (chat::State{{"city", "A"}}));
}

TEST(ChatCandidates, AreAFixedDrawThatNeverHasTheRightOneTwice) {
  Texts right;
  for (int i = 0; i < 200; ++i) right.push_back("Reply number " + std::to_string(i % 50) + ".");
  const Texts drawn = chat::draw_candidates(right);
  EXPECT_EQ(drawn, chat::draw_candidates(right));
  for (std::size_t i = 0; i < right.size(); ++i) {
    const Texts lines = chat::turns_of(drawn[i]);
    ASSERT_EQ(lines.size(), chat::kCandidates);
    EXPECT_EQ(lines.front(), right[i]);
    EXPECT_EQ(std::count(lines.begin(), lines.end(), right[i]), 1);
  }
  EXPECT_EQ(chat::turns_of(chat::draw_candidates({"one", "one"}).front()).size(), 1u);
}

TEST(ChatCorpus, NamesTheLineThatIsWrong) {
  const auto problem = [](const std::string& text) {
    return message_of<FileError>([&] { chat::parse_prepared(text, "sgd"); });
  };
  EXPECT_NE(problem("train\t1\n").find("sgd, line 1 has 2 fields"), std::string::npos);
  EXPECT_NE(problem("train\t1\tHotels_1\t0\tS\tHi\t\t\n").find("line 1: user and system"),
            std::string::npos);
  const std::string few =
      message_of<FileError>([] { chat::parse_own("U: a\nS: b\n", "mine.txt"); });
  EXPECT_NE(few.find("each part needs one"), std::string::npos) << few;
}

TEST(ChatCorpus, OfThePreparedFileSharesNoDialogue) {
  if (!has_prepared(task().prepared().front()))
    GTEST_SKIP() << "sgd.tsv.xz is not in the cache: attn data chat --from FOLDER";
  const Corpus corpus = task().corpus(task().defaults({}, nullptr).what, {});
  EXPECT_EQ(corpus.development.size(), 5964u);
  EXPECT_EQ(corpus.test.size(), 8423u);
  std::set<std::string> learnt;
  for (const Example& example : corpus.train) learnt.insert(example.id);
  EXPECT_EQ(learnt.size(), corpus.train.size());
  for (const Example& example : corpus.test) {
    const Texts lines = chat::candidates_of(example.input());
    EXPECT_EQ(lines.size(), chat::kCandidates);
    EXPECT_EQ(std::count(lines.begin(), lines.end(), lines.front()), 1);
  }
  EXPECT_NEAR(chat::tf_idf_choice(corpus.train, corpus.test), 45.1, 0.5);
}

}  // namespace
}  // namespace attn::tasks
