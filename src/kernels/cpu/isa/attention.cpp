// The attention kernels of one instruction set, as the dispatcher sees them.
#include "kernels/cpu/decode/decode.hpp"
#include "kernels/cpu/inspect_rows.hpp"
#include "kernels/cpu/isa_table.hpp"
#include "kernels/cpu/kernel_table.hpp"
#include "kernels/cpu/packed/backward.hpp"
#include "kernels/cpu/packed/backward_write.hpp"
#include "kernels/cpu/packed/forward.hpp"

namespace attn::cpu {

template <>
const KernelTable& isa_table<KernelTable, Target::ATTN_TARGET>() {
  static constexpr KernelTable kTable{
      &forward_bytes,    &forward, &backward_bytes, &backward_deltas, &backward,
      &backward_queries, &inspect, &decode_bytes,   &decode,          &decode_merge};
  return kTable;
}

}  // namespace attn::cpu
