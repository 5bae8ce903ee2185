/// Lessons: what the tutorials on attention say, computed: tables of numbers, what they show in
/// words, and a figure.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdio>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/maps/map.hpp"
#include "attn/tensor/shape.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::tools {

struct LessonRow {
  std::string name;
  std::vector<double> numbers;
};

struct LessonTable {
  std::string title;
  std::vector<std::string> columns;  ///< the names' first, then one for each number
  std::vector<LessonRow> rows;

  /// The numbers of the row of that name; an error where there is none.
  const std::vector<double>& row(std::string_view name) const;
};

struct LessonResult {
  std::vector<LessonTable> tables;
  std::vector<std::string> remarks;  ///< what the numbers show, a sentence each
  maps::Map figure;
};

struct Lesson {
  std::string_view name;
  std::string_view title;
  std::string_view page;  ///< in docs/lessons
  LessonResult (*run)();
};

/// In the order of docs/lessons.
std::span<const Lesson> lessons();

// Each is one file. Vectors are chosen by hand or drawn from a fixed seed; everything else is
// computed by the library, in double.
LessonResult cues_lesson();
LessonResult addressing_lesson();
LessonResult scores_lesson();
LessonResult scale_lesson();
LessonResult equal_weights_lesson();
LessonResult order_lesson();
LessonResult heads_lesson();
LessonResult cost_lesson();
LessonResult composite_lesson();

void print_lesson(const LessonResult& result, std::FILE* out);
nlohmann::json json_of(const LessonResult& result);

// For lessons.

/// Numbers as a tensor of doubles.
Tensor of_numbers(std::initializer_list<double> numbers, const Shape& shape);
/// The last two axes of weights whose others have extent 1.
maps::Matrix matrix_of(const Tensor& weights);
/// Row `row` of the same.
std::vector<double> numbers_of_row(const Tensor& weights, std::size_t row);
/// All rows of a matrix under names.
std::vector<LessonRow> rows_of(const std::vector<std::string>& names, const Tensor& weights);

}  // namespace attn::tools
