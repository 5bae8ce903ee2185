// A build without CUDA: products on the GPU say that there is none.

#include "attn/core/dtype.hpp"  // IWYU pragma: keep: the instances below
#include "attn/core/error.hpp"
#include "attn/gemm/gemm.hpp"
#include "attn/gemm/gpu.hpp"

namespace attn::gemm {

template <class T>
void product_on_gpu(const Args<T>&, const Finish<T>&, CUstream_st*, Products) {
  fail<Unsupported>(
      "attn::gemm::product_on_gpu: this build has no CUDA; configure it with ATTN_CUDA=ON");
}

template void product_on_gpu(const Args<float>&, const Finish<float>&, CUstream_st*, Products);
template void product_on_gpu(const Args<double>&, const Finish<double>&, CUstream_st*,
                             Products);
template void product_on_gpu(const Args<BFloat16>&, const Finish<BFloat16>&, CUstream_st*,
                             Products);
template void product_on_gpu(const Args<Float16>&, const Finish<Float16>&, CUstream_st*,
                             Products);

}  // namespace attn::gemm
