#include <cublasLt.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/gemm/gpu.hpp"

namespace attn::gemm {
namespace {

constexpr const char* kWhere = "attn::gemm::product_on_gpu";

void check(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS)
    fail<Error>(kWhere, ": ", call, ": ", cublasLtGetStatusString(status));
}

/// Descriptors are plain handles; these give them back.
template <class Handle, cublasStatus_t (*kDestroy)(Handle)>
struct Owned {
  Handle handle = nullptr;
  Owned() = default;
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (handle != nullptr) kDestroy(handle);
  }
};
using Operation = Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using Layout = Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using Preference = Owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

template <class T>
struct TypesOf {
  static constexpr cudaDataType_t kStored = std::is_same_v<T, double>     ? CUDA_R_64F
                                            : std::is_same_v<T, float>    ? CUDA_R_32F
                                            : std::is_same_v<T, BFloat16> ? CUDA_R_16BF
                                                                          : CUDA_R_16F;
  static constexpr bool kDouble = std::is_same_v<T, double>;
  static constexpr cudaDataType_t kScale = kDouble ? CUDA_R_64F : CUDA_R_32F;
  static cublasComputeType_t compute(Products products) {
    if (kDouble) return CUBLAS_COMPUTE_64F;
    const bool rounds = std::is_same_v<T, float> && products == Products::tf32;
    return rounds ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  }
  using Scalar = std::conditional_t<kDouble, double, float>;
};

/// What the choice of a kernel depends on.
using Key = std::array<std::int64_t, 19>;

/// cuBLASLt for one stream: its handle, room to work in, and the kernels chosen so far, since
/// choosing takes longer than a small product.
struct Engine {
  static constexpr std::size_t kWorkspace = std::size_t{32}
                                            << 20;  // NVIDIA's advice for Hopper

  explicit Engine(cudaStream_t stream) {
    check(cublasLtCreate(&handle), "cublasLtCreate");
    if (cudaMallocAsync(&workspace, kWorkspace, stream) != cudaSuccess)
      fail<Error>(kWhere, ": no ", kWorkspace, " bytes of the GPU's memory to work in");
  }

  cublasLtHandle_t handle = nullptr;
  void* workspace = nullptr;
  std::map<Key, cublasLtMatmulAlgo_t> chosen;
};

/// One thread works on a stream at a time, but threads find their engines together.
Engine& engine_of(cudaStream_t stream) {
  static std::mutex mutex;
  static auto* const kEngines = new std::map<cudaStream_t, std::unique_ptr<Engine>>;
  const std::lock_guard lock(mutex);
  std::unique_ptr<Engine>& engine = (*kEngines)[stream];
  if (!engine) engine = std::make_unique<Engine>(stream);
  return *engine;
}

/// Row-major as it lies is column-major turned, so C^T = B^T A^T is what cuBLASLt sees.
template <class T>
class Product {
 public:
  Product(const Args<T>& args, const T* bias, Products products) : args_(args) {
    using Types = TypesOf<T>;
    check(cublasLtMatmulDescCreate(&operation_.handle, Types::compute(products), Types::kScale),
          "cublasLtMatmulDescCreate");
    set(CUBLASLT_MATMUL_DESC_TRANSA, turn(args.turn_b));
    set(CUBLASLT_MATMUL_DESC_TRANSB, turn(args.turn_a));
    if (bias != nullptr) {
      set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
      set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
    }
    lay_out(b_, args.turn_b == Turn::no ? args.n : args.k,
            args.turn_b == Turn::no ? args.k : args.n, args.ldb, args.b_stride);
    lay_out(a_, args.turn_a == Turn::no ? args.k : args.m,
            args.turn_a == Turn::no ? args.m : args.k, args.lda, args.a_stride);
    lay_out(c_, args.n, args.m, args.ldc, args.c_stride);
  }

  void run(Engine& engine, const Key& key, cudaStream_t stream) {
    auto found = engine.chosen.find(key);
    if (found == engine.chosen.end())
      found = engine.chosen.emplace(key, choose(engine.handle)).first;
    const typename TypesOf<T>::Scalar one = 1;
    const auto beta = static_cast<typename TypesOf<T>::Scalar>(args_.beta);
    check(cublasLtMatmul(engine.handle, operation_.handle, &one, args_.b, b_.handle, args_.a,
                         a_.handle, &beta, args_.c, c_.handle, args_.c, c_.handle,
                         &found->second, engine.workspace, Engine::kWorkspace, stream),
          "cublasLtMatmul");
  }

 private:
  static cublasOperation_t turn(Turn turn) {
    return turn == Turn::yes ? CUBLAS_OP_T : CUBLAS_OP_N;
  }
  template <class V>
  void set(cublasLtMatmulDescAttributes_t attribute, const V& value) {
    check(cublasLtMatmulDescSetAttribute(operation_.handle, attribute, &value, sizeof(value)),
          "cublasLtMatmulDescSetAttribute");
  }
  void lay_out(Layout& to, std::int64_t rows, std::int64_t columns, std::int64_t lead,
               std::int64_t step) {
    check(cublasLtMatrixLayoutCreate(&to.handle, TypesOf<T>::kStored,
                                     static_cast<std::uint64_t>(rows),
                                     static_cast<std::uint64_t>(columns), lead),
          "cublasLtMatrixLayoutCreate");
    const auto batch = static_cast<std::int32_t>(args_.batch);
    check(cublasLtMatrixLayoutSetAttribute(to.handle, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
                                           &batch, sizeof(batch)),
          "cublasLtMatrixLayoutSetAttribute");
    check(cublasLtMatrixLayoutSetAttribute(
              to.handle, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &step, sizeof(step)),
          "cublasLtMatrixLayoutSetAttribute");
  }

  cublasLtMatmulAlgo_t choose(cublasLtHandle_t handle) const {
    Preference preference;
    check(cublasLtMatmulPreferenceCreate(&preference.handle), "cublasLtMatmulPreferenceCreate");
    const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
      check(cublasLtMatmulPreferenceSetAttribute(preference.handle, attribute, &value,
                                                 sizeof(value)),
            "cublasLtMatmulPreferenceSetAttribute");
    };
    prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, Engine::kWorkspace);
    // Parts of a sum are joined in float, in order, whatever C is stored as.
    prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
           static_cast<std::uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment(args_.b));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment(args_.a));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment(args_.c));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment(args_.c));
    cublasLtMatmulHeuristicResult_t result{};
    int found = 0;
    check(cublasLtMatmulAlgoGetHeuristic(handle, operation_.handle, b_.handle, a_.handle,
                                         c_.handle, c_.handle, preference.handle, 1, &result,
                                         &found),
          "cublasLtMatmulAlgoGetHeuristic");
    if (found == 0)
      fail<Unsupported>(kWhere, ": cuBLASLt has no kernel for ", args_.m, " x ", args_.n, " x ",
                        args_.k, " in ", name_of(kDType<T>));
    return result.algo;
  }

 public:
  static std::uint32_t alignment(const void* data) {
    const auto address = reinterpret_cast<std::uintptr_t>(data);
    return static_cast<std::uint32_t>(std::min<std::uintptr_t>(address & -address, 256));
  }

 private:
  Args<T> args_;
  Operation operation_;
  Layout a_;
  Layout b_;
  Layout c_;
};

}  // namespace

template <class T>
void product_on_gpu(const Args<T>& args, const T* bias, CUstream_st* stream,
                    Products products) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return;
  if (args.k <= 0) fail(kWhere, ": k is ", args.k, "; at least 1 is accepted");
  if (args.batch > INT32_MAX)
    fail<Unsupported>(kWhere, ": ", args.batch, " products; 2^31 are accepted");
  const auto align = [](const void* data) -> std::int64_t {
    return Product<T>::alignment(data);
  };
  const Key key{static_cast<std::int64_t>(kDType<T>),
                args.m,
                args.n,
                args.k,
                args.lda,
                args.ldb,
                args.ldc,
                args.turn_a == Turn::yes,
                args.turn_b == Turn::yes,
                args.batch,
                args.a_stride,
                args.b_stride,
                args.c_stride,
                bias != nullptr,
                align(args.a),
                align(args.b),
                align(args.c),
                static_cast<float>(args.beta) != 0.0f,
                static_cast<std::int64_t>(products)};
  Product<T>(args, bias, products).run(engine_of(stream), key, stream);
}

template void product_on_gpu(const Args<float>&, const float*, CUstream_st*, Products);
template void product_on_gpu(const Args<double>&, const double*, CUstream_st*, Products);
template void product_on_gpu(const Args<BFloat16>&, const BFloat16*, CUstream_st*, Products);
template void product_on_gpu(const Args<Float16>&, const Float16*, CUstream_st*, Products);

}  // namespace attn::gemm
