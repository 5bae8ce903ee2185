/// Params and ParamGrads: how a functor reads its tables and hands gradients back. They are
/// bound to one row of scores (batch, head, query), so a functor names only slot and entry.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/core/dual.hpp"
#include "attn/core/macros.hpp"
#include "attn/core/site.hpp"
#include "attn/core/table.hpp"

namespace attn {

/// The element offset of a row of a table.
template <class AnyTable>
ATTN_FN std::int64_t row_offset(const AnyTable& table, int batch, int head, int q) {
  return batch * table.strides[0] + head * table.strides[1] + q * table.strides[2];
}

/// Scalars' access; SIMD lanes specialise it.
template <class V>
struct Params {
  const Table* tables = nullptr;
  int batch = 0;
  int head = 0;
  int q = 0;

  /// Entry 0: a learnable scalar, a slope of this head, a centre of this query.
  ATTN_FN V value(int slot) const { return at(slot, 0); }

  ATTN_FN V at(int slot, int index) const {
    const Table& t = tables[slot];
    const std::int64_t place = row_offset(t, batch, head, q) + index * t.strides[3];
    return t.dtype == DType::f64 ? static_cast<V>(static_cast<const double*>(t.data)[place])
                                 : static_cast<V>(static_cast<const float*>(t.data)[place]);
  }

  /// The entry of the score's own key: a dense bias.
  ATTN_FN V along(int slot, const Site<V>& site) const { return at(slot, site.k); }
};

/// Adds gradients to tables; slots without data are not wanted.
template <class V>
struct ParamGrads {
  const TableGrad* tables = nullptr;
  int batch = 0;
  int head = 0;
  int q = 0;

  ATTN_FN bool wants(int slot) const {
    return tables != nullptr && tables[slot].data != nullptr;
  }

  ATTN_FN void value(int slot, V grad) const { at(slot, 0, grad); }

  ATTN_FN void at(int slot, int index, V grad) const {
    if (!wants(slot)) return;
    const TableGrad& t = tables[slot];
    const std::int64_t place = row_offset(t, batch, head, q) + index * t.strides[3];
    if (t.dtype == DType::f64) {
      static_cast<double*>(t.data)[place] += static_cast<double>(grad);
    } else {
      static_cast<float*>(t.data)[place] += static_cast<float>(grad);
    }
  }

  ATTN_FN void along(int slot, const Site<V>& site, V grad) const { at(slot, site.k, grad); }
};

/// Params for dual numbers: the reads of one slot, one call at a time, carry slope 1.
template <class V, class P>
struct DualParams {
  enum class Read { value, at, along };

  const P& base;
  int slot = -1;  ///< the slot that is differentiated; -1 for none
  int call = 0;   ///< which of its reads
  mutable int seen = 0;
  mutable Read read = Read::value;
  mutable Index<V> index{};

  ATTN_FN Dual<V> value(int s) const { return seed(s, base.value(s), Read::value, {}); }
  template <class I>
  ATTN_FN Dual<V> at(int s, I i) const {
    return seed(s, base.at(s, i), Read::at, Index<V>(i));
  }
  ATTN_FN Dual<V> along(int s, const Site<Dual<V>>& site) const {
    const Site<V> place{site.batch, site.head, site.q, site.k};
    return seed(s, base.along(s, place), Read::along, site.k);
  }

 private:
  ATTN_FN Dual<V> seed(int s, V value, Read how, Index<V> i) const {
    if (s != slot || seen++ != call) return Dual<V>(value, V(0.0f));
    read = how;
    index = i;
    return Dual<V>(value, V(1.0f));
  }
};

}  // namespace attn
