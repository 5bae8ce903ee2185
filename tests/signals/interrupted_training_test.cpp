// A training that gets SIGINT at any moment saves and resumes to the same losses.

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "signals/child.hpp"

namespace attn::test {
namespace {

namespace fs = std::filesystem;

/// A folder that is gone with the test.
class Folder {
 public:
  Folder() : path_(fs::path(testing::TempDir()) / "attn_signals_XXXXXX") {
    std::string name = path_.string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for the test");
    path_ = name;
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

int number_from(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

/// Dates in two writings: some 1,800 words to choose from, so that most of a step is products.
void write_dates(const fs::path& file) {
  std::ofstream out(file);
  const char* const months[] = {"January",   "February", "March",    "April",
                                "May",       "June",     "July",     "August",
                                "September", "October",  "November", "December"};
  for (int year = 1990; year < 1996; ++year)
    for (int month = 1; month <= 12; ++month)
      for (int day = 1; day <= 26; ++day)
        out << day << ' ' << months[month - 1] << ' ' << year << '\t' << year << '-' << month
            << '-' << day << '\n';
}

constexpr int kSteps = 120;

/// The training of this test; --resume goes on with what lies in the folder.
std::vector<std::string> training(const fs::path& data, const fs::path& folder) {
  const char* program = std::getenv("ATTN_PROGRAM");
  std::vector<std::string> command{program == nullptr ? ATTN_PROGRAM : program,
                                   "train",
                                   "pronounce",
                                   "--out",
                                   folder,
                                   "--steps",
                                   std::to_string(kSteps)};
  if (fs::exists(folder / "checkpoint.safetensors")) {
    command.emplace_back("--resume");
    return command;
  }
  const std::vector<std::string> first{"--data",
                                       data,
                                       "--dim",
                                       "64",
                                       "--heads",
                                       "4",
                                       "--feed-forward",
                                       "256",
                                       "--encoder-layers",
                                       "1",
                                       "--decoder-layers",
                                       "1",
                                       "--batch-tokens",
                                       "1500",
                                       "--evaluate-every",
                                       "1000",
                                       "--threads",
                                       "2"};
  command.insert(command.end(), first.begin(), first.end());
  return command;
}

/// The losses of a run in the order of its steps.
std::vector<double> losses(const fs::path& folder) {
  std::vector<double> result;
  std::ifstream log(folder / "log.jsonl");
  for (std::string line; std::getline(log, line);) {
    const auto json = nlohmann::json::parse(line);
    if (json.contains("loss")) result.push_back(json["loss"].get<double>());
  }
  return result;
}

constexpr std::chrono::seconds kLongest{180};

void run_to_the_end(const fs::path& data, const fs::path& folder, const fs::path& log) {
  Child child(training(data, folder), log);
  ASSERT_EQ(child.end(kLongest), "exit 0") << child.printed();
}

TEST(InterruptedTraining, SavesAtAnyMomentAndGoesOnToTheSameLosses) {
  const int signals = number_from("ATTN_SIGNALS", 20);
  const auto seed = static_cast<std::uint32_t>(
      number_from("ATTN_SIGNALS_SEED", static_cast<int>(std::random_device()() >> 1)));
  SCOPED_TRACE("ATTN_SIGNALS_SEED=" + std::to_string(seed));
  std::mt19937 random(seed);

  const Folder scratch;
  const fs::path data = scratch.path() / "dates.tsv";
  const fs::path straight = scratch.path() / "straight";
  const fs::path interrupted = scratch.path() / "interrupted";
  const fs::path log = scratch.path() / "log";
  write_dates(data);
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_NO_FATAL_FAILURE(run_to_the_end(data, straight, log));
  const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - begin;
  const std::vector<double> want = losses(straight);
  ASSERT_EQ(want.size(), static_cast<std::size_t>(kSteps / 10));
  // A run is interrupted a few times before it ends.
  const int most_ms = static_cast<int>(std::clamp(whole.count() * 300.0, 20.0, 2000.0));

  int in_the_middle = 0;
  for (int sent = 0; sent < signals; ++sent) {
    SCOPED_TRACE("signal " + std::to_string(sent + 1) + " of " + std::to_string(signals));
    const std::size_t before = losses(interrupted).size();
    Child child(training(data, interrupted), log);
    ASSERT_TRUE(child.says("pairs to learn", kLongest)) << child.printed();
    const std::chrono::microseconds moment(random() % (1000 * most_ms));
    std::this_thread::sleep_for(moment);
    child.send(SIGINT);
    ASSERT_EQ(child.end(kLongest), "exit 0")
        << moment.count() << " us after it began: " << child.printed();
    const std::vector<double> got = losses(interrupted);
    ASSERT_LE(got.size(), want.size());
    ASSERT_TRUE(std::equal(got.begin(), got.end(), want.begin()));
    if (got.size() < want.size()) {
      in_the_middle += got.size() > before ? 1 : 0;
      continue;
    }
    fs::remove_all(interrupted);
  }
  // Else nothing was shown: they would all have come before the first steps or after the last.
  EXPECT_GE(in_the_middle, signals / 5);
  if (!fs::exists(interrupted)) return;
  ASSERT_NO_FATAL_FAILURE(run_to_the_end(data, interrupted, log));
  EXPECT_EQ(losses(interrupted), want);
}

/// Who cannot wait until the step ends and the checkpoint is written asks twice.
TEST(InterruptedTraining, ASecondSignalEndsItAtOnce) {
  const Folder scratch;
  const fs::path data = scratch.path() / "dates.tsv";
  write_dates(data);
  for (const int second : {SIGINT, SIGTERM}) {
    // A step of seconds: the first signal alone would not end it before the second one comes.
    const fs::path folder = scratch.path() / std::to_string(second);
    Child child({training(data, folder).front(), "train", "pronounce", "--out", folder,
                 "--data", data, "--steps", "1000", "--dim", "512", "--feed-forward", "2048",
                 "--batch-tokens", "30000", "--threads", "1"},
                scratch.path() / "log");
    ASSERT_TRUE(child.says("pairs to learn", kLongest)) << child.printed();
    child.send(SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    child.send(second);
    EXPECT_EQ(child.end(kLongest), "signal " + std::to_string(second)) << child.printed();
  }
}

}  // namespace
}  // namespace attn::test
