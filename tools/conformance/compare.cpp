#include "tools/conformance/compare.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <sstream>
#include <string>

#include "attn/core/dtype.hpp"
#include "attn/files/array.hpp"
#include "attn/files/printable.hpp"
#include "tools/conformance/array.hpp"
#include "tools/conformance/tolerance.hpp"

namespace attn::conformance {
namespace {

constexpr double kEndless = std::numeric_limits<double>::infinity();

/// Element i of a shape, as indices.
Shape place_of(std::int64_t i, const Shape& shape) {
  Shape place(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    place[axis] = i % shape[axis];
    i /= shape[axis];
  }
  return place;
}

double error_between(double got, double want) {
  if (got == want || (std::isnan(got) && std::isnan(want))) return 0.0;
  const double error = std::fabs(got - want);
  return std::isnan(error) ? kEndless : error;
}

/// Equal bits, for whole numbers that double cannot hold apart.
bool same_bits(const Array& got, const Array& want) {
  return got.bytes == want.bytes;
}

}  // namespace

std::optional<Difference> compare(const std::string& name, const Array& got, const Array& want,
                                  const Tolerance& tolerance) {
  std::ostringstream text;
  text << files::printable(name);
  if (got.dtype != want.dtype || got.shape != want.shape) {
    text << " is " << name_of(got.dtype) << " " << files::shape_text(got.shape) << "; expected "
         << name_of(want.dtype) << " " << files::shape_text(want.shape);
    return Difference{kEndless, text.str()};
  }
  if (same_bits(got, want)) return std::nullopt;
  if (!is_float(want.dtype) && size_of(want.dtype) == 8) {
    text << " has different whole numbers";
    return Difference{kEndless, text.str()};
  }
  double worst = 0.0;
  std::int64_t at = -1;
  for (std::int64_t i = 0; i < want.size(); ++i) {
    const double expected = element(want, i);
    const double error = error_between(element(got, i), expected);
    // Any number would be within an endless tolerance.
    const double allowed = std::isinf(expected)
                               ? 0.0
                               : tolerance.absolute + tolerance.relative * std::fabs(expected);
    if (error <= allowed) continue;
    const double excess = allowed > 0.0 ? error / allowed : kEndless;
    if (at >= 0 && excess <= worst) continue;
    worst = excess;
    at = i;
  }
  if (at < 0) return std::nullopt;
  text << " differs by " << error_between(element(got, at), element(want, at)) << " at "
       << files::shape_text(place_of(at, want.shape)) << ": got " << element(got, at)
       << ", expected " << element(want, at) << " within " << tolerance.absolute << " + "
       << tolerance.relative << " times it";
  return Difference{worst, text.str()};
}

}  // namespace attn::conformance
