#include "nn/state_bytes.hpp"

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/files/array.hpp"
#include "attn/files/safetensors.hpp"
#include "attn/nn/state.hpp"
#include "attn/tensor/from_array.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/op.hpp"

namespace attn::nn {
namespace {

constexpr float kMost = 127.0F;
constexpr std::int64_t kLeastNumbers = 1024;  ///< a smaller one saves nothing worth an error
constexpr int kTries = 32;

/// The sum of squared errors of a row at this scale.
double error_of(std::span<const float> row, float scale) {
  double sum = 0;
  for (const float value : row) {
    const float whole = std::clamp(std::nearbyint(value / scale), -kMost, kMost);
    const double off = value - whole * scale;
    sum += off * off;
  }
  return sum;
}

/// The scale of least error: cutting a far value off can make all others finer.
float scale_of(std::span<const float> row) {
  float largest = 0;
  for (const float value : row) largest = std::max(largest, std::abs(value));
  if (!(largest > 0)) return 1.0F;
  float best = largest / kMost;
  double least = error_of(row, best);
  for (int i = 1; i < kTries; ++i) {
    const float scale = largest / kMost * (1.0F - 0.5F * static_cast<float>(i) / kTries);
    const double error = error_of(row, scale);
    if (error < least) {
      least = error;
      best = scale;
    }
  }
  return best;
}

struct Compressed {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<std::int8_t> wholes;
  std::vector<std::int64_t> rows;
  std::vector<float> scales;
};

Compressed compressed(const files::ArrayView& array) {
  const std::vector<float> values = from_array(array).to(DType::f32).to_vector<float>();
  const std::int64_t rows = array.shape.front();
  const std::size_t width = values.size() / static_cast<std::size_t>(rows);
  Compressed result{array.name, array.shape, {}, {rows}, {}};
  result.wholes.reserve(values.size());
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto row = std::span(values).subspan(static_cast<std::size_t>(r) * width, width);
    for (const float value : row)
      if (!std::isfinite(value))
        fail("attn::nn::compress_state: ", array.name, " holds a number that is not finite");
    const float scale = scale_of(row);
    result.scales.push_back(scale);
    for (const float value : row)
      result.wholes.push_back(
          static_cast<std::int8_t>(std::clamp(std::nearbyint(value / scale), -kMost, kMost)));
  }
  return result;
}

bool is_worth_it(const files::ArrayView& array) {
  if (!op::is_real(array.dtype) || array.shape.size() < 2) return false;
  std::int64_t count = 1;
  for (const std::int64_t extent : array.shape) count *= extent;
  return count >= kLeastNumbers;
}

}  // namespace

std::string scale_name(const std::string& name) {
  return name + ".scale";
}

bool is_compressed(const files::Safetensors& file, const files::ArrayView& array) {
  if (array.dtype != DType::i8 || array.shape.size() < 2) return false;
  const files::ArrayView* scale = file.find(scale_name(array.name));
  return scale != nullptr && scale->dtype == DType::f32 &&
         scale->shape == std::vector<std::int64_t>{array.shape.front()};
}

Tensor expanded(const files::Safetensors& file, const files::ArrayView& array) {
  const auto wholes = file.view<std::int8_t>(array.name);
  const auto scales = file.view<float>(scale_name(array.name));
  std::vector<float> values;
  values.reserve(wholes.size());
  const std::size_t width = scales.empty() ? 0 : wholes.size() / scales.size();
  for (std::size_t i = 0; i < wholes.size(); ++i)
    values.push_back(
        static_cast<float>(BFloat16(static_cast<float>(wholes[i]) * scales[i / width])));
  return Tensor::from(values, Shape(std::span(array.shape)));
}

void compress_state(const std::filesystem::path& from, const std::filesystem::path& to) {
  const files::Safetensors file = files::read_safetensors(from);
  std::vector<Compressed> matrices;
  std::vector<files::ArrayView> arrays;
  for (const files::ArrayView& array : file.tensors()) {
    if (is_worth_it(array))
      matrices.push_back(compressed(array));
    else
      arrays.push_back(array);
  }
  if (matrices.empty())
    fail("attn::nn::compress_state: ", from.string(),
         " holds no matrix of real numbers to compress");
  for (const Compressed& matrix : matrices) {
    arrays.push_back(files::array_view(matrix.name, matrix.shape, matrix.wholes));
    arrays.push_back(files::array_view(scale_name(matrix.name), matrix.rows, matrix.scales));
  }
  files::write_safetensors(to, arrays, file.metadata());
}

}  // namespace attn::nn
