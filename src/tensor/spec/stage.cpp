#include "attn/tensor/spec/stage.hpp"

#include <array>
#include <climits>
#include <cstddef>
#include <cstdint>

#include "attn/core/error.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/op.hpp"

namespace attn::spec {
namespace {

/// Extents a table may have besides 1; kAny accepts all.
using Extents = std::array<std::int64_t, 4>;
constexpr std::int64_t kAny = -1;

/// `x` with four axes, if they fit, in the dtype of the problem's tables.
Tensor checked(const Tensor& x, const Tensor& wide, const Extents& expected,
               const Problem& problem, const char* where, const char* accepted) {
  for (int axis = 0; axis < 4; ++axis) {
    const std::int64_t wanted = expected[static_cast<std::size_t>(axis)];
    if (wanted != kAny && wide.size(axis) != 1 && wide.size(axis) != wanted)
      fail(where, ": ", x.text(), " beside batch ", problem.batch, ", ", problem.heads,
           " heads, ", problem.queries, " queries and ", problem.keys, " keys; ", accepted,
           " are accepted, where an extent of 1 is shared");
  }
  if (x.device() != problem.device)
    fail(where, ": ", x.text(), " is on ", name_of(x.device()), " and attention on ",
         name_of(problem.device), "; one device is accepted, and to(Device) moves a tensor");
  return wide.to(problem.dtype);
}

[[noreturn]] void refuse_rank(const Tensor& x, const char* where, const char* accepted) {
  fail(where, ": ", x.text(), "; ", accepted, " are accepted");
}

constexpr const char* kRowShapes = "[1], [heads], [batch, queries] and [batch, heads, queries]";
constexpr const char* kEntryShapes =
    "[entries], [heads, entries], [batch, queries, entries] and [batch, heads, queries, "
    "entries]";
constexpr const char* kPairShapes =
    "[keys], [queries, keys], [batch, queries, keys] and [batch, heads, queries, keys]";

}  // namespace

int Problem::offset(Offset given) const {
  if (uneven && !given)
    fail(
        "attn::spec: the offset of a mask or score is left out, and sequences differ in keys - "
        "queries; give the offset");
  const std::int64_t value = given.value_or(keys - queries);
  if (value > INT_MAX / 4 || value < -(INT_MAX / 4))
    fail("attn::spec: offset ", value, "; at most ", INT_MAX / 4, " either way is accepted");
  return static_cast<int>(value);
}

Tensor row_table(const Tensor& x, const Problem& problem, const char* where) {
  op::require_real(x, where, "a table");
  const Extents expected{problem.batch, problem.heads, problem.queries, 1};
  const auto fit = [&](const Tensor& wide) {
    return checked(x, wide, expected, problem, where, kRowShapes);
  };
  switch (x.rank()) {
    case 0:
      return fit(x.reshape({1, 1, 1, 1}));
    case 1:
      return fit(x.reshape({1, x.size(0), 1, 1}));
    case 2:
      return fit(x.unsqueeze(1).unsqueeze(3));
    case 3:
      return fit(x.unsqueeze(3));
    default:
      refuse_rank(x, where, kRowShapes);
  }
}

Tensor entry_table(const Tensor& x, const Problem& problem, const char* where) {
  op::require_real(x, where, "a table");
  const Extents expected{problem.batch, problem.heads, problem.queries, kAny};
  const auto fit = [&](const Tensor& wide) {
    return checked(x, wide, expected, problem, where, kEntryShapes);
  };
  switch (x.rank()) {
    case 0:
      return fit(x.reshape({1, 1, 1, 1}));
    case 1:
      return fit(x.reshape({1, 1, 1, x.size(0)}));
    case 2:
      return fit(x.unsqueeze(1).unsqueeze(0));
    case 3:
      return fit(x.unsqueeze(1));
    case 4:
      return fit(x);
    default:
      refuse_rank(x, where, kEntryShapes);
  }
}

Tensor pair_table(const Tensor& x, const Problem& problem, const char* where) {
  op::require_real(x, where, "a table");
  if (x.rank() < 1 || x.rank() > 4) refuse_rank(x, where, kPairShapes);
  Tensor wide = x.rank() == 3 ? x.unsqueeze(1) : x;
  while (wide.rank() < 4) wide = wide.unsqueeze(0);
  Tensor table = checked(x, wide, {problem.batch, problem.heads, problem.queries, problem.keys},
                         problem, where, kPairShapes);
  // Functors look entries up by key, so this axis must be there.
  if (table.size(3) == problem.keys) return table;
  return table.expand({table.size(0), table.size(1), table.size(2), problem.keys});
}

}  // namespace attn::spec
