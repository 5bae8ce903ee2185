// The commands that train, score and answer, as a user runs them.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "attn/kernels/gpu/device.hpp"
#include "tasks/scratch.hpp"
#include "tools/say.hpp"

extern char** environ;

namespace attn::tools {
namespace {

namespace fs = std::filesystem;

/// A user's own pairs: short words and their letters, named one by one, in capitals.
std::string word_pairs(char first = 'a') {
  std::string text;
  for (int i = 0; i < 256; ++i) {
    std::string word;
    std::string spelt;
    for (int j = 0, rest = i; j < 4; ++j, rest /= 4) {
      word += static_cast<char>(first + rest % 4);
      spelt += (spelt.empty() ? "" : " ") + std::string(1, static_cast<char>('A' + rest % 4));
    }
    text += word + "\t" + spelt + "\n";
  }
  return text;
}

std::vector<std::string> train_command(const std::string& data, const std::string& out,
                                       const std::string& steps) {
  return {"train",
          "pronounce",
          "--data",
          data,
          "--out",
          out,
          "--steps",
          steps,
          "--dim",
          "32",
          "--heads",
          "2",
          "--feed-forward",
          "32",
          "--encoder-layers",
          "1",
          "--decoder-layers",
          "1",
          "--batch-tokens",
          "300",
          "--rate",
          "0.005",
          "--warm-up",
          "20",
          "--average",
          "0.95",
          "--evaluate-every",
          "40",
          "--save-every",
          "5"};
}

std::vector<double> losses(const fs::path& folder) {
  std::vector<double> found;
  std::ifstream log(folder / "log.jsonl");
  for (std::string line; std::getline(log, line);) {
    const auto json = nlohmann::json::parse(line);
    if (json.contains("loss")) found.push_back(json["loss"].get<double>());
  }
  return found;
}

/// The steps of the checkpoint that lies in a folder; 0 if there is none.
std::int64_t steps_saved(const fs::path& folder) {
  std::ifstream file(folder / "checkpoint.safetensors", std::ios::binary);
  std::string head(1 << 16, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  const std::string key = "\\\"steps\\\":";
  const auto at = head.find(key);
  return at == std::string::npos ? 0 : std::stoll(head.substr(at + key.size(), 12));
}

/// Starts the program itself, its output thrown away.
pid_t start(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), ATTN_PROGRAM);
  std::vector<char*> raw;
  raw.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) raw.push_back(argument.data());
  raw.push_back(nullptr);
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = -1;
  EXPECT_EQ(posix_spawn(&child, raw[0], &quiet, nullptr, raw.data(), environ), 0);
  posix_spawn_file_actions_destroy(&quiet);
  return child;
}

TEST(TrainCommand, BeginsWithWhatAnotherModelHasLearnt) {
  const tasks::Scratch scratch;
  const std::string data = scratch.write("pairs.tsv", word_pairs());
  const fs::path first = scratch.path() / "first";
  const fs::path second = scratch.path() / "second";
  ASSERT_EQ(say(train_command(data, first, "160")).status, success);
  const std::vector<std::string> further{
      "train",   "pronounce", "--data", data,     "--begin",        first, "--out", second,
      "--steps", "10",        "--rate", "0.0001", "--batch-tokens", "300"};
  const Said went_on = say(further);
  ASSERT_EQ(went_on.status, success) << went_on.err;
  ASSERT_FALSE(losses(second).empty());
  // From nothing the first ten steps are far above the last ten.
  EXPECT_LT(losses(second).front(), 0.5 * losses(first).front());
  EXPECT_LT(losses(second).front(), 2.0 * losses(first).back());

  auto twice = further;
  twice.insert(twice.end(), {"--begin", first});
  twice[7] = scratch.path() / "twice";
  ASSERT_EQ(say(twice).status, success);
  EXPECT_EQ(losses(twice[7]), losses(second)) << "the mean of equals";

  const fs::path stranger = scratch.path() / "stranger";
  const std::string other = scratch.write("other.tsv", word_pairs('e'));
  ASSERT_EQ(say(train_command(other, stranger, "1")).status, success);
  twice.back() = stranger;
  twice[7] = scratch.path() / "mixed";
  const Said mixed = say(twice);
  EXPECT_EQ(mixed.status, failure);
  EXPECT_NE(mixed.err.find("another vocabulary"), std::string::npos) << mixed.err;

  auto larger = further;
  larger.insert(larger.end(), {"--dim", "64"});
  larger[7] = scratch.path() / "larger";
  const Said misfit = say(larger);
  EXPECT_EQ(misfit.status, failure);
  EXPECT_NE(misfit.err.find("has other sizes"), std::string::npos) << misfit.err;
  auto units = further;
  units.insert(units.end(), {"--source-units", "words"});
  units[7] = scratch.path() / "units";
  EXPECT_EQ(say(units).status, failure);
}

TEST(TrainCommand, KilledInTheMiddleItGoesOnToTheLossesOfAnUninterruptedRun) {
  const tasks::Scratch scratch;
  const std::string data = scratch.write("pairs.tsv", word_pairs());
  const fs::path straight = scratch.path() / "straight";
  const fs::path killed = scratch.path() / "killed";
  ASSERT_EQ(say(train_command(data, straight, "80")).status, success);

  const pid_t child = start(train_command(data, killed, "100000"));
  ASSERT_GT(child, 0);
  for (int i = 0; i < 6000 && steps_saved(killed) < 20; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status)) << "it ended before it was killed";
  ASSERT_GE(steps_saved(killed), 20);
  // However far it got, the same command is asked for as many steps and more.
  const std::int64_t at_least = std::max<std::int64_t>(80, (steps_saved(killed) / 10 + 2) * 10);
  auto more = train_command(data, straight, std::to_string(at_least));
  more.push_back("--resume");
  ASSERT_EQ(say(more).status, success);
  const Said resumed = say(
      {"train", "pronounce", "--out", killed, "--resume", "--steps", std::to_string(at_least)});
  ASSERT_EQ(resumed.status, success) << resumed.err;
  EXPECT_EQ(losses(killed), losses(straight));
  EXPECT_EQ(losses(killed).size(), static_cast<std::size_t>(at_least / 10));
}

TEST(TrainCommand, AUsersOwnPairsAreTrainedScoredAndAnswered) {
  const tasks::Scratch scratch;
  const std::string data = scratch.write("pairs.tsv", word_pairs());
  const fs::path out = scratch.path() / "mine";
  const Said trained = say(train_command(data, out, "600"));
  ASSERT_EQ(trained.status, success) << trained.err;
  EXPECT_NE(trained.out.find("attn eval pronounce --model"), std::string::npos) << trained.out;

  const Said scored = say({"eval", "pronounce", "--model", out, "--data", data, "--json"});
  ASSERT_EQ(scored.status, success) << scored.err;
  EXPECT_LT(nlohmann::json::parse(scored.out)["scores"]["PER"].get<double>(), 20.0);

  const Said answered = say({"pronounce", "--model", out, "abca", "bbca"});
  ASSERT_EQ(answered.status, success) << answered.err;
  EXPECT_EQ(answered.out, "abca\tA B C A\nbbca\tB B C A\n");

  const Said json = say({"pronounce", "--model", out, "--json", "--weights", "abca"});
  const auto best = nlohmann::json::parse(json.out)["pieces"][0]["answers"][0];
  EXPECT_EQ(best["text"], "A B C A");
  ASSERT_EQ(best["weights"].size(), 5u) << "a row a phone, and the end";
  EXPECT_EQ(best["weights"][0].size(), best["source_tokens"].size());

  const Said wrong_task = say({"translate", "--model", out, "abca"});
  EXPECT_EQ(wrong_task.status, failure);
  EXPECT_NE(wrong_task.err.find("for pronounce"), std::string::npos) << wrong_task.err;

  const Said again = say(train_command(data, out, "10"));
  EXPECT_EQ(again.status, failure) << "it would have written over a trained model";
  EXPECT_NE(again.err.find("--resume"), std::string::npos) << again.err;
}

/// Runs somewhere else, and comes back.
class Elsewhere {
 public:
  explicit Elsewhere(const fs::path& folder) : back_(fs::current_path()) {
    fs::current_path(folder);
  }
  ~Elsewhere() { fs::current_path(back_); }
  Elsewhere(const Elsewhere&) = delete;
  Elsewhere& operator=(const Elsewhere&) = delete;

 private:
  fs::path back_;
};

/// The flags of a small model that pairs of words need.
std::vector<std::string> pairs_command(std::vector<std::string> more) {
  std::vector<std::string> all{"train", "pairs", "--dim", "24", "--batch-tokens", "300"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST(TrainCommand, KilledInItsFirstSecondsItGoesOn) {
  const tasks::Scratch scratch;
  const std::string data = scratch.write("pairs.tsv", word_pairs());
  const fs::path killed = scratch.path() / "killed";
  const fs::path straight = scratch.path() / "straight";
  // No evaluation, which saves too, comes before the kill.
  const auto command = [&](const fs::path& out, const std::string& steps) {
    return pairs_command(
        {"--data", data, "--out", out, "--steps", steps, "--evaluate-every", "100000"});
  };
  const pid_t child = start(command(killed, "1000000"));
  ASSERT_GT(child, 0);
  for (int i = 0; i < 6000 && steps_saved(killed) == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  ASSERT_GE(steps_saved(killed), 1) << "there was no checkpoint in the first seconds";
  const std::string steps = std::to_string((steps_saved(killed) / 10 + 2) * 10);
  const Said resumed = say({"train", "pairs", "--out", killed, "--resume", "--steps", steps});
  ASSERT_EQ(resumed.status, success) << resumed.err;
  ASSERT_EQ(say(command(straight, steps)).status, success);
  EXPECT_EQ(losses(killed), losses(straight));
}

TEST(TrainCommand, ItGoesOnFromAnotherFolderAndRefusesOtherData) {
  const tasks::Scratch scratch;
  const tasks::Scratch other;
  scratch.write("pairs.tsv", word_pairs());
  {
    const Elsewhere here(scratch.path());
    const Said begun =
        say(pairs_command({"--data", "pairs.tsv", "--out", "run", "--steps", "10"}));
    ASSERT_EQ(begun.status, success) << begun.err;
  }
  const std::string run = scratch.path() / "run";
  {
    const Elsewhere there(other.path());
    const Said on = say({"train", "pairs", "--out", run, "--resume", "--steps", "20"});
    ASSERT_EQ(on.status, success) << on.err;
  }
  EXPECT_EQ(losses(run).size(), 2u);

  // Moved: it is told where to, and from then on knows.
  const fs::path moved = other.path() / "moved.tsv";
  fs::rename(scratch.path() / "pairs.tsv", moved);
  const Said lost = say({"train", "pairs", "--out", run, "--resume", "--steps", "30"});
  EXPECT_EQ(lost.status, failure);
  EXPECT_NE(lost.err.find("--data"), std::string::npos) << lost.err;
  const Said found =
      say({"train", "pairs", "--out", run, "--resume", "--steps", "30", "--data", moved});
  ASSERT_EQ(found.status, success) << found.err;
  ASSERT_EQ(say({"train", "pairs", "--out", run, "--resume", "--steps", "40"}).status, success);

  // Changed: refused, whoever names it, and nothing is lost.
  std::ofstream(moved, std::ios::app) << "zzzz\tZ Z Z Z\n";
  for (const bool named : {false, true}) {
    std::vector<std::string> again{"train", "pairs", "--out", run, "--resume", "--steps", "50"};
    if (named) again.insert(again.end(), {"--data", moved});
    const Said changed = say(again);
    EXPECT_EQ(changed.status, failure);
    EXPECT_NE(changed.err.find("is not what was learnt from"), std::string::npos)
        << changed.err;
    EXPECT_NE(changed.err.find("--begin"), std::string::npos) << changed.err;
  }
  EXPECT_EQ(losses(run).size(), 4u);
}

TEST(EvalCommand, AModelIsScoredOnWhatItLearntFromAndSaysSo) {
  const tasks::Scratch scratch;
  const std::string data = scratch.write("letters.tsv", word_pairs());
  const fs::path out = scratch.path() / "run";
  ASSERT_EQ(say(pairs_command({"--data", data, "--out", out, "--steps", "20"})).status,
            success);
  const Said text = say({"eval", "pairs", "--model", out, "--beam", "1"});
  ASSERT_EQ(text.status, success) << text.err;
  EXPECT_NE(text.out.find("pairs on 13 test examples of letters.tsv (beam 1): CER "),
            std::string::npos)
      << text.out;
  const Said json = say({"eval", "pairs", "--model", out, "--json", "--part", "development"});
  const auto told = nlohmann::json::parse(json.out);
  EXPECT_EQ(told["data"]["name"], "letters.tsv");
  EXPECT_EQ(told["data"]["file"], data);
  EXPECT_EQ(told["part"], "development");
  EXPECT_EQ(told["examples"], 13);

  // The split is the one of the training: named, or known, it is the same.
  const auto named = nlohmann::json::parse(
      say({"eval", "pairs", "--model", out, "--json", "--data", data}).out);
  const auto known =
      nlohmann::json::parse(say({"eval", "pairs", "--model", out, "--json"}).out);
  EXPECT_EQ(named["scores"], known["scores"]);

  // Another file in its place is no silent score.
  std::ofstream(data, std::ios::app) << "zzzz\tZ Z Z Z\n";
  const Said changed = say({"eval", "pairs", "--model", out});
  EXPECT_EQ(changed.status, failure);
  EXPECT_NE(changed.err.find("is not what was learnt from"), std::string::npos) << changed.err;
  EXPECT_EQ(say({"eval", "pairs", "--model", out, "--data", data}).status, success);
  fs::remove(data);
  EXPECT_NE(say({"eval", "pairs", "--model", out}).err.find("which is not there"),
            std::string::npos);

  // A model that was copied without its training still knows that the file was the user's.
  fs::remove(out / "training.json");
  const Said card = say({"eval", "pairs", "--model", out});
  EXPECT_EQ(card.status, failure);
  EXPECT_NE(card.err.find("learnt from a file of its own, \"letters.tsv\""), std::string::npos)
      << card.err;
}

TEST(TrainCommand, TheFileItWritesTrainsTheSameAgainAndFlagsWin) {
  const tasks::Scratch scratch;
  scratch.write("pairs.csv", [] {
    std::string text = "number,spelt,word\n";
    int line = 0;
    for (char a = 'a'; a < 'i'; ++a)
      for (char b = 'a'; b < 'i'; ++b)
        text += std::to_string(++line) + ",\"" + a + ", " + b + "\"," + a + b + "\n";
    return text;
  }());
  const auto at = [&](const char* name) { return (scratch.path() / name).string(); };
  const Said first =
      say(pairs_command({"--data", at("pairs.csv"), "--source-column", "word",
                         "--target-column", "spelt", "--out", at("first"), "--steps", "20"}));
  ASSERT_EQ(first.status, success) << first.err;
  const Said again =
      say({"train", "pairs", "--config", at("first/training.json"), "--out", at("again")});
  ASSERT_EQ(again.status, success) << again.err;
  EXPECT_EQ(losses(at("again")).size(), 2u) << "the budget is in the file";
  EXPECT_EQ(losses(at("again")), losses(at("first")));
  const Said shorter = say({"train", "pairs", "--config", at("first/training.json"), "--out",
                            at("shorter"), "--steps", "10", "--seed", "7"});
  ASSERT_EQ(shorter.status, success) << shorter.err;
  EXPECT_EQ(losses(at("shorter")).size(), 1u);
  EXPECT_NE(losses(at("shorter"))[0], losses(at("first"))[0]);

  // Scored where its file lies now, with the columns of the training.
  fs::copy_file(at("pairs.csv"), at("moved.csv"));
  const Said moved = say({"eval", "pairs", "--model", at("first"), "--data", at("moved.csv")});
  EXPECT_EQ(moved.status, success) << moved.err;

  // By hand: a few members, the file beside it.
  scratch.write("run.json",
                R"({"task": "pairs", "data": "pairs.csv", "source_column": "word",
                    "target_column": "spelt", "model": {"dim": 24}, "budget": {"steps": 10},
                    "training": {"batch-tokens": 300}})");
  const Said hand = say({"train", "pairs", "--config", at("run.json"), "--out", at("hand")});
  ASSERT_EQ(hand.status, success) << hand.err;
  EXPECT_EQ(losses(at("hand"))[0], losses(at("first"))[0]);

  const auto refused = [&](const char* text) {
    scratch.write("wrong.json", text);
    const Said said =
        say({"train", "pairs", "--config", at("wrong.json"), "--out", at("wrong")});
    EXPECT_EQ(said.status, failure) << text;
    EXPECT_FALSE(fs::exists(at("wrong"))) << text;
    return said.err;
  };
  EXPECT_NE(refused(R"({"dta": "pairs.csv"})").find("did you mean \"data\"?"),
            std::string::npos);
  EXPECT_NE(refused(R"({"model": {"dmi": 3}})").find("did you mean \"model.dim\"?"),
            std::string::npos);
  EXPECT_NE(refused(R"({"dropout": 0.5})").find("did you mean \"model.dropout\"?"),
            std::string::npos);
  EXPECT_NE(refused(R"({"task": "translate"})").find("not of pairs"), std::string::npos);
  EXPECT_NE(refused(R"({"model": {"dim": "wide"}})").find("model.dim"), std::string::npos);
}

TEST(TrainCommand, PairsAreLearntAnsweredAndDrawn) {
  const tasks::Scratch scratch;
  std::string lines;
  for (int i = 0; i < 256; ++i) {
    std::string word;
    for (int j = 0, rest = i; j < 4; ++j, rest /= 4) word += static_cast<char>('a' + rest % 4);
    lines += R"({"source": ")" + word + R"(", "target": ")" +
             std::string(word.rbegin(), word.rend()) + "\"}\n";
  }
  const std::string data = scratch.write("backwards.jsonl", lines);
  const fs::path out = scratch.path() / "run";
  const std::string curve = out / "curve.json";
  const Said trained = say({"train",          "pairs", "--data",           data,
                            "--out",          out,     "--steps",          "300",
                            "--dim",          "48",    "--rate",           "0.005",
                            "--warm-up",      "20",    "--average",        "0.95",
                            "--batch-tokens", "400",   "--evaluate-every", "100",
                            "--map",          curve});
  ASSERT_EQ(trained.status, success) << trained.err;
  EXPECT_NE(trained.err.find("pairs to learn"), std::string::npos) << trained.err;
  EXPECT_NE(trained.out.find("attn eval pairs --model"), std::string::npos) << trained.out;
  std::ifstream file(curve);
  const auto map = nlohmann::json::parse(file);
  EXPECT_EQ(map["kind"], "training");
  EXPECT_EQ(map["series"][0]["x"].size(), 30u);
  EXPECT_EQ(map["series"][1]["x"].size(), 3u);
  EXPECT_EQ(map["marks"].size(), 1u);

  const Said answered = say({"pairs", "--model", out, "abcd", "ddac"});
  ASSERT_EQ(answered.status, success) << answered.err;
  EXPECT_EQ(answered.out, "dcba\ncadd\n");
  const Said overlong = say({"pairs", "--model", out, std::string(200, 'a')});
  EXPECT_EQ(overlong.status, failure);
  EXPECT_NE(overlong.err.find("reads at most"), std::string::npos) << overlong.err;

  EXPECT_EQ(say({"pairs", "abcd"}).status, usage) << "no model of it ships";
  EXPECT_EQ(say({"data", "pairs", "--data", data}).status, success);
  const Said none = say({"train", "pairs", "--out", scratch.path() / "none"});
  EXPECT_EQ(none.status, failure);
  EXPECT_NE(none.err.find("--data FILE"), std::string::npos) << none.err;
}

TEST(TrainCommand, BadInputIsAClearErrorAndNothingIsLeftBehind) {
  const tasks::Scratch scratch;
  const std::string bad = scratch.write("bad.tsv", "one\ttwo\nno tab here\n");
  const fs::path out = scratch.path() / "out";
  const Said columns = say({"train", "pronounce", "--data", bad, "--out", out, "--steps", "1"});
  EXPECT_EQ(columns.status, failure);
  EXPECT_NE(columns.err.find("line 2"), std::string::npos) << columns.err;
  const Said missing =
      say({"train", "pronounce", "--data", scratch.path() / "none.tsv", "--out", out});
  EXPECT_EQ(missing.status, failure);
  EXPECT_FALSE(fs::exists(out));

  if (!gpu::available()) {
    const Said device = say({"train", "pronounce", "--out", out, "--device", "gpu"});
    EXPECT_EQ(device.status, failure);
    EXPECT_NE(device.err.find("--device gpu cannot be used here: "), std::string::npos)
        << device.err;
    EXPECT_FALSE(fs::exists(out));
  }
  EXPECT_EQ(say({"train", "pronounce", "--out", out, "--device", "abacus"}).status, usage);
  const Said precise = say({"train", "pronounce", "--out", out, "--precision", "bf16"});
  EXPECT_EQ(precise.status, failure);
  EXPECT_NE(precise.err.find("--precision bf16 is built for --device gpu"), std::string::npos)
      << precise.err;

  EXPECT_EQ(say({"train", "pronounce", "--out", out, "--resume"}).status, failure);
  EXPECT_EQ(say({"train", "sing", "--out", out}).status, usage);
  EXPECT_EQ(say({"train", "pronounce", "--out", out, "--model", "perceptron"}).status, usage);
  EXPECT_EQ(say({"train", "pronounce", "--out", out, "--minutes", "-1"}).status, usage);
  EXPECT_EQ(say({"train", "pronounce"}).status, usage) << "nowhere to write";
  const Said sizes = say({"train", "pronounce", "--out", out, "--data", "/no/such.tsv", "--dim",
                          "63", "--heads", "4"});
  EXPECT_EQ(sizes.status, usage) << "before data are read: " << sizes.err;
  EXPECT_NE(sizes.err.find("heads that divide dim are accepted"), std::string::npos)
      << sizes.err;
  EXPECT_EQ(say({"pronounce"}).status, usage);
  EXPECT_EQ(say({"pronounce", "--model", scratch.path(), "word"}).status, failure);
}

TEST(TrainCommand, WrongValuesAreRefusedAtOnceWithWhatIsAccepted) {
  const tasks::Scratch scratch;
  const std::string data = scratch.write("pairs.tsv", word_pairs());
  const fs::path out = scratch.path() / "out";
  const std::vector<std::vector<std::string>> wrong{
      {"--rate", "inf", "at least 1e-12"},
      {"--rate", "-1", "at least 1e-12"},
      {"--rate", "nan", "at least 1e-12"},
      {"--clip", "inf", "at least 1e-12"},
      {"--warm-up", "0", "a whole number of at least 1"},
      {"--warm-up", "1.5", "a whole number of at least 1"},
      {"--average", "1", "from 0 to 0.999999"},
      {"--smoothing", "5", "from 0 to 1"},
      {"--self-critical", "2", "from 0 to 1"},
      {"--seed", "-1", "a whole number of at least 0"},
      {"--dim", "abc", "whole number"}};
  for (const auto& one : wrong) {
    const Said said = say(
        {"train", "pronounce", "--data", data, "--out", out, "--steps", "1", one[0], one[1]});
    EXPECT_EQ(said.status, usage) << one[0] << " " << one[1];
    EXPECT_NE(said.err.find(one[2]), std::string::npos) << said.err;
    EXPECT_EQ(said.err.find("reading"), std::string::npos) << "before any data";
  }
  EXPECT_FALSE(fs::exists(out));
}

TEST(TrainCommand, BeginsWithAModelOfItsOwnTask) {
  const tasks::Scratch scratch;
  const std::string data = scratch.write("pairs.tsv", word_pairs());
  ASSERT_EQ(setenv("ATTN_MODELS", ATTN_SHIPPED_MODELS, 1), 0);
  const Said said = say({"train", "pronounce", "--data", data, "--out", scratch.path() / "out",
                         "--begin", "translate", "--steps", "1"});
  unsetenv("ATTN_MODELS");
  EXPECT_EQ(said.status, failure);
  EXPECT_NE(said.err.find("is a model for translate, not for pronounce"), std::string::npos)
      << said.err;
}

TEST(Program, EveryFlagHasATwinInTheEnvironmentAndIsInTheHelpOnce) {
  const std::string help = say({"train", "--help"}).out;
  std::size_t flags = 0;
  for (const char* flag : {"--rate", "--minutes", "--score", "--data", "--resume"}) {
    const std::string text = "  " + std::string(flag) + " ";
    const auto first = help.find(text);
    ASSERT_NE(first, std::string::npos) << flag;
    EXPECT_EQ(help.find(text, first + 1), std::string::npos) << flag << " twice";
    ++flags;
  }
  EXPECT_EQ(flags, 5u);
  EXPECT_NE(help.find("ATTN_TRAIN_BATCH_TOKENS"), std::string::npos);
  ASSERT_EQ(setenv("ATTN_SCORE_JSON", "not a flag", 1), 0);
  EXPECT_NE(say({"score", "wer", "none", "none"}).status, success);
  unsetenv("ATTN_SCORE_JSON");
}

TEST(Program, CompletionKnowsEveryCommandInEveryShell) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Said script = say({"completion", shell});
    EXPECT_EQ(script.status, success);
    for (const char* word : {"translate", "train", "compare", "mechanisms"})
      EXPECT_NE(script.out.find(word), std::string::npos) << shell << " " << word;
    EXPECT_NE(script.out.find("local-p"), std::string::npos) << shell << ": values of --reach";
  }
  EXPECT_EQ(say({"completion", "tcsh"}).status, usage);
}

}  // namespace
}  // namespace attn::tools
