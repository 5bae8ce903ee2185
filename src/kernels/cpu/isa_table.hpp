/// Tables of kernels, one for each instruction set, and the choice among them.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/kernels/target.hpp"  // IWYU pragma: export

namespace attn::cpu {

/// The table of one instruction set, whose objects define it, in attn::cpu:
///
///     template <>
///     const RowTable& isa_table<RowTable, Target::ATTN_TARGET>() { ... }
template <class Table, Target kTarget>
const Table& isa_table();

/// The table of a target that available() accepts.
template <class Table>
const Table& isa_table([[maybe_unused]] Target target) {
#if defined(__aarch64__)
  return isa_table<Table, Target::neon>();
#else
  if (target == Target::avx512) return isa_table<Table, Target::avx512>();
  if (target == Target::avx2) return isa_table<Table, Target::avx2>();
  return isa_table<Table, Target::sse4>();
#endif
}

/// The table of the best instruction set of this machine.
template <class Table>
const Table& best_table() {
  static const Table& chosen = isa_table<Table>(best_target());
  return chosen;
}

}  // namespace attn::cpu
