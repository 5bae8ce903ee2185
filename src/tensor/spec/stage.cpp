#include "attn/tensor/spec/stage.hpp"

#include <array>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "attn/core/error.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/op.hpp"

namespace attn::spec {
namespace {

/// Extents a table may have besides 1; kAny accepts all.
using Extents = std::array<std::int64_t, 4>;
constexpr std::int64_t kAny = -1;

/// What a kind of table accepts: the axes of [batch, head, query, entry] that x has, for each
/// rank of x; none: such a rank is refused.
struct Shapes {
  std::array<const char*, 5> axes;
  const char* text;
};
constexpr Shapes kRows{{"", "h", "bq", "bhq", nullptr},
                       "[1], [heads], [batch, queries] and [batch, heads, queries]"};
constexpr Shapes kEntries{{"", "e", "he", "bqe", "bhqe"},
                          "[entries], [heads, entries], [batch, queries, entries] and [batch, "
                          "heads, queries, entries]"};
constexpr Shapes kPairs{
    {nullptr, "e", "qe", "bqe", "bhqe"},
    "[keys], [queries, keys], [batch, queries, keys] and [batch, heads, queries, keys]"};

/// `x` with four axes, if they fit, in the dtype of the problem's tables.
Tensor table_of(const Tensor& x, const Shapes& shapes, const Extents& expected,
                const Problem& problem, const char* where) {
  op::require_real(x, where, "a table");
  const char* axes = x.rank() > 4 ? nullptr : shapes.axes[static_cast<std::size_t>(x.rank())];
  if (axes == nullptr) fail(where, ": ", x.text(), "; ", shapes.text, " are accepted");
  Tensor wide = x;
  for (int axis = 0; axis < 4; ++axis) {
    const auto index = static_cast<std::size_t>(axis);
    if (std::string_view(axes).find("bhqe"[index]) == std::string_view::npos)
      wide = wide.unsqueeze(axis);
    const std::int64_t wanted = expected[index];
    if (wanted != kAny && wide.size(axis) != 1 && wide.size(axis) != wanted)
      fail(where, ": ", x.text(), " beside batch ", problem.batch, ", ", problem.heads,
           " heads, ", problem.queries, " queries and ", problem.keys, " keys; ", shapes.text,
           " are accepted, where an extent of 1 is shared");
  }
  if (x.device() != problem.device)
    fail(where, ": ", x.text(), " is on ", name_of(x.device()), " and attention on ",
         name_of(problem.device), "; one device is accepted, and to(Device) moves a tensor");
  return wide.to(problem.dtype);
}

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
  return table_of(x, kRows, {problem.batch, problem.heads, problem.queries, 1}, problem, where);
}

Tensor entry_table(const Tensor& x, const Problem& problem, const char* where) {
  return table_of(x, kEntries, {problem.batch, problem.heads, problem.queries, kAny}, problem,
                  where);
}

Tensor pair_table(const Tensor& x, const Problem& problem, const char* where) {
  Tensor table = table_of(
      x, kPairs, {problem.batch, problem.heads, problem.queries, problem.keys}, problem, where);
  // Functors look entries up by key, so this axis must be there.
  if (table.size(3) == problem.keys) return table;
  return table.expand({table.size(0), table.size(1), table.size(2), problem.keys});
}

}  // namespace attn::spec
