// A build without CUDA: tensors on the GPU say that there is none. Memory is what they ask for
// first; the ops below are there for the linker.

#include "tensor/gpu/engine.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

#include "attn/core/error.hpp"
#include "attn/gemm/conv.hpp"
#include "attn/kernels/args.hpp"
#include "attn/kernels/recipe.hpp"
#include "attn/tensor/gpu.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/gpu/pairs.hpp"
#include "tensor/gpu/steps.hpp"
#include "tensor/ops/axis_extents.hpp"
#include "tensor/pointwise_functors.hpp"
#include "tensor/random_draw.hpp"

namespace attn::gpu {
namespace {

[[noreturn]] void refuse() {
  fail<Unsupported>("attn::Tensor: device gpu; this build has no CUDA, configure it with ",
                    "ATTN_CUDA=ON");
}

thread_local Determinism chosen = Determinism::fast;
thread_local Products precision = Products::full;

}  // namespace

// clang-format off

Stream stream() { refuse(); }
void synchronise() { refuse(); }
void set_determinism(Determinism determinism) { chosen = determinism; }
Determinism determinism() { return chosen; }
void set_products(Products products) { precision = products; }
Products products() { return precision; }

void* allocate(std::size_t) { refuse(); }
void release(void*, std::size_t, Stream) noexcept {}
void upload(void*, const void*, std::size_t) { refuse(); }
void download(void*, const void*, std::size_t) { refuse(); }
void clear(void*, std::size_t) { refuse(); }

void copy(const Tensor&, const Tensor&) { refuse(); }
void fill(const Tensor&, double) { refuse(); }
void count_up(const Tensor&) { refuse(); }

void unary_forward(pointwise::UnaryOp, double, double, const Tensor&, const Tensor&) { refuse(); }
void unary_backward(pointwise::UnaryOp, double, double, const Tensor&, const Tensor&, const Tensor&) { refuse(); }
void binary(pointwise::BinaryOp, const Tensor&, const Tensor&, const Tensor&) { refuse(); }
void choose(const Tensor&, const Tensor&, const Tensor&, const Tensor&) { refuse(); }
void logical_and(const Tensor&, const Tensor&, const Tensor&) { refuse(); }
void logical_not(const Tensor&, const Tensor&) { refuse(); }
void length_mask(const Tensor&, const Tensor&) { refuse(); }

void sum_middle(const Tensor&, const op::AxisExtents&, const Tensor&) { refuse(); }
void argmax(const Tensor&, const op::AxisExtents&, const Tensor&) { refuse(); }
void top(const Tensor&, const Tensor&) { refuse(); }

void softmax(const Tensor&, const Tensor&, const Tensor&) { refuse(); }
void softmax_backward(const Tensor&, const Tensor&, const Tensor&) { refuse(); }
void log_softmax(const Tensor&, const Tensor&) { refuse(); }
void log_softmax_backward(const Tensor&, const Tensor&, const Tensor&) { refuse(); }
void layer_norm(const Tensor&, const Tensor&, const Tensor&, double, const Tensor&, const Tensor&) { refuse(); }
void layer_norm_backward(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&) { refuse(); }
void cross_entropy(const Tensor&, const Tensor&, const CrossEntropy&, const Tensor&, const Tensor&, const Tensor&) { refuse(); }
void cross_entropy_backward(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&, const CrossEntropy&, const Tensor&) { refuse(); }

void choose_places(const Tensor&, int, const Tensor&, const IndexNames&, const Tensor&) { refuse(); }
void add_places(const Tensor&, int, const Tensor&, const Tensor&) { refuse(); }
void gather(const Tensor&, int, const Tensor&, const IndexNames&, const Tensor&) { refuse(); }
void scatter_add(const Tensor&, int, const Tensor&, const IndexNames&, const Tensor&) { refuse(); }

void score_pairs(const Recipe&, const Tensor&, LeftOut, const Tensor&) { refuse(); }
void score_pairs_backward(const Recipe&, const RecipeGrads&, const Tensor&, LeftOut, const Tensor&, const Tensor&) { refuse(); }
void pool_again(const Tensor&, const Tensor&, const Tensor&) { refuse(); }
void softmax_weights(const Recipe&, const Tensor&, const Tensor&, const Tensor&, const Tensor&) { refuse(); }
void weight_factors(const Recipe&, const Tensor&) { refuse(); }
void additive_scores(const Tensor&, const Tensor&, const Tensor&, const Tensor&) { refuse(); }
void additive_scores_backward(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&) { refuse(); }
void merge(const std::array<Tensor, 4>&, const Tensor&, const Tensor&) { refuse(); }
void merge_backward(const std::array<Tensor, 4>&, const Tensor&, const Tensor&, const std::array<Tensor, 4>&) { refuse(); }
void unfold(const gemm::ConvShape&, const Tensor&, const Tensor&) { refuse(); }
void fold(const gemm::ConvShape&, const Tensor&, const Tensor&) { refuse(); }

void dropout(const op::DropoutDraw&, const Tensor&, const Tensor&) { refuse(); }
void draw(const op::UniformDraw&, std::uint64_t, const Tensor&) { refuse(); }
void draw(const op::NormalDraw&, std::uint64_t, const Tensor&) { refuse(); }

template <class T> void gru_step(const CellStep<T>&) { refuse(); }
template <class T> void lstm_step(const CellStep<T>&) { refuse(); }
template <class T> void gru_step_backward(const CellStepBackward<T>&) { refuse(); }
template <class T> void lstm_step_backward(const CellStepBackward<T>&) { refuse(); }
template void gru_step(const CellStep<float>&);
template void gru_step(const CellStep<double>&);
template void lstm_step(const CellStep<float>&);
template void lstm_step(const CellStep<double>&);
template void gru_step_backward(const CellStepBackward<float>&);
template void gru_step_backward(const CellStepBackward<double>&);
template void lstm_step_backward(const CellStepBackward<float>&);
template void lstm_step_backward(const CellStepBackward<double>&);

template <class T> void attend_and_gru(const AttentionStep<T>&, const CellStep<T>&) { refuse(); }
template <class T> void attend_and_join(const AttentionStep<T>&, const JoinStep<T>&) { refuse(); }
template <class T> void attend_and_gru_backward(const AttentionStepBackward<T>&, const CellStepBackward<T>&) { refuse(); }
template <class T> void attend_and_join_backward(const AttentionStepBackward<T>&, const JoinStepBackward<T>&) { refuse(); }
template <class T> void attention_keys_backward(const AttentionKeysBackward<T>&) { refuse(); }
template void attend_and_gru(const AttentionStep<float>&, const CellStep<float>&);
template void attend_and_gru(const AttentionStep<double>&, const CellStep<double>&);
template void attend_and_join(const AttentionStep<float>&, const JoinStep<float>&);
template void attend_and_join(const AttentionStep<double>&, const JoinStep<double>&);
template void attend_and_gru_backward(const AttentionStepBackward<float>&, const CellStepBackward<float>&);
template void attend_and_gru_backward(const AttentionStepBackward<double>&, const CellStepBackward<double>&);
template void attend_and_join_backward(const AttentionStepBackward<float>&, const JoinStepBackward<float>&);
template void attend_and_join_backward(const AttentionStepBackward<double>&, const JoinStepBackward<double>&);
template void attention_keys_backward(const AttentionKeysBackward<float>&);
template void attention_keys_backward(const AttentionKeysBackward<double>&);

// clang-format on

}  // namespace attn::gpu
