#include "tools/serve/watch_api.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/training_history.hpp"
#include "attn/tasks/training_run.hpp"
#include "tools/serve/message.hpp"
#include "tools/serve/options.hpp"
#include "tools/serve/service.hpp"

namespace attn::serve {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using tasks::TrainingHistory;

/// More points than a page has pixels tell nothing.
constexpr std::size_t kMostPoints = 600;
/// A log that was quiet for so long belongs to a run that was killed, or that evaluates on very
/// much.
constexpr double kQuietSeconds = 90.0;

/// Seconds since the file was written; negative where that is unknown.
double age_of(const fs::path& file) {
  std::error_code error;
  const auto written = fs::last_write_time(file, error);
  if (error) return -1.0;
  const std::chrono::duration<double> age = fs::file_time_type::clock::now() - written;
  return std::max(0.0, age.count());
}

double tenths(double value) {
  return std::round(10.0 * value) / 10.0;
}

json losses_json(const std::vector<TrainingHistory::Loss>& losses) {
  const std::size_t points = std::min(losses.size(), kMostPoints);
  json steps = json::array();
  json values = json::array();
  for (std::size_t i = 0; i < points; ++i) {
    const std::size_t begin = i * losses.size() / points;
    const std::size_t end = (i + 1) * losses.size() / points;
    double sum = 0.0;
    for (std::size_t j = begin; j < end; ++j) sum += losses[j].loss;
    steps.push_back(losses[end - 1].step);
    values.push_back(sum / static_cast<double>(end - begin));
  }
  return {{"steps", std::move(steps)}, {"values", std::move(values)}};
}

json evaluations_json(const TrainingHistory& history) {
  json all = json::array();
  const std::size_t count = history.evaluations.size();
  const std::size_t points = std::min(count, kMostPoints);
  for (std::size_t i = 0; i < points; ++i) {
    const auto& one = history.evaluations[(i + 1) * count / points - 1];
    all.push_back({{"step", one.step}, {"scores", tasks::json_of(one.scores)}});
  }
  return all;
}

json budget_json(const tasks::Budget& budget) {
  json bounds = json::object();
  if (budget.steps > 0) bounds["steps"] = budget.steps;
  if (budget.epochs > 0) bounds["epochs"] = budget.epochs;
  if (budget.minutes > 0.0) bounds["minutes"] = budget.minutes;
  return bounds;
}

std::string text_of(const json& object, const char* key) {
  const bool has = object.is_object() && object.contains(key) && object[key].is_string();
  return has ? files::printable(object[key].get<std::string>()) : "";
}

/// What is trained, as far as training.json tells it. Of a file only its name.
void add_request(const fs::path& folder, json& run) {
  std::error_code ignored;
  if (!fs::is_regular_file(folder / "training.json", ignored)) return;
  const json request = files::read_json(folder / "training.json");
  run["task"] = text_of(request, "task");
  if (request.is_object() && request.contains("model"))
    run["model"] = text_of(request["model"], "kind");
  run["data"] = fs::path(text_of(request, "data")).filename().string();
}

const char* state_of(const TrainingHistory& history, double age) {
  if (!history.begun) return "waiting";
  if (!history.end.empty()) return "ended";
  return age >= 0.0 && age > kQuietSeconds ? "quiet" : "running";
}

json described(const fs::path& folder) {
  const TrainingHistory history = tasks::read_history(folder);
  const double age = age_of(folder / "log.jsonl");
  json run{{"name", history.name},
           {"state", state_of(history, age)},
           {"step", history.step},
           {"epoch", history.epoch},
           {"budget", budget_json(history.budget)},
           {"tokens_per_second", history.tokens_per_second},
           {"seconds", history.seconds},
           {"losses", losses_json(history.losses)},
           {"evaluations", evaluations_json(history)},
           {"samples", json::array()}};
  add_request(folder, run);
  if (!history.end.empty()) run["end"] = history.end;
  if (history.begun && age >= 0.0) run["age"] = tenths(age);
  if (history.end.empty() && history.left >= 0.0)
    run["left"] = tenths(std::max(0.0, history.left - std::max(0.0, age)));
  if (const auto best = history.best()) {
    const tasks::NamedScore& score = history.evaluations[*best].scores.front();
    run["metric"] = {{"name", score.name},
                     {"lower_is_better", tasks::counts_errors(score.name)}};
    run["best"] = {{"step", history.evaluations[*best].step}, {"value", score.value}};
  }
  for (const TrainingHistory::Sample& sample : history.samples)
    run["samples"].push_back(
        {{"source", sample.source}, {"answer", sample.answer}, {"target", sample.target}});
  return run;
}

}  // namespace

json run_json(const fs::path& folder) {
  try {
    return described(folder);
  } catch (const std::exception&) {
    // The message names the path, which is the server's own business.
    return {{"name", files::printable(folder.filename().string())},
            {"state", "unreadable"},
            {"error", "its log or its training.json cannot be read"}};
  }
}

Plan watch_runs(const Service& service, const Request&) {
  return Plan([&service] {
    json runs = json::array();
    for (const fs::path& folder : service.options().watch) runs.push_back(run_json(folder));
    return json_response({{"runs", std::move(runs)}});
  });
}

}  // namespace attn::serve
