#include "attn/tensor/shape.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "attn/core/error.hpp"

namespace attn {

Shape::Shape(std::initializer_list<std::int64_t> extents)
    : Shape(std::span<const std::int64_t>(extents.begin(), extents.size())) {}

Shape::Shape(std::span<const std::int64_t> extents) {
  if (extents.size() > kMaxRank)
    fail("attn::Shape: ", extents.size(), " axes; at most ", kMaxRank, " are accepted");
  for (const std::int64_t extent : extents) push_back(extent);
}

Shape Shape::filled(int rank, std::int64_t extent) {
  Shape shape;
  for (int axis = 0; axis < rank; ++axis) shape.push_back(extent);
  return shape;
}

std::size_t Shape::place(int axis) const {
  return static_cast<std::size_t>(normal_axis(axis, rank_, "attn::Shape"));
}

std::int64_t Shape::numel() const {
  std::int64_t product = 1;
  for (const std::int64_t extent : *this) product *= extent;
  return product;
}

void Shape::push_back(std::int64_t extent) {
  if (rank_ == kMaxRank)
    fail("attn::Shape: more than ", kMaxRank, " axes; at most ", kMaxRank, " are accepted");
  extents_[static_cast<std::size_t>(rank_++)] = extent;
}

void Shape::insert(int axis, std::int64_t extent) {
  axis = normal_axis(axis, rank_ + 1, "attn::Shape");
  push_back(extent);
  std::rotate(extents_.begin() + axis, extents_.begin() + rank_ - 1, extents_.begin() + rank_);
}

void Shape::erase(int axis) {
  const auto at = static_cast<std::ptrdiff_t>(place(axis));
  std::copy(extents_.begin() + at + 1, extents_.begin() + rank_, extents_.begin() + at);
  --rank_;
}

bool operator==(const Shape& a, const Shape& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

std::string Shape::text() const {
  std::string result = "[";
  for (int axis = 0; axis < rank_; ++axis)
    result += (axis > 0 ? ", " : "") + std::to_string((*this)[axis]);
  return result + "]";
}

Shape packed_strides(const Shape& shape) {
  Shape strides = shape;
  std::int64_t step = 1;
  for (int axis = shape.rank(); axis-- > 0;) {
    strides[axis] = step;
    step *= shape[axis];
  }
  return strides;
}

Shape broadcast(const Shape& a, const Shape& b, const char* where) {
  Shape result = a.rank() < b.rank() ? b : a;
  const int rank = result.rank();
  for (int axis = 1; axis <= rank; ++axis) {
    const std::int64_t x = axis <= a.rank() ? a[-axis] : 1;
    const std::int64_t y = axis <= b.rank() ? b[-axis] : 1;
    if (x != y && x != 1 && y != 1)
      fail(where, ": ", a.text(), " and ", b.text(), " do not broadcast: axis ", rank - axis,
           " has ", x, " and ", y, "; equal extents, or 1 on one side, are accepted");
    result[-axis] = x == 1 ? y : x;
  }
  return result;
}

int normal_axis(int axis, int rank, const char* where) {
  if (axis < -rank || axis >= rank)
    fail(where, ": axis ", axis, " of ", rank, " axes; ", -rank, " to ", rank - 1,
         " are accepted");
  return axis < 0 ? axis + rank : axis;
}

}  // namespace attn
