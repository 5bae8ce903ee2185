/// Params and ParamGrads for lanes: a functor's tables read and written kLanes keys at a time.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/core/macros.hpp"
#include "attn/core/params.hpp"
#include "attn/core/site.hpp"
#include "attn/core/table.hpp"
#include "attn/kernels/cpu/lane.hpp"

namespace attn {

/// Reads f32 tables. Lane indices are always within the table; a tail tile repeats its last
/// key.
template <>
struct Params<cpu::Lane> {
  const Table* tables = nullptr;
  int batch = 0;
  int head = 0;
  int q = 0;
  int count = cpu::kLanes;  ///< lanes that are real keys

  /// Entry 0 in every lane.
  ATTN_FN cpu::Lane value(int slot) const { return *row(slot); }

  ATTN_FN cpu::Lane at(int slot, int index) const {
    return row(slot)[index * tables[slot].strides[3]];
  }

  ATTN_FN cpu::Lane at(int slot, cpu::LaneIndex index) const {
    const float* from = row(slot);
    const std::int64_t stride = tables[slot].strides[3];
    if (stride == 0) return *from;
    if (stride == 1) {
      return cpu::Lane(cpu::simd::GatherIndex(cpu::FloatTag(), from, index.raw));
    }
    int entries[cpu::kLanes];
    float values[cpu::kLanes];
    index.store(entries);
    for (int i = 0; i < cpu::kLanes; ++i) values[i] = from[entries[i] * stride];
    return cpu::Lane::load(values);
  }

  /// The entries of the scores' own keys, site.k to site.k + count - 1; lanes past them hold
  /// unspecified numbers.
  ATTN_FN cpu::Lane along(int slot, const Site<cpu::Lane>& site) const {
    const std::int64_t stride = tables[slot].strides[3];
    if (stride != 1) return at(slot, site.k);
    const float* from = row(slot) + first(site.k);
    return count == cpu::kLanes ? cpu::Lane::load(from) : cpu::Lane::load(from, count);
  }

 private:
  ATTN_FN const float* row(int slot) const {
    const Table& t = tables[slot];
    return static_cast<const float*>(t.data) + row_offset(t, batch, head, q);
  }
};

/// Adds to f32 tables, the first `count` lanes in lane order.
template <>
struct ParamGrads<cpu::Lane> {
  const TableGrad* tables = nullptr;
  int batch = 0;
  int head = 0;
  int q = 0;
  int count = cpu::kLanes;  ///< lanes that are real keys

  ATTN_FN bool wants(int slot) const {
    return tables != nullptr && tables[slot].data != nullptr;
  }

  ATTN_FN void value(int slot, cpu::Lane grad) const {
    if (wants(slot)) *row(slot) += sum(grad);
  }

  ATTN_FN void at(int slot, int index, cpu::Lane grad) const {
    if (wants(slot)) row(slot)[index * tables[slot].strides[3]] += sum(grad);
  }

  /// Lanes may name the same entry.
  ATTN_FN void at(int slot, cpu::LaneIndex index, cpu::Lane grad) const {
    if (!wants(slot)) return;
    float* to = row(slot);
    const std::int64_t stride = tables[slot].strides[3];
    int entries[cpu::kLanes];
    float values[cpu::kLanes];
    index.store(entries);
    grad.store(values);
    for (int i = 0; i < count; ++i) to[entries[i] * stride] += values[i];
  }

  ATTN_FN void along(int slot, const Site<cpu::Lane>& site, cpu::Lane grad) const {
    if (!wants(slot)) return;
    const std::int64_t stride = tables[slot].strides[3];
    if (stride == 0) return value(slot, grad);
    if (stride != 1) return at(slot, site.k, grad);
    float* to = row(slot) + first(site.k);
    if (count == cpu::kLanes) {
      (cpu::Lane::load(to) + grad).store(to);
    } else {
      (cpu::Lane::load(to, count) + grad).store(to, count);
    }
  }

 private:
  /// Lanes past `count` may hold anything, NaN too: they are selected away.
  ATTN_FN float sum(cpu::Lane grad) const {
    return reduce_sum(count == cpu::kLanes ? grad
                                           : select(cpu::first_lanes(count), grad, 0.0f));
  }
  ATTN_FN float* row(int slot) const {
    const TableGrad& t = tables[slot];
    return static_cast<float*>(t.data) + row_offset(t, batch, head, q);
  }
};

}  // namespace attn
