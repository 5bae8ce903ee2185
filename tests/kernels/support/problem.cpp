#include "kernels/support/problem.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/dtype.hpp"
#include "kernels/support/build_recipe.hpp"
#include "support/random.hpp"

namespace attn::test {
namespace {

double rounded(double x, DType dtype) {
  const auto single = static_cast<float>(x);
  if (dtype == DType::bf16) return widen(BFloat16(single));
  if (dtype == DType::f16) return widen(Float16(single));
  return static_cast<double>(single);
}

}  // namespace

std::size_t elements(const Shape& shape) {
  std::int64_t size = 1;
  for (const std::int64_t extent : shape) size *= extent;
  return static_cast<std::size_t>(size);
}

Table TestTable::as(DType dtype) const {
  Table result = table(f32.data(), shape);
  for (std::int64_t& stride : result.strides) stride *= spacing;
  if (dtype == DType::f64) {
    result.data = f64.data();
    result.dtype = DType::f64;
  }
  return result;
}

TableGrad TestTable::grad(void* data, DType dtype) const {
  const Table like = as(DType::f32);
  return {data, dtype, like.shape, like.strides};
}

Problem::Problem(const Spec& from) : spec(from) {
  Random random(spec.seed + " numbers");
  const auto fill = [&](const Shape& shape, double low = -1.0, double high = 1.0) {
    std::vector<double> result(elements(shape));
    for (double& x : result) x = rounded(random.uniform(low, high), spec.dtype);
    return result;
  };
  q = fill(q_shape());
  k = fill(k_shape());
  v = fill(v_shape());
  if (spec.kv_lay == Lay::shared_heads) {
    const auto heads = static_cast<std::size_t>(spec.kv_heads);
    for (auto* list : {&k, &v}) {
      const std::size_t head =
          list->size() / std::max<std::size_t>(1, heads * static_cast<std::size_t>(spec.batch));
      for (std::size_t i = 0; i < list->size(); ++i)
        (*list)[i] = (*list)[i / head / heads * heads * head + i % head];
    }
  }
  d_out = fill(out_shape());
  const std::int64_t b = spec.batch, h = spec.heads(), n = spec.queries, m = spec.keys;
  if (spec.d_stat) d_stat = fill({b, h, n, 1});
  if (spec.d_weights) {
    d_all = fill({b, h, n, m});
    d_columns = fill({b, h, m, 1});
    distance_reach = random.whole(0, 5);
    distance_offset = random.whole(-2, 2);
    d_distances = fill({b, h, n, 2 * distance_reach + 1});
    // What arrives at weights is float whatever the storage.
    for (auto* list : {&d_all, &d_columns, &d_distances})
      for (double& x : *list) x = static_cast<float>(x);
  }
  build_recipe(*this);
}

Recipe Problem::exact() const {
  Recipe result = recipe;
  for (const TestTable& entry : tables) {
    const Table wide = entry.as(DType::f64);
    const auto index = static_cast<std::size_t>(entry.place.index);
    const auto slot = static_cast<std::size_t>(entry.place.slot);
    switch (entry.place.stage) {
      case TablePlace::Stage::similarity:
        result.weights = wide;
        break;
      case TablePlace::Stage::score:
        result.scores[index].data.tables[slot] = wide;
        break;
      case TablePlace::Stage::normaliser:
        result.normaliser.data.tables[slot] = wide;
        break;
      case TablePlace::Stage::factor:
        result.weight_modifiers[index].stage.data.tables[slot] = wide;
        break;
    }
  }
  return result;
}

Shape Problem::q_shape() const {
  return {spec.batch, spec.heads(), spec.queries, spec.channels};
}
Shape Problem::k_shape() const {
  return {spec.batch, spec.kv_heads, spec.keys, spec.channels};
}
Shape Problem::v_shape() const {
  return {spec.batch, spec.kv_heads, spec.keys, spec.value_channels};
}
Shape Problem::out_shape() const {
  return {spec.batch, spec.heads(), spec.queries, spec.value_channels};
}
Shape Problem::weights_shape() const {
  return {spec.batch, spec.heads(), spec.queries, spec.keys};
}

}  // namespace attn::test
