#include "kernels/cpu/backward.hpp"
#include "kernels/cpu/backward_write.hpp"
#include "kernels/cpu/direct.hpp"
#include "kernels/cpu/forward.hpp"
#include "kernels/cpu/inspect_rows.hpp"
#include "kernels/cpu/isa_table.hpp"
#include "kernels/cpu/kernel_table.hpp"

namespace attn::cpu::inline ATTN_TARGET {}  // namespace attn::cpu::inline ATTN_TARGET

namespace attn::cpu {

template <>
const KernelTable& isa_table<KernelTable, Target::ATTN_TARGET>() {
  static constexpr KernelTable kTable{
      &forward_bytes,    &forward, &backward_bytes, &backward_deltas, &backward,
      &backward_queries, &inspect, &direct_bytes,   &direct,          &direct_merge};
  return kTable;
}

}  // namespace attn::cpu
