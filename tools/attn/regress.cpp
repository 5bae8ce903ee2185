// attn regress: kernel regression through points, with its weights.

// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/array.hpp"
#include "attn/files/atomic_write.hpp"
#include "attn/files/npy.hpp"
#include "attn/maps/map.hpp"
#include "attn/tasks/fetch/cache.hpp"
#include "attn/tasks/fetch/npm.hpp"
#include "tools/attn/checks.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/csv.hpp"
#include "tools/attn/device.hpp"
#include "tools/attn/draw_map.hpp"
#include "tools/attn/lessons/lesson.hpp"
#include "tools/attn/lessons/tutorial_regression.hpp"
#include "tools/attn/progress.hpp"
#include "tools/attn/regress_map.hpp"
#include "tools/attn/regression.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;

/// From here on it takes long enough that a user should hear of it.
constexpr std::size_t kManyPoints = 5000;

constexpr const char* kTutorial = "tutorial";

struct RegressOptions {
  std::string data = "co2";
  std::string x;
  std::string y;
  std::string out;
  std::string map;
  bool show = false;
  RegressionOptions regression;
  bool json = false;
  std::string heat;
  TutorialOptions tutorial;  ///< the same flags, where the data is the tutorial's
};

struct Series {
  std::string name;
  std::string x_name;
  std::string y_name;
  Points points;
  std::size_t dropped = 0;  ///< rows without a number
};

/// Whether most rows of a column are numbers or dates.
bool is_numeric(const std::vector<std::string>& column) {
  double number = 0.0;
  const auto good = std::count_if(column.begin(), column.end(), [&](const std::string& text) {
    return number_of(text, number);
  });
  return !column.empty() && 2 * static_cast<std::size_t>(good) > column.size();
}

/// The column asked for, or the first numeric one that is not `taken`.
std::size_t choose(const Csv& csv, const std::string& asked, std::size_t taken) {
  if (!asked.empty()) return csv.find(asked);
  for (std::size_t i = 0; i < csv.names.size(); ++i)
    if (i != taken && is_numeric(csv.columns[i])) return i;
  fail("there are not two columns of numbers; name them with --x and --y");
}

Series series_of(const Csv& csv, const std::string& name, const std::string& x,
                 const std::string& y) {
  const std::size_t none = csv.names.size();
  // A named y is not to be taken for x.
  const std::size_t x_column = choose(csv, x, y.empty() ? none : csv.find(y));
  const std::size_t y_column = choose(csv, y, x_column);
  Series series{name, csv.names[x_column], csv.names[y_column], {}, 0};
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    double at = 0.0;
    double value = 0.0;
    if (number_of(csv.columns[x_column][row], at) &&
        number_of(csv.columns[y_column][row], value)) {
      series.points.x.push_back(at);
      series.points.y.push_back(value);
    } else {
      ++series.dropped;
    }
  }
  return series;
}

Series load(const RegressOptions& options, const Streams& streams) {
  const std::string package = "vega-datasets@2.8.1";
  if (options.data == "co2")
    return series_of(
        read_csv(tasks::fetched({package, "data/co2-concentration.csv"}, progress(streams))),
        "Mauna Loa CO2", options.x.empty() ? "Date" : options.x,
        options.y.empty() ? "CO2" : options.y);
  if (options.data == "weather")
    return series_of(
        read_csv(tasks::fetched({package, "data/seattle-weather.csv"}, progress(streams))),
        "Seattle weather", options.x.empty() ? "date" : options.x,
        options.y.empty() ? "temp_max" : options.y);
  return series_of(read_csv(options.data), fs::path(options.data).filename().string(),
                   options.x, options.y);
}

void write_text(const fs::path& path, const std::string& text) {
  files::AtomicFile file(path);
  file.write(std::as_bytes(std::span(text)));
  file.commit();
}

/// predictions.csv, losses.csv, weights.npy.
void write_results(const fs::path& folder, const Regression& result) {
  tasks::make_folder(folder);
  std::string text = "x,y";
  for (const Prediction& method : result.methods) text += "," + method.name;
  text += "\n";
  for (std::size_t i = 0; i < result.held_out.x.size(); ++i) {
    text += fmt::format("{:.10g},{:.10g}", result.held_out.x[i], result.held_out.y[i]);
    for (const Prediction& method : result.methods)
      text += fmt::format(",{:.10g}", method.values[i]);
    text += "\n";
  }
  write_text(folder / "predictions.csv", text);
  text = "epoch,loss,width\n";  // epoch 0: the fixed width
  for (std::size_t i = 0; i < result.epochs.size(); ++i)
    text +=
        fmt::format("{},{:.10g},{:.10g}\n", i, result.epochs[i].loss, result.epochs[i].width);
  write_text(folder / "losses.csv", text);
  files::write_npy(folder / "weights.npy",
                   files::array_view("weights",
                                     {static_cast<std::int64_t>(result.held_out.x.size()),
                                      static_cast<std::int64_t>(result.train.x.size())},
                                     std::span(result.weights)));
}

void print_result(const Series& series, const Regression& result, const Streams& streams) {
  fmt::print(
      streams.out, "{}: {} by {}, {} points to learn from, {} held out{}\n\n", series.name,
      series.y_name, series.x_name, result.train.x.size(), result.held_out.x.size(),
      series.dropped > 0 ? fmt::format(" ({} rows without numbers left out)", series.dropped)
                         : "");
  fmt::print(streams.out, "  {:<34} {:>12} {:>12}\n", "held-out error of", "RMSE", "MAE");
  for (const Prediction& method : result.methods)
    fmt::print(streams.out, "  {:<34} {:>12.5g} {:>12.5g}\n", method.title, method.rmse,
               method.mae);
  fmt::print(
      streams.out,
      "\nThe kernel's width began at {:.4g} and was learnt to be {:.4g} (in units of {}) "
      "over {} epochs;\nthe leave-one-out loss fell from {:.5g} to {:.5g}.\n",
      result.first_width, result.last_width, series.x_name, result.epochs.size() - 1,
      result.epochs.front().loss, result.epochs.back().loss);
}

/// Numbers, what they show, and the figure, as lessons have them.
int regress_tutorial(const RegressOptions& options, const Streams& streams) {
  const TutorialHeat heat = options.heat.empty()      ? TutorialHeat::none
                            : options.heat == "fixed" ? TutorialHeat::fixed
                                                      : TutorialHeat::learnt;
  const LessonResult result = tutorial_regression(options.tutorial, heat);
  if (options.json) {
    fmt::print(streams.out, "{}\n", json_of(result).dump(2));
  } else {
    print_lesson(result, streams.out);
  }
  if (options.show) show_map(result.figure, options.json ? streams.err : streams.out);
  if (!options.map.empty()) {
    write_map(result.figure, options.map);
    fmt::print(streams.err, "Written: {}\n", options.map);
  }
  return success;
}

int regress(const RegressOptions& options, const Streams& streams) {
  if (!options.map.empty()) check_map_output(options.map);
  if (options.data == kTutorial) return regress_tutorial(options, streams);
  check_device(options.regression.device, "attn regress");
  const Series series = load(options, streams);
  const std::size_t count = series.points.x.size();
  if (count > kManyPoints && count <= kMostPoints)
    progress(streams)(
        fmt::format("weighing {} points against each other, {} times; this takes a while",
                    count, options.regression.epochs));
  const Regression result = run_regression(series.points, options.regression);
  if (options.json) {
    fmt::print(streams.out, "{}\n", json_of(result).dump(2));
  } else {
    print_result(series, result, streams);
  }
  if (!options.out.empty()) {
    write_results(options.out, result);
    fmt::print(options.json ? streams.err : streams.out,
               "Written to {}: predictions.csv, losses.csv, weights.npy (held-out points by "
               "points).\n",
               options.out);
  }
  if (options.show || !options.map.empty()) {
    const maps::Map map = map_of(result, {series.name, series.x_name, series.y_name});
    if (options.show) show_map(map, options.json ? streams.err : streams.out);
    if (!options.map.empty()) {
      write_map(map, options.map);
      fmt::print(streams.err, "Written: {}\n", options.map);
    }
  }
  return success;
}

}  // namespace

void add_regress(CLI::App& app, Action& action) {
  auto options = std::make_shared<RegressOptions>();
  CLI::App* command = app.add_subcommand(
      "regress", "Kernel regression (Nadaraya-Watson): attention on a series of numbers");
  command->footer(
      "\nA prediction is an average of the known points, weighted by how near they are: "
      "queries\n"
      "are the places asked for, keys the known places, values what was measured there. The\n"
      "width of the kernel is fixed by a rule of thumb, or learnt by leaving each point out "
      "in\n"
      "turn. Some points are held out and every method is scored on them. Each point is "
      "weighed\n"
      "against all others, so at most 20,000 are taken.\n\n"
      "Data: co2 (Mauna Loa, monthly) and weather (Seattle, daily) are fetched from the npm\n"
      "package vega-datasets; tutorial makes the points that textbooks use (2 sin x + x^0.8 "
      "and\n"
      "noise) and learns for five epochs at rate 0.5, as they do; anything else is a CSV file "
      "of\n"
      "yours. Dates count in years.\n\n"
      "Examples:\n"
      "    attn regress co2 --out results\n"
      "    attn regress co2 --map weights.svg --show\n"
      "    attn regress tutorial --map curve.svg\n"
      "    attn regress tutorial --rate 0.02 --epochs 50 --heat learnt --map weights.png\n"
      "    attn regress weather --y wind\n"
      "    attn regress sales.csv --x week --y revenue --test 0.1");
  command
      ->add_option("data", options->data, "co2, weather, tutorial, or a CSV file; default co2")
      ->type_name("DATA");
  command->add_option("--x", options->x, "Column of x: name, or number from 1");
  command->add_option("--y", options->y, "Column of y");
  command
      ->add_option("--out", options->out,
                   "Write predictions, losses and weights into this folder")
      ->type_name("DIR");
  command
      ->add_option("--map", options->map,
                   "Draw points, curves and weights: .svg, .pdf, .png, or .json")
      ->type_name("FILE")
      ->check(map_file_problem);
  command->add_flag("--show", options->show, "Print the weights as a heat map");
  RegressionOptions& how = options->regression;
  command->add_option("--test", how.test, "Share of points held out; default 0.2")
      ->check(between(0.01, 0.9));
  command->add_option("--epochs", how.epochs, "Training steps; default 150")
      ->check(CLI::Range(1, 100000));
  command
      ->add_option("--rate", how.rate,
                   "Learning rate for the logarithm of the width; default 0.05")
      ->check(above(0));
  command->add_option("--width", how.width, "Initial width, in units of x")->check(above(0));
  command->add_option("--seed", how.seed, "Random seed for the held-out points; default 1")
      ->check(at_least(0));
  add_device_flag(*command, how.device, "Device that computes the regression");
  command->add_flag("--json", options->json, "Print JSON");
  command
      ->add_option("--heat", options->heat,
                   "Draw the weights of the tutorial's kernel as a heat map: fixed or learnt")
      ->check(CLI::IsMember({"fixed", "learnt"}));
  command->callback([options, command, &action] {
    const auto given = [&](const char* flag) { return command->count(flag) > 0; };
    const bool tutorial = options->data == kTutorial;
    if (!tutorial && given("--heat"))
      throw CLI::ValidationError("--heat", "it is for attn regress tutorial alone");
    if (tutorial) {
      for (const char* flag : {"--x", "--y", "--out", "--test", "--device"})
        if (given(flag))
          throw CLI::ValidationError(flag,
                                     "attn regress tutorial makes its own points, on the "
                                     "CPU, and holds none out");
      TutorialOptions& lesson = options->tutorial;
      const RegressionOptions& flags = options->regression;
      if (given("--epochs")) lesson.epochs = flags.epochs;
      if (given("--rate")) lesson.rate = flags.rate;
      if (given("--width")) lesson.width = 1.0 / flags.width;
      if (given("--seed")) lesson.seed = flags.seed;
    }
    action = [options](const Streams& streams) { return regress(*options, streams); };
  });
}

}  // namespace attn::tools
