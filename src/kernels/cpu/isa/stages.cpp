// The catalogue's functors, compiled for one instruction set.
#include "attn/kernels/catalogue.hpp"
#include "attn/kernels/cpu/compile.hpp"
#include "kernels/cpu/isa_table.hpp"

namespace attn::cpu::inline ATTN_TARGET {
namespace {

template <class... Scores, class... Masks, class... Normalisers, class... Weights>
consteval StageTable table_of(catalogue::List<Scores...>, catalogue::List<Masks...>,
                              catalogue::List<Normalisers...>, catalogue::List<Weights...>) {
  return {{&kPointwiseOps<Scores>...},
          {&kMaskOps<Masks>...},
          {&kNormaliserOps<Normalisers>...},
          {&kPointwiseOps<typename WeightStageOf<Weights>::type>...}};
}

}  // namespace
}  // namespace attn::cpu::inline ATTN_TARGET

namespace attn::cpu {

template <>
const StageTable& isa_table<StageTable, Target::ATTN_TARGET>() {
  static constexpr StageTable kTable = table_of(catalogue::Scores{}, catalogue::Masks{},
                                                catalogue::Normalisers{}, catalogue::Weights{});
  return kTable;
}

}  // namespace attn::cpu
