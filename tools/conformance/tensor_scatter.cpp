// ONNX TensorScatter, version 24: a cache write along any axis but the first.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/files/array.hpp"
#include "attn/files/printable.hpp"
#include "attn/kernels/cache.hpp"
#include "tools/conformance/array.hpp"
#include "tools/conformance/operators.hpp"
#include "tools/conformance/write_rows.hpp"

namespace attn::conformance {
namespace {

CacheMode mode_of(Attributes& attributes) {
  const std::string mode = attributes.text("mode").value_or("linear");
  if (mode == "linear") return CacheMode::linear;
  if (mode == "circular") return CacheMode::circular;
  fail<FileError>("attribute mode: ", files::in_quotes(mode), "; accepted: linear, circular");
}

/// [batch, what lies before the axis, the axis, what lies behind it].
std::array<std::int64_t, 4> folded(const Shape& shape, std::size_t axis) {
  std::array<std::int64_t, 4> result{shape[0], 1, shape[axis], 1};
  for (std::size_t i = 1; i < shape.size(); ++i)
    if (i != axis) result[i < axis ? 1 : 3] *= shape[i];
  return result;
}

}  // namespace

Results tensor_scatter(const Call& call) {
  call.check_counts(3, 1);
  Attributes attributes(call.node.attributes);
  const CacheMode mode = mode_of(attributes);
  const std::int64_t given = attributes.whole("axis").value_or(-2);
  attributes.check_all_known();

  const Array& past = call.input(0, "past_cache");
  const Array& update = call.input(1, "update");
  const auto rank = static_cast<std::int64_t>(past.shape.size());
  const std::int64_t axis = given < 0 ? given + rank : given;
  if (axis < 1 || axis >= rank)
    fail<FileError>("attribute axis: ", given, " of a cache of rank ", rank,
                    "; the first axis is the batch");
  if (update.dtype != past.dtype)
    fail<FileError>("past_cache and update hold ", name_of(past.dtype), " and ",
                    name_of(update.dtype));
  Shape expected = past.shape;
  if (update.shape.size() == past.shape.size())
    expected[static_cast<std::size_t>(axis)] = update.shape[static_cast<std::size_t>(axis)];
  if (update.shape != expected)
    fail<FileError>("update ", files::shape_text(update.shape), " does not fit past_cache ",
                    files::shape_text(past.shape));

  const std::int64_t batch = past.shape[0];
  std::vector<std::int64_t> starts(static_cast<std::size_t>(batch));
  if (const Array* indices = call.optional_input(2)) {
    if (indices->shape != Shape{batch})
      fail<FileError>("write_indices ", files::shape_text(indices->shape), "; expected [",
                      batch, "]");
    starts = to_ints(*indices, "write_indices");
  }
  Array present = past;
  const auto place = static_cast<std::size_t>(axis);
  write_rows(call.path, present, folded(past.shape, place), update, folded(update.shape, place),
             4, starts, mode);
  Results results;
  results.push_back(std::move(present));
  return results;
}

}  // namespace attn::conformance
