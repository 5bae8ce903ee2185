#include "tools/attn/lessons/lesson.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/maps/map.hpp"
#include "attn/tensor/tensor.hpp"
#include "tools/attn/wrap.hpp"

namespace attn::tools {
namespace {

/// Four digits say enough, whole numbers all of theirs; what is left of rounding is 0.
std::string digits_of(double number) {
  constexpr double kRounding = 5e-7;
  constexpr double kLargestWhole = 1e15;
  if (std::fabs(number) < kRounding) return "0";
  if (number == std::round(number) && std::fabs(number) < kLargestWhole)
    return fmt::format("{:.0f}", number);
  return fmt::format("{:.4g}", number);
}

void print_table(const LessonTable& table, std::FILE* out) {
  std::vector<std::size_t> widths;
  // Few, and their number is not known before.
  // NOLINTNEXTLINE(performance-inefficient-vector-operation)
  for (const std::string& column : table.columns) widths.push_back(column.size());
  for (const LessonRow& row : table.rows) {
    widths[0] = std::max(widths[0], row.name.size());
    for (std::size_t i = 0; i < row.numbers.size(); ++i)
      widths[i + 1] = std::max(widths[i + 1], digits_of(row.numbers[i]).size());
  }
  fmt::print(out, "{}\n\n  {:<{}}", table.title, table.columns[0], widths[0]);
  for (std::size_t i = 1; i < table.columns.size(); ++i)
    fmt::print(out, "  {:>{}}", table.columns[i], widths[i]);
  fmt::print(out, "\n");
  for (const LessonRow& row : table.rows) {
    fmt::print(out, "  {:<{}}", row.name, widths[0]);
    for (std::size_t i = 0; i < row.numbers.size(); ++i)
      fmt::print(out, "  {:>{}}", digits_of(row.numbers[i]), widths[i + 1]);
    fmt::print(out, "\n");
  }
  fmt::print(out, "\n");
}

}  // namespace

const std::vector<double>& LessonTable::row(std::string_view name) const {
  for (const LessonRow& one : rows)
    if (one.name == name) return one.numbers;
  fail("attn::tools::LessonTable: \"", title, "\" has no row \"", name, "\"");
}

std::span<const Lesson> lessons() {
  static constexpr std::array kAll{
      Lesson{"cues", "Cues: average, what stands out, what is wanted", "02-cues.md",
             cues_lesson},
      Lesson{"addressing", "Soft addressing: a memory that is read between its keys",
             "03-queries-keys-values.md", addressing_lesson},
      Lesson{"scores", "Scores: six ways to compare a query with keys", "04-scores.md",
             scores_lesson},
      Lesson{"scale", "Why scores are divided by the square root of d", "05-scale.md",
             scale_lesson},
      Lesson{"equal-weights", "Translation with equal weights, and with attention",
             "06-translation.md", equal_weights_lesson},
      Lesson{"order", "Without positions a sentence is a bag of words", "07-order.md",
             order_lesson},
      Lesson{"heads", "Several heads look at several places at once", "08-heads.md",
             heads_lesson},
      Lesson{"cost", "Convolution, recurrence, self-attention: what each costs", "09-cost.md",
             cost_lesson},
      Lesson{"composite", "Non-local blocks, positions and a Transformer layer as one map",
             "10-transformer.md", composite_lesson},
  };
  return kAll;
}

void print_lesson(const LessonResult& result, std::FILE* out) {
  for (const LessonTable& table : result.tables) print_table(table, out);
  for (const std::string& remark : result.remarks)
    fmt::print(out, "{}\n", wrap(remark, "", "", 96));
}

nlohmann::json json_of(const LessonResult& result) {
  nlohmann::json tables = nlohmann::json::array();
  for (const LessonTable& table : result.tables) {
    nlohmann::json rows = nlohmann::json::array();
    for (const LessonRow& row : table.rows)
      rows.push_back({{"name", row.name}, {"numbers", row.numbers}});
    tables.push_back({{"title", table.title}, {"columns", table.columns}, {"rows", rows}});
  }
  return {{"tables", tables}, {"remarks", result.remarks}};
}

Tensor of_numbers(std::initializer_list<double> numbers, const Shape& shape) {
  return Tensor::from(std::vector<double>(numbers), shape);
}

maps::Matrix matrix_of(const Tensor& weights) {
  const std::vector<float> values = weights.to(DType::f32).to_vector<float>();
  return {static_cast<std::size_t>(weights.size(-2)),
          static_cast<std::size_t>(weights.size(-1)), values};
}

std::vector<double> numbers_of_row(const Tensor& weights, std::size_t row) {
  const std::vector<double> all = weights.to(DType::f64).to_vector<double>();
  const std::int64_t columns = weights.size(-1);
  const auto begin = all.begin() + static_cast<std::int64_t>(row) * columns;
  return {begin, begin + columns};
}

std::vector<LessonRow> rows_of(const std::vector<std::string>& names, const Tensor& weights) {
  std::vector<LessonRow> rows;
  for (std::size_t i = 0; i < names.size(); ++i)
    // Few, and their number is not known before.
    // NOLINTNEXTLINE(performance-inefficient-vector-operation)
    rows.push_back({names[i], numbers_of_row(weights, i)});
  return rows;
}

}  // namespace attn::tools
