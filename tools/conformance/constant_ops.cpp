#include "tools/conformance/constant_ops.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/array.hpp"
#include "attn/files/printable.hpp"
#include "tools/conformance/array.hpp"
#include "tools/conformance/case.hpp"
#include "tools/conformance/lowering.hpp"
#include "tools/conformance/operators.hpp"
#include "tools/conformance/softmax_precision.hpp"

namespace attn::conformance {
namespace {

using nlohmann::json;

/// Constants of a graph are small: index vectors, slopes, tables of biases.
constexpr std::int64_t kMaxNumbers = std::int64_t{1} << 20;
constexpr int kMaxNesting = 8;

void collect(const json& value, const std::string& where, int depth, Constant& constant,
             bool& real) {
  if (!value.is_array()) {
    constant.shape.resize(static_cast<std::size_t>(depth));
    if (value.is_boolean()) {
      constant.kind = Kind::condition;
      constant.numbers.push_back(value.get<bool>() ? 1.0 : 0.0);
    } else {
      real = real || !value.is_number_integer();
      constant.numbers.push_back(number_of(value, where));
    }
    return;
  }
  if (depth == kMaxNesting) fail<FileError>(where, ": more than ", kMaxNesting, " axes");
  for (const json& child : value) collect(child, where, depth + 1, constant, real);
}

std::int64_t axis_of(std::int64_t axis, std::size_t rank) {
  const auto axes = static_cast<std::int64_t>(rank);
  if (axis < -axes || axis >= axes)
    fail<FileError>("axis ", axis, " of a tensor of rank ", rank);
  return axis < 0 ? axis + axes : axis;
}

std::vector<std::int64_t> wholes(const Constant& constant) {
  constexpr double kLargest = 9e15;
  std::vector<std::int64_t> result;
  for (const double x : constant.numbers) {
    if (!(std::fabs(x) <= kLargest)) fail<FileError>("the index ", x);
    result.push_back(static_cast<std::int64_t>(x));
  }
  return result;
}

const Constant& operand(const std::vector<const Constant*>& operands, std::size_t i,
                        const std::string& operation) {
  if (i >= operands.size() || operands[i] == nullptr)
    fail<FileError>(operation, ": operand ", i, " is missing");
  return *operands[i];
}

Constant checked(Constant constant) {
  checked_volume(constant.shape, kMaxNumbers, "a constant of shape");
  return constant;
}

/// Extents before, along and behind an axis.
struct Split {
  std::int64_t outer = 1, along = 1, inner = 1;
};
Split split(const Shape& shape, std::int64_t axis) {
  Split result;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    (at < axis ? result.outer : at == axis ? result.along : result.inner) *= shape[i];
  }
  return result;
}

/// The entries `indices` along an axis, in their order.
Constant take(const Constant& from, std::int64_t axis, const std::vector<std::int64_t>& indices,
              const Shape& index_shape) {
  const Split at = split(from.shape, axis);
  Constant result{from.kind, from.shape, {}};
  const auto place = result.shape.begin() + axis;
  result.shape.insert(result.shape.erase(place), index_shape.begin(), index_shape.end());
  checked_volume(result.shape, kMaxNumbers, "a constant of shape");
  for (std::int64_t o = 0; o < at.outer; ++o)
    for (const std::int64_t index : indices)
      for (std::int64_t i = 0; i < at.inner; ++i)
        result.numbers.push_back(
            from.numbers[static_cast<std::size_t>((o * at.along + index) * at.inner + i)]);
  return result;
}

Constant gather(const std::vector<const Constant*>& operands, Attributes& attributes) {
  const Constant& from = operand(operands, 0, "Gather");
  const Constant& which = operand(operands, 1, "Gather");
  const std::int64_t axis = axis_of(attributes.whole("axis").value_or(0), from.shape.size());
  const std::int64_t extent = from.shape[static_cast<std::size_t>(axis)];
  std::vector<std::int64_t> indices = wholes(which);
  for (std::int64_t& index : indices) {
    if (index < -extent || index >= extent)
      fail<FileError>("Gather: index ", index, " of ", extent);
    if (index < 0) index += extent;
  }
  return take(from, axis, indices, which.shape);
}

Constant range(const std::vector<const Constant*>& operands) {
  const Constant& start = operand(operands, 0, "Range");
  const Constant& limit = operand(operands, 1, "Range");
  const Constant& delta = operand(operands, 2, "Range");
  if (start.numbers.size() != 1 || limit.numbers.size() != 1 || delta.numbers.size() != 1)
    fail<FileError>("Range: expected three scalars");
  const double count = std::ceil((limit.numbers[0] - start.numbers[0]) / delta.numbers[0]);
  if (!(count <= static_cast<double>(kMaxNumbers)))
    fail<FileError>("Range: ", count, " numbers; at most ", kMaxNumbers, " are accepted");
  Constant result{
      start.kind, {std::max<std::int64_t>(0, static_cast<std::int64_t>(count))}, {}};
  for (std::int64_t i = 0; i < result.shape[0]; ++i)
    result.numbers.push_back(start.numbers[0] + static_cast<double>(i) * delta.numbers[0]);
  return result;
}

Constant concat(const std::vector<const Constant*>& operands, Attributes& attributes) {
  const Constant& first = operand(operands, 0, "Concat");
  const std::optional<std::int64_t> given = attributes.whole("axis");
  if (!given) fail<FileError>("Concat: the attribute axis is missing");
  const std::int64_t axis = axis_of(*given, first.shape.size());
  const auto place = static_cast<std::size_t>(axis);
  Constant result{first.kind, first.shape, {}};
  result.shape[place] = 0;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    Shape shape = operand(operands, i, "Concat").shape;
    if (shape.size() != result.shape.size()) fail<FileError>("Concat: ranks differ");
    result.shape[place] += shape[place];
    shape[place] = result.shape[place];
    if (shape != result.shape) fail<FileError>("Concat: shapes do not fit");
  }
  checked_volume(result.shape, kMaxNumbers, "a constant of shape");
  const std::int64_t outer = split(result.shape, axis).outer;
  for (std::int64_t o = 0; o < outer; ++o)
    for (const Constant* part : operands) {
      const Split at = split(part->shape, axis);
      const auto begin = part->numbers.begin() + o * at.along * at.inner;
      result.numbers.insert(result.numbers.end(), begin, begin + at.along * at.inner);
    }
  return result;
}

Constant slice(const std::vector<const Constant*>& operands) {
  Constant result = operand(operands, 0, "Slice");
  const std::vector<std::int64_t> starts = wholes(operand(operands, 1, "Slice"));
  const std::vector<std::int64_t> ends = wholes(operand(operands, 2, "Slice"));
  std::vector<std::int64_t> axes(starts.size());
  std::iota(axes.begin(), axes.end(), 0);
  std::vector<std::int64_t> steps(starts.size(), 1);
  if (operands.size() > 3 && operands[3] != nullptr) axes = wholes(*operands[3]);
  if (operands.size() > 4 && operands[4] != nullptr) steps = wholes(*operands[4]);
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size())
    fail<FileError>("Slice: starts, ends, axes and steps must have the same length");
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::int64_t axis = axis_of(axes[i], result.shape.size());
    const std::int64_t extent = result.shape[static_cast<std::size_t>(axis)];
    const std::int64_t step = steps[i];
    if (step == 0) fail<FileError>("Slice: a step of 0");
    const auto bounded = [&](std::int64_t at) {
      if (at < 0) at += extent;
      return step > 0 ? std::clamp<std::int64_t>(at, 0, extent)
                      : std::clamp<std::int64_t>(at, -1, extent - 1);
    };
    std::vector<std::int64_t> indices;
    const std::int64_t end = bounded(ends[i]);
    for (std::int64_t at = bounded(starts[i]); step > 0 ? at < end : at > end; at += step) {
      indices.push_back(at);
      if (std::abs(step) > extent) break;
    }
    result = take(result, axis, indices, {static_cast<std::int64_t>(indices.size())});
  }
  return result;
}

Constant transpose(const Constant& from, Attributes& attributes) {
  std::vector<std::int64_t> order(from.shape.size());
  std::iota(order.rbegin(), order.rend(), 0);
  if (const json* given = attributes.any("perm"))
    order = wholes(constant_of(*given, "attribute perm"));
  std::vector<std::int64_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  bool fits = order.size() == from.shape.size();
  for (std::size_t i = 0; fits && i < sorted.size(); ++i)
    fits = sorted[i] == static_cast<std::int64_t>(i);
  if (!fits) fail<FileError>("Transpose: perm does not fit rank ", from.shape.size());
  Constant result{from.kind, {}, {}};
  for (const std::int64_t axis : order)
    result.shape.push_back(from.shape[static_cast<std::size_t>(axis)]);
  Shape place(order.size(), 0);
  for (std::size_t n = 0; n < from.numbers.size(); ++n) {
    std::int64_t offset = 0;
    for (std::size_t axis = 0; axis < from.shape.size(); ++axis) {
      const auto at = std::find(order.begin(), order.end(), static_cast<std::int64_t>(axis));
      offset = offset * from.shape[axis] + place[static_cast<std::size_t>(at - order.begin())];
    }
    result.numbers.push_back(from.numbers[static_cast<std::size_t>(offset)]);
    for (std::size_t axis = place.size(); axis-- > 0;) {
      if (++place[axis] < result.shape[axis]) break;
      place[axis] = 0;
    }
  }
  return result;
}

Constant expanded(const Constant& from, const Shape& shape) {
  Constant result{from.kind, shape, {}};
  checked_volume(shape, kMaxNumbers, "a constant of shape");
  const std::int64_t count = volume(shape);
  for (std::int64_t n = 0; n < count; ++n) {
    std::int64_t offset = 0;
    std::int64_t rest = n;
    std::int64_t stride = 1;
    for (std::size_t back = 1; back <= shape.size(); ++back) {
      const std::int64_t at = rest % shape[shape.size() - back];
      rest /= shape[shape.size() - back];
      if (back > from.shape.size()) continue;
      const std::int64_t extent = from.shape[from.shape.size() - back];
      offset += (extent == 1 ? 0 : at) * stride;
      stride *= extent;
    }
    result.numbers.push_back(from.numbers[static_cast<std::size_t>(offset)]);
  }
  return result;
}

Constant given_constant(Attributes& attributes) {
  for (const char* name : {"value", "value_float", "value_int", "value_floats", "value_ints"})
    if (const json* value = attributes.any(name))
      return constant_of(*value, std::string("attribute ") + name);
  fail<FileError>("Constant: there is no value");
}

Constant filled(const Constant& shape, Attributes& attributes) {
  Constant value{Kind::real, {}, {0.0}};
  if (const json* given = attributes.any("value"))
    value = constant_of(*given, "attribute value");
  if (value.numbers.size() != 1) fail<FileError>("ConstantOfShape: expected one value");
  value.shape.clear();
  return expanded(value, wholes(shape));
}

}  // namespace

std::int64_t volume(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

Constant constant_of(const json& value, const std::string& where) {
  Constant constant{Kind::whole, {}, {}};
  bool real = false;
  Shape shape;
  const json* level = &value;
  while (level->is_array()) {
    shape.push_back(static_cast<std::int64_t>(level->size()));
    if (level->empty()) break;
    level = &level->front();
  }
  collect(value, where, 0, constant, real);
  if (real) constant.kind = Kind::real;
  constant.shape = shape;
  if (volume(shape) != static_cast<std::int64_t>(constant.numbers.size()))
    fail<FileError>(where, ": lists of different lengths");
  return checked(std::move(constant));
}

Shape broadcast(const Shape& a, const Shape& b) {
  Shape result(std::max(a.size(), b.size()), 1);
  for (std::size_t back = 1; back <= result.size(); ++back) {
    const std::int64_t x = back <= a.size() ? a[a.size() - back] : 1;
    const std::int64_t y = back <= b.size() ? b[b.size() - back] : 1;
    if (x != y && x != 1 && y != 1)
      fail<FileError>("shapes ", files::shape_text(a), " and ", files::shape_text(b),
                      " do not fit each other");
    result[result.size() - back] = x == 1 ? y : x;
  }
  return result;
}

ElementSettings element_settings(const std::string& operation, Kind from,
                                 Attributes& attributes) {
  ElementSettings settings;
  settings.from = from;
  if (operation == "Cast") {
    constexpr std::int64_t kBool = 9;
    const std::int64_t to = attributes.whole("to").value_or(0);
    const bool whole = (to >= 2 && to <= 7) || to == 12 || to == 13;
    if (!whole && to != kBool && !float_dtype_of(to))
      fail<FileError>("Cast: attribute to: ", to, " is not a type known here");
    settings.to = whole ? Kind::whole : to == kBool ? Kind::condition : Kind::real;
  }
  if (operation == "Mod") settings.fmod = attributes.whole("fmod").value_or(0) != 0;
  if (operation == "LeakyRelu") settings.alpha = attributes.number("alpha").value_or(0.01);
  if (operation == "Elu" || operation == "Swish")
    settings.alpha = attributes.number("alpha").value_or(1.0);
  if (operation == "HardSigmoid") {
    settings.alpha = attributes.number("alpha").value_or(0.2);
    settings.beta = attributes.number("beta").value_or(0.5);
  }
  return settings;
}

Constant shape_of(const Shape& shape, Attributes& attributes) {
  const auto rank = static_cast<std::int64_t>(shape.size());
  const auto bounded = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const std::int64_t begin = bounded(attributes.whole("start").value_or(0));
  const std::int64_t end = bounded(attributes.whole("end").value_or(rank));
  Constant result{Kind::whole, {std::max<std::int64_t>(0, end - begin)}, {}};
  for (std::int64_t i = begin; i < end; ++i)
    result.numbers.push_back(static_cast<double>(shape[static_cast<std::size_t>(i)]));
  return result;
}

Shape reshaped(const std::string& operation, const Shape& shape, const Constant* wanted,
               Attributes& attributes) {
  std::vector<std::int64_t> given;
  if (wanted != nullptr) {
    given = wholes(*wanted);
  } else if (const json* axes = attributes.any("axes")) {
    given = wholes(constant_of(*axes, "attribute axes"));
  } else if (operation != "Squeeze") {
    fail<FileError>(operation, ": operand 1 is missing");
  }
  Shape result;
  if (operation == "Expand") return broadcast(shape, given);
  if (operation == "Reshape") {
    const bool keep_zero = attributes.whole("allowzero").value_or(0) != 0;
    std::int64_t product = 1;
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (given[i] == 0 && !keep_zero && i < shape.size()) given[i] = shape[i];
      if (given[i] >= 0) product *= given[i];
    }
    checked_volume(given, kMaxElements, "a shape");
    for (std::int64_t& extent : given)
      if (extent == -1) extent = product == 0 ? 0 : volume(shape) / product;
    result = given;
  } else if (operation == "Unsqueeze") {
    const std::size_t rank = shape.size() + given.size();
    std::vector<bool> added(rank, false);
    for (const std::int64_t axis : given)
      added[static_cast<std::size_t>(axis_of(axis, rank))] = true;
    auto next = shape.begin();
    for (std::size_t i = 0; i < rank; ++i) {
      if (!added[i] && next == shape.end()) fail<FileError>("Unsqueeze: an axis twice");
      result.push_back(added[i] ? 1 : *next++);
    }
  } else {
    std::vector<bool> dropped(shape.size(), given.empty());
    for (const std::int64_t axis : given)
      dropped[static_cast<std::size_t>(axis_of(axis, shape.size()))] = true;
    for (std::size_t i = 0; i < shape.size(); ++i)
      if (!dropped[i] || (given.empty() && shape[i] != 1)) result.push_back(shape[i]);
  }
  const bool sane = std::all_of(result.begin(), result.end(), [](auto n) { return n >= 0; });
  if (!sane || volume(result) != volume(shape))
    fail<FileError>(operation, ": ", files::shape_text(shape), " does not become ",
                    files::shape_text(result));
  return result;
}

bool is_constant_op(const std::string& operation) {
  static constexpr std::array<std::string_view, 13> kKnown{
      "Shape",   "Constant", "Gather",    "Range",   "Concat", "Slice",          "Transpose",
      "Reshape", "Size",     "Unsqueeze", "Squeeze", "Expand", "ConstantOfShape"};
  return std::find(kKnown.begin(), kKnown.end(), operation) != kKnown.end();
}

Constant constant_op(const std::string& operation, const std::vector<const Constant*>& operands,
                     Attributes& attributes) {
  if (operation == "Constant") return given_constant(attributes);
  if (operation == "Gather") return gather(operands, attributes);
  if (operation == "Range") return range(operands);
  if (operation == "Concat") return concat(operands, attributes);
  if (operation == "Slice") return slice(operands);
  if (operation == "Transpose") return transpose(operand(operands, 0, operation), attributes);
  if (operation == "ConstantOfShape")
    return filled(operand(operands, 0, operation), attributes);
  if (operation == "Size")
    return {
        Kind::whole, {}, {static_cast<double>(volume(operand(operands, 0, operation).shape))}};
  if (operation == "Reshape" || operation == "Unsqueeze" || operation == "Squeeze" ||
      operation == "Expand") {
    Constant result = operand(operands, 0, operation);
    const Constant* wanted = operands.size() > 1 ? operands[1] : nullptr;
    const Shape shape = reshaped(operation, result.shape, wanted, attributes);
    if (operation == "Expand") return expanded(result, shape);
    result.shape = shape;
    return result;
  }
  fail<FileError>("unknown operation ", files::in_quotes(operation), " in a graph");
}

}  // namespace attn::conformance
