// A build without CUDA: tensors on the GPU say that there is none. Memory is what they ask for
// first; what functions call beside op::dispatch_device() is there for the linker.

#include "tensor/gpu/engine.hpp"

#include <cstddef>

#include "attn/core/error.hpp"
#include "attn/gemm/conv.hpp"
#include "attn/kernels/args.hpp"
#include "attn/kernels/recipe.hpp"
#include "attn/tensor/gpu.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/gpu/pairs.hpp"

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

void layer_norm_backward(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&) { refuse(); }
void cross_entropy(const Tensor&, const Tensor&, const CrossEntropy&, const Tensor&, const Tensor&, const Tensor&) { refuse(); }
void cross_entropy_backward(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&, const CrossEntropy&, const Tensor&) { refuse(); }
void unfold(const gemm::ConvShape&, const Tensor&, const Tensor&) { refuse(); }
void fold(const gemm::ConvShape&, const Tensor&, const Tensor&) { refuse(); }
void score_pairs(const Recipe&, const Tensor&, LeftOut, const Tensor&) { refuse(); }
void score_pairs_backward(const Recipe&, const RecipeGrads&, const Tensor&, LeftOut, const Tensor&, const Tensor&) { refuse(); }
void pool_again(const Tensor&, const Tensor&, const Tensor&) { refuse(); }
void softmax_weights(const Recipe&, const Tensor&, const Tensor&, const Tensor&, const Tensor&) { refuse(); }
void weight_factors(const Recipe&, const Tensor&) { refuse(); }
void additive_scores(const Tensor&, const Tensor&, const Tensor&, const Tensor&) { refuse(); }
void additive_scores_backward(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&) { refuse(); }

// clang-format on

}  // namespace attn::gpu
