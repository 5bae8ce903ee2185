#include "attn/tasks/training_history.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "attn/maps/map.hpp"
#include "attn/tasks/scores.hpp"

namespace attn::tasks {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// A line every ten steps: some million steps.
constexpr std::uint64_t kMostLogBytes = std::uint64_t{64} << 20;
/// Of a sample; longer ones are cut.
constexpr std::size_t kMostTextBytes = 600;

double number_in(const json& line, const char* key, double otherwise) {
  const auto found = line.find(key);
  if (found == line.end() || !found->is_number()) return otherwise;
  const double value = found->get<double>();
  return std::isfinite(value) ? value : otherwise;
}

std::int64_t whole_in(const json& line, const char* key, std::int64_t otherwise) {
  const auto found = line.find(key);
  return found != line.end() && found->is_number_integer() ? found->get<std::int64_t>()
                                                           : otherwise;
}

std::string text_in(const json& line, const char* key) {
  const auto found = line.find(key);
  return found != line.end() && found->is_string()
             ? files::printable(found->get<std::string>(), kMostTextBytes)
             : "";
}

/// The one that chooses comes first; logs of older versions do not name it.
Scores scores_in(const json& line) {
  const json& development = line.at("development");
  std::string first = text_in(line, "metric");
  if (first.empty() && development.contains("ROUGE-L")) first = "ROUGE-L";
  Scores scores;
  for (const auto& [name, value] : development.items())
    if (value.is_number() && std::isfinite(value.get<double>()))
      scores.push_back({files::printable(name), value.get<double>()});
  std::stable_partition(scores.begin(), scores.end(),
                        [&](const NamedScore& one) { return one.name == first; });
  return scores;
}

void take_samples(const json& line, TrainingHistory& history) {
  const auto found = line.find("samples");
  if (found == line.end() || !found->is_array()) return;
  history.samples.clear();
  for (const json& sample : *found)
    if (sample.is_object())
      history.samples.push_back(
          {text_in(sample, "source"), text_in(sample, "answer"), text_in(sample, "target")});
}

void take_begin(const json& line, TrainingHistory& history) {
  history.end.clear();
  history.left = -1.0;
  history.budget = {};
  const auto budget = line.find("budget");
  if (budget == line.end() || !budget->is_object()) return;
  history.budget = {.steps = whole_in(*budget, "steps", 0),
                    .epochs = whole_in(*budget, "epochs", 0),
                    .minutes = number_in(*budget, "minutes", 0.0)};
}

/// False for what is no line of a log.
bool take(const json& line, TrainingHistory& history) {
  if (!line.is_object() || !line.contains("step") || !line["step"].is_number_integer())
    return false;
  history.step = line["step"].get<std::int64_t>();
  history.epoch = whole_in(line, "epoch", history.epoch);
  const std::string event = text_in(line, "event");
  if (event == "begin") {
    take_begin(line, history);
  } else if (event == "end") {
    history.end = text_in(line, "why");
  } else if (line.contains("loss")) {
    if (const double loss = number_in(line, "loss", NAN); std::isfinite(loss))
      history.losses.push_back({history.step, loss});
    history.tokens_per_second = number_in(line, "tokens_per_second", 0.0);
    history.seconds = number_in(line, "seconds", history.seconds);
    history.left = number_in(line, "left", -1.0);
  } else if (line.contains("development") && line["development"].is_object()) {
    if (Scores scores = scores_in(line); !scores.empty())
      history.evaluations.push_back({history.step, std::move(scores)});
    take_samples(line, history);
  } else {
    return false;
  }
  return true;
}

std::string name_of_run(const fs::path& log) {
  const fs::path folder = fs::absolute(log).lexically_normal().parent_path();
  return files::printable(folder.filename().string());
}

std::string score_title(std::string_view metric) {
  return std::string(metric) + " of the development part, %" +
         (counts_errors(metric) ? " (lower is better)" : " (higher is better)");
}

std::string two_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

/// An untrained model may write without end, and its errors are then many times what was asked
/// for; a hundred of a hundred is as bad as a picture has to tell.
double shown(const NamedScore& score) {
  return counts_errors(score.name) ? std::min(score.value, 100.0) : score.value;
}

void add_run(const TrainingHistory& run, bool alone, maps::Training& map) {
  const std::string prefix = alone ? "" : run.name + ": ";
  maps::Series loss{prefix + "loss", {}, {}, maps::Axis::left};
  for (const TrainingHistory::Loss& point : run.losses) {
    loss.x.push_back(static_cast<double>(point.step));
    loss.y.push_back(point.loss);
  }
  map.series.push_back(std::move(loss));
  const auto chosen = run.best();
  if (!chosen) return;
  const TrainingHistory::Evaluation& best = run.evaluations[*chosen];
  const NamedScore& top = best.scores.front();
  const std::string step = "step " + std::to_string(best.step);
  // Labels of several runs would stand on each other: the legend tells it there.
  maps::Series score{
      prefix + top.name + (alone ? "" : ", best " + two_digits(top.value) + " at " + step),
      {},
      {},
      maps::Axis::right};
  for (const TrainingHistory::Evaluation& one : run.evaluations) {
    score.x.push_back(static_cast<double>(one.step));
    score.y.push_back(shown(one.scores.front()));
  }
  map.series.push_back(std::move(score));
  map.marks.push_back(
      {alone ? "best: " + step + ", " + top.name + " " + two_digits(top.value) : "",
       static_cast<double>(best.step), shown(top), maps::Axis::right});
}

bool is_cut(std::span<const TrainingHistory> runs) {
  for (const TrainingHistory& run : runs)
    for (const TrainingHistory::Evaluation& one : run.evaluations)
      if (shown(one.scores.front()) < one.scores.front().value) return true;
  return false;
}

}  // namespace

std::optional<std::size_t> TrainingHistory::best() const {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < evaluations.size(); ++i)
    if (!found || better(evaluations[i].scores, evaluations[*found].scores)) found = i;
  return found;
}

TrainingHistory read_history(const fs::path& run) {
  std::error_code ignored;
  const bool is_file = fs::is_regular_file(run, ignored);
  const fs::path log = is_file ? run : run / "log.jsonl";
  TrainingHistory history;
  history.name = name_of_run(log);
  if (!is_file && !fs::exists(log, ignored)) return history;
  const std::string text = files::read_text(log, kMostLogBytes);
  history.begun = true;
  std::size_t read = 0;
  std::size_t all = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    if (line.empty()) continue;
    all += 1;
    if (take(json::parse(line, nullptr, /*allow_exceptions=*/false), history)) read += 1;
  }
  if (read == 0 && all > 1)
    fail<FileError>(files::path_text(log),
                    " is no log of a training: a line of one is such as "
                    "{\"step\": 10, \"loss\": 2.76}");
  return history;
}

maps::Training training_map(std::span<const TrainingHistory> runs) {
  maps::Training map;
  map.x_title = "steps";
  map.left_title = "loss, nats a token";
  const bool alone = runs.size() == 1;
  for (const TrainingHistory& run : runs) {
    map.title += (map.title.empty() ? "" : ", ") + run.name;
    add_run(run, alone, map);
  }
  std::string metric;
  for (const TrainingHistory& run : runs)
    if (!run.evaluations.empty() && metric.empty())
      metric = run.evaluations.front().scores.front().name;
  if (!metric.empty()) map.right_title = score_title(metric);
  map.caption =
      metric.empty()
          ? "Loss of the training batches."
          : "Loss of the training batches, left; " + metric +
                " on examples that are not learnt from, right. The ring is the best step, "
                "whose model is kept.";
  if (is_cut(runs)) map.caption += " Errors above 100 % are drawn at 100.";
  return map;
}

}  // namespace attn::tasks
