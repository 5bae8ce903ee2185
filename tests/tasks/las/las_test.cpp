// The taught transcriber: frames are those of the data, scores of prefixes are sums over paths,
// and a small model learns to spell letters and to look at them in order.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <numbers>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/files/read_file.hpp"
#include "attn/maps/map.hpp"
#include "attn/nn/init.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/prepared.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/tasks/value.hpp"
#include "attn/tensor/ops/loss.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/text/tokeniser.hpp"
#include "nn/support/learns.hpp"
#include "support/tolerance.hpp"
#include "tasks/las/augment.hpp"
#include "tasks/las/data.hpp"
#include "tasks/las/features.hpp"
#include "tasks/las/listener.hpp"
#include "tasks/las/monotone.hpp"
#include "tasks/las/spoken.hpp"
#include "tasks/las/support.hpp"
#include "tasks/las/task.hpp"
#include "tasks/scratch.hpp"
#include "tensor/support/gradcheck.hpp"

namespace attn::tasks::las {
namespace {

/// The 16-bit samples of a WAV file whose header is 44 bytes.
std::vector<float> samples_of_file(const std::filesystem::path& path) {
  const std::string bytes = files::read_text(path, 1 << 20);
  std::vector<float> samples;
  for (std::size_t at = 44; at + 1 < bytes.size(); at += 2) {
    const auto low = static_cast<unsigned char>(bytes[at]);
    const auto high = static_cast<signed char>(bytes[at + 1]);
    samples.push_back(static_cast<float>(high * 256 + low) / 32768.0F);
  }
  return samples;
}

TEST(LasFeatures, AreThoseOfTheData) {
  const LogMel sound = log_mel(samples_of_file(ATTN_TEST_DATA "/an4/yes.wav"));
  ASSERT_EQ(sound.frames, 8);
  // Frames 40, 41 and 47 of an251-fash-b as an4-logmel.bin has them.
  const std::vector<std::pair<std::size_t, std::vector<std::uint8_t>>> expected{
      {0, {54, 63, 57, 76, 74, 72, 67, 61, 60, 57, 55, 59, 63,
           67, 74, 76, 73, 79, 82, 74, 81, 82, 75, 65, 58, 56}},
      {1, {54, 62, 58, 73, 68, 78, 71, 63, 63, 58, 58, 60, 66,
           71, 80, 77, 76, 78, 78, 70, 79, 81, 77, 71, 63, 54}},
      {7, {46, 55, 57, 59, 62, 67, 77, 75, 68, 66, 64, 66, 73,
           77, 71, 62, 69, 69, 62, 54, 66, 75, 72, 63, 58, 48}}};
  for (const auto& [frame, bands] : expected)
    for (std::size_t band = 0; band < bands.size(); ++band)
      EXPECT_EQ(sound.values[frame * bands.size() + band], bands[band])
          << "frame " << frame << ", band " << band;
}

TEST(LasFeatures, OfATonePeakWhereItLies) {
  std::vector<float> tone;
  for (int n = 0; n < 1600; ++n)
    tone.push_back(0.5F *
                   static_cast<float>(std::sin(2.0 * std::numbers::pi * 1000.0 * n / 16000.0)));
  const LogMel sound = log_mel(tone);
  const auto first = sound.values.begin() + 2 * kBands;
  const auto band = std::max_element(first, first + kBands) - first;
  EXPECT_LT(band_corners()[static_cast<std::size_t>(band)], 1000.0);
  EXPECT_GT(band_corners()[static_cast<std::size_t>(band) + 2], 1000.0);
  EXPECT_EQ(log_mel(std::vector<float>(399)).frames, 0);
  EXPECT_EQ(log_mel(std::vector<float>(400)).frames, 1);
}

Recording ramp(std::int64_t frames) {
  Recording recording{frames, {}};
  for (std::int64_t frame = 0; frame < frames; ++frame)
    for (std::int64_t band = 0; band < kBands; ++band)
      recording.values.push_back(static_cast<float>(10 * frame + band));
  return recording;
}

TEST(LasChanges, StretchAndWarpAreLines) {
  const Recording longer = stretched(ramp(10), 2.0);
  ASSERT_EQ(longer.frames, 20);
  EXPECT_FLOAT_EQ(longer.values[3 * kBands + 4], 19.0F);  // frame 1.5, band 4
  EXPECT_FLOAT_EQ(longer.values[19 * kBands], 90.0F);     // beyond the end the last
  const Recording moved = warped(ramp(3), 1.25);
  EXPECT_FLOAT_EQ(moved.values[2 * kBands + 2], 22.5F);
  EXPECT_FLOAT_EQ(moved.values[kBands - 1], 25.0F);
  EXPECT_EQ(stretched(ramp(7), 1.0).values, ramp(7).values);
  EXPECT_EQ(warped(ramp(7), 1.0).values, ramp(7).values);
}

TEST(LasChanges, KeepWhatAlignmentsNeedAndHideWhatTheySay) {
  Random random(3);
  const Changes changes{.speed = 0.4, .warp = 0.2, .band_mask = 0.2, .frame_mask = 0.3};
  bool hidden = false;
  for (int i = 0; i < 50; ++i) {
    Recording recording = changed(ramp(40), changes, 38, random);
    EXPECT_GE(recording.frames, 38);
    EXPECT_LE(recording.frames, 56);
    EXPECT_EQ(recording.values.size(), static_cast<std::size_t>(recording.frames * kBands));
    normalise(recording);
    double sum = 0.0;
    double squares = 0.0;
    for (const float value : recording.values) {
      sum += static_cast<double>(value);
      squares += static_cast<double>(value) * static_cast<double>(value);
    }
    const auto count = static_cast<double>(recording.values.size());
    EXPECT_NEAR(sum / count, 0.0, test::kFloatModel);
    EXPECT_NEAR(squares / count, 1.0, 0.05);
    const auto zeros = [&] {
      return std::count(recording.values.begin(), recording.values.end(), 0.0F);
    };
    const auto before = zeros();
    mask(recording, changes, random);
    hidden = hidden || zeros() > before;
  }
  EXPECT_TRUE(hidden);
}

TEST(LasMonotone, CountsStepsThatDoNotGoBack) {
  const text::Tokeniser vocabulary(text::Units::characters, {{"A"}, {" "}, {"B"}});
  Answer answer;
  answer.target = {4, 6, 5, 4};
  answer.weights = {0.6F, 0.4F,  0.0F,   // frame 0, mean 0.4
                    0.2F, 0.0F,  0.8F,   // frame 2, mean 1.6
                    1.0F, 0.0F,  0.0F,   // a space: nothing is said
                    0.0F, 0.55F, 0.45F,  // frame 1, mean 1.45
                    1.0F, 0.0F,  0.0F};  // the end
  tell_frames(answer, vocabulary);
  EXPECT_EQ(answer.numbers.at(kFramesLooked), (std::vector<float>{0, 2, 1}));
  MonotoneSteps steps;
  steps.add(answer);
  EXPECT_EQ(steps.steps, 2);
  EXPECT_EQ(steps.hard, 1);
  EXPECT_EQ(steps.soft, 1);
  EXPECT_EQ(steps.answers, 1);
  EXPECT_EQ(steps.whole_answers, 0);
  steps.add({});
  EXPECT_EQ(steps.answers, 1);
  const Table times = times_of(answer, vocabulary);
  ASSERT_EQ(times.rows.size(), 2u);
  EXPECT_EQ(times.rows[0], (std::vector<Table::Cell>{"AB", 0.0, 0.12}));
  EXPECT_EQ(times.rows[1], (std::vector<Table::Cell>{"A", 0.04, 0.08}));
}

/// The taught task on letters that the test makes.
class LettersTask final : public LasTask {
 public:
  const TaskCard& card() const override {
    static const TaskCard kCard{.name = "letters",
                                .about = "made sounds become letters",
                                .title = "Letters",
                                .help = "",
                                .metric = "WER"};
    return kCard;
  }
  Corpus corpus(const nlohmann::json&, const Say&) const override {
    const Spoken spoken = spoken_letters(320);
    return parse_utterances(spoken.table, spoken.frames, "letters");
  }
};

double score_named(const Scores& scores, const std::string& name) {
  const auto at = std::find_if(scores.begin(), scores.end(),
                               [&](const NamedScore& one) { return one.name == name; });
  return at == scores.end() ? -1.0 : at->value;
}

class LasTaskTest : public testing::Test {
 protected:
  static void TearDownTestSuite() { scratch_.reset(); }

  static TrainingRun run_of(const std::string& attention, const std::string& location,
                            int steps) {
    const nlohmann::json asked{{"model", {{"attention", attention}, {"location", location}}}};
    TrainingRun run = task_.defaults(asked, nullptr);
    task_.read({{"model",
                 {{"attention", attention},
                  {"location", location},
                  {"hidden", 16},
                  {"spell", 24},
                  {"embedding", 8},
                  {"score", 16},
                  {"channels", 4},
                  {"width", 5},
                  {"beam", 4},
                  {"dropout", 0.1}}}},
               "the test", run.what);
    run.where.folder = scratch_->path() / (attention + "-" + location);
    run.how.batch_tokens = 2000;
    run.how.rate = 0.01;
    run.how.warm_up = 30;
    run.how.average = 0.95;
    run.how.evaluate_every = steps;
    run.budget.steps = test::most_steps(steps);
    return run;
  }

  static std::unique_ptr<Model> trained(const std::string& attention,
                                        const std::string& location, int steps) {
    const TrainingRun run = run_of(attention, location, steps);
    EXPECT_EQ(task_.misfit(run), "");
    save_run(run);
    const auto learner = task_.learner(run, task_.corpus({}, {}), {});
    learner->begin(run.where.folder);
    tasks::train(*learner, run);
    return task_.load(run.where.folder);
  }

  static const LettersTask task_;
  static std::unique_ptr<Scratch> scratch_;
};

const LettersTask LasTaskTest::task_{};
std::unique_ptr<Scratch> LasTaskTest::scratch_ = std::make_unique<Scratch>();

TEST_F(LasTaskTest, LearnsToSpellWhatItHearsInOrder) {
  const std::unique_ptr<Model> model = trained("additive", "convolved", 700);
  EXPECT_EQ(model->kind(), "las_location");
  const Corpus corpus = task_.corpus({}, {});
  const Scores scores = task_.evaluate(*model, corpus.test);
  EXPECT_GT(score_named(task_.baselines(corpus).front().scores, "WER"), 60.0);
  if (!test::is_judged()) return;
  EXPECT_LT(score_named(scores, "WER"), 10.0) << text_of(scores);
  EXPECT_GT(score_named(scores, "monotone steps"), 80.0) << text_of(scores);

  const Input input = corpus.test.front().input();
  EXPECT_EQ(model->refusal(input), "");
  Choices choices;
  choices.best = 2;
  const Reply reply = model->answer({&input, 1}, choices, {}).front();
  const Answer& best = reply.answers.front();
  EXPECT_EQ(reply.answers.size(), 2u);
  EXPECT_GE(best.score, reply.answers[1].score);
  const maps::Map map = model->map(input, reply.pieces.front());
  maps::validate(map);
  const auto& speech = std::get<maps::Speech>(map);
  EXPECT_EQ(speech.words.size(), best.target.size());
  EXPECT_EQ(speech.weights.columns,
            static_cast<std::size_t>(std::get<Picture>(input.parts.at(kFrames)).width));
  const nlohmann::json json = model->json_of(input, reply, Detail::weights);
  EXPECT_EQ(json.at("text"), best.text);
  EXPECT_EQ(json.at("table").at("columns"), (nlohmann::json{"word", "begin", "end"}));
}

TEST_F(LasTaskTest, AlignmentsAloneLearnTooAndHaveNothingToDraw) {
  const std::unique_ptr<Model> model = trained("none", "none", 600);
  EXPECT_EQ(model->kind(), "ctc");
  const Corpus corpus = task_.corpus({}, {});
  const Scores scores = task_.evaluate(*model, corpus.test);
  if (test::is_judged()) {
    EXPECT_LT(score_named(scores, "WER"), 20.0) << text_of(scores);
  }
  EXPECT_EQ(score_named(scores, "monotone steps"), -1.0);
  const Input input = corpus.test.front().input();
  const Reply reply = model->answer({&input, 1}, {}, {}).front();
  EXPECT_THROW(model->map(input, reply.pieces.front()), InvalidArgument);
}

TEST_F(LasTaskTest, RefusesWhatIsNoSoundItCanRead) {
  const std::unique_ptr<Model> model = trained("dot", "none", 1);
  const auto refusal = [&](Sound sound) {
    Input input;
    input.parts.emplace(kSound, std::move(sound));
    return model->refusal(input);
  };
  EXPECT_NE(model->refusal(Input(std::string("text"))), "");
  EXPECT_NE(refusal({16000, {}}), "");
  EXPECT_NE(refusal({16000, {0.5F}}), "");
  EXPECT_NE(refusal({16000, std::vector<float>(16000 * 31)}), "");
  EXPECT_EQ(refusal({16000, std::vector<float>(16000)}), "");
  EXPECT_THROW(refusal({8000, std::vector<float>(16000)}), InvalidArgument);
  EXPECT_THROW(refusal({16000, std::vector<float>(16000, std::nanf(""))}), InvalidArgument);

  Input silent;
  silent.parts.emplace(kSound, Sound{16000, std::vector<float>(16000)});
  const Reply nothing = model->answer({&silent, 1}, {}, {}).front();
  EXPECT_EQ(nothing.answers.front().text, "");
  EXPECT_EQ(nothing.notes.size(), 1u);
  EXPECT_THROW(model->map(silent, nothing.pieces.front()), InvalidArgument);

  std::vector<float> tone;
  for (int n = 0; n < 16000 * 10; ++n)
    tone.push_back(0.3F * static_cast<float>(std::sin(0.2 * n)));
  Input lasting;
  lasting.parts.emplace(kSound, Sound{16000, std::move(tone)});
  EXPECT_TRUE(model->answer({&lasting, 1}, {}, {}).front().unfamiliar);
}

TEST_F(LasTaskTest, TellsWhichSettingsDoNotFit) {
  EXPECT_NE(task_.misfit(run_of("dot", "convolved", 1)), "");
  EXPECT_NE(task_.misfit(run_of("none", "convolved", 1)), "");
  TrainingRun run = run_of("additive", "none", 1);
  run.what["model"]["width"] = 4;
  EXPECT_NE(task_.misfit(run).find("--width"), std::string::npos);
  run = run_of("none", "none", 1);
  run.what["model"]["ctc"] = 0.5;
  EXPECT_NE(task_.misfit(run).find("--ctc 1"), std::string::npos);
}

TEST(LasData, NamesTheLineThatIsWrong) {
  const std::string frames(static_cast<std::size_t>(kBands) * 20, 'x');
  const auto problem = [&](const std::string& table) {
    return message_of<FileError>([&] { parse_utterances(table, frames, "list"); });
  };
  for (const char* line :
       {"0\t20\ttrain\tann\tu1\n", "0\t21\ttrain\tann\tu1\tYES\n",
        "0\t0\ttrain\tann\tu1\tYES\n", "-1\t2\ttrain\tann\tu1\tYES\n",
        "9999999999\t2\ttrain\tann\tu1\tYES\n", "0\t9223372036854775807\ttrain\tann\tu1\tYES\n",
        "0\t20\tdev\tann\tu1\tYES\n", "0\t20\ttrain\tann\tu1\t\n",
        "0\tx\ttrain\tann\tu1\tYES\n"})
    EXPECT_NE(problem(line).find("list, line 1"), std::string::npos) << line << problem(line);
  EXPECT_NE(problem("0\t20\ttrain\tann\tu1\tYES\n").find("speakers"), std::string::npos);
}

TEST(LasData, KeepsFramesInAPictureOfTheSound) {
  LogMel sound{2, {}};
  for (int i = 0; i < 2 * kBands; ++i) sound.values.push_back(static_cast<std::uint8_t>(i));
  Input input;
  input.parts.emplace(kFrames, picture_of(sound));
  EXPECT_EQ(frames_of(input), sound);
  const auto& picture = std::get<Picture>(input.parts.at(kFrames));
  EXPECT_EQ(picture.width, 2);
  EXPECT_EQ(picture.pixels[0], kBands - 1);  // the highest band of the first frame
  EXPECT_EQ(picture.pixels[1], 2 * kBands - 1);
}

TEST(LasData, HoldsSpeakersOutForDevelopment) {
  const Spoken spoken = spoken_letters(320);
  const Corpus corpus = parse_utterances(spoken.table, spoken.frames, "letters");
  EXPECT_EQ(corpus.test.size(), 40u);
  EXPECT_EQ(corpus.train.size() + corpus.development.size(), 280u);
  EXPECT_GT(corpus.development.size(), 10u);
  EXPECT_LT(corpus.development.size(), 60u);
}

TEST(LasCorpus, HasEightyFourSpeakers) {
  for (const PreparedFile& file : prepared_files())
    if (!has_prepared(file)) GTEST_SKIP() << file.name << " is not in the cache";
  const Corpus corpus =
      parse_utterances(read_prepared(prepared_files()[0], "transcribe"),
                       read_prepared(prepared_files()[1], "transcribe"), "an4");
  EXPECT_EQ(corpus.train.size() + corpus.development.size(), 948u);
  EXPECT_EQ(corpus.test.size(), 130u);
  EXPECT_EQ(corpus.train.front().targets.front(), "YES");
  EXPECT_EQ(std::get<Picture>(corpus.train.front().parts.at(kFrames)).width, 98);
}

}  // namespace
}  // namespace attn::tasks::las
