// Matrix products on the GPU by cuBLASLt.

#include <cublasLt.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <type_traits>
#include <unordered_map>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/gemm/gemm.hpp"
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
using Key = std::array<std::int64_t, 21>;

struct KeyHash {
  std::size_t operator()(const Key& key) const {
    std::uint64_t hash = 0;
    for (const std::int64_t number : key) {
      hash = (hash ^ static_cast<std::uint64_t>(number)) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 32;
    }
    return static_cast<std::size_t>(hash);
  }
};

std::uint32_t alignment(const void* data) {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  return static_cast<std::uint32_t>(std::min<std::uintptr_t>(address & -address, 256));
}

/// NVIDIA's advice for Hopper.
constexpr std::size_t kWorkspace = std::size_t{32} << 20;

/// A product as cuBLASLt wants it described, and the kernel chosen for it. Made once: choosing
/// takes longer than a small product, and four descriptors a call a third of its launch.
/// Row-major as it lies is column-major transposed, so C^T = B^T A^T is what cuBLASLt sees.
class Plan {
 public:
  template <class T>
  Plan(cublasLtHandle_t handle, const Args<T>& args, const Finish<T>& finish,
       Products products) {
    using Types = TypesOf<T>;
    check(cublasLtMatmulDescCreate(&operation_.handle, Types::compute(products), Types::kScale),
          "cublasLtMatmulDescCreate");
    set(CUBLASLT_MATMUL_DESC_TRANSA, operation_of(args.transpose_b));
    set(CUBLASLT_MATMUL_DESC_TRANSB, operation_of(args.transpose_a));
    if (finish.bias != nullptr) {
      set(CUBLASLT_MATMUL_DESC_EPILOGUE,
          finish.relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS);
      set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, finish.bias);
    }
    const auto batch = static_cast<std::int32_t>(args.batch);
    const auto lay_out = [&](Layout& to, std::int64_t rows, std::int64_t columns,
                             std::int64_t lead, std::int64_t step) {
      describe(to, Types::kStored, rows, columns, lead);
      put(to, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, batch);
      put(to, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, step);
    };
    lay_out(b_, args.transpose_b == Transpose::no ? args.n : args.k,
            args.transpose_b == Transpose::no ? args.k : args.n, args.ldb, args.b_stride);
    lay_out(a_, args.transpose_a == Transpose::no ? args.k : args.m,
            args.transpose_a == Transpose::no ? args.m : args.k, args.lda, args.a_stride);
    lay_out(c_, args.n, args.m, args.ldc, args.c_stride);
    choose(handle, args, finish.added != nullptr ? finish.added : args.c);
  }

  template <class T>
  void run(cublasLtHandle_t handle, const Args<T>& args, const Finish<T>& finish,
           void* workspace, cudaStream_t stream) {
    using Scalar = typename TypesOf<T>::Scalar;
    if (finish.bias != nullptr) set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, finish.bias);
    const Scalar one = 1;
    const auto beta = finish.added != nullptr ? one : static_cast<Scalar>(args.beta);
    const T* before = finish.added != nullptr ? finish.added : args.c;
    check(cublasLtMatmul(handle, operation_.handle, &one, args.b, b_.handle, args.a, a_.handle,
                         &beta, before, c_.handle, args.c, c_.handle, &chosen_, workspace,
                         kWorkspace, stream),
          "cublasLtMatmul");
  }

 private:
  static cublasOperation_t operation_of(Transpose transpose) {
    return transpose == Transpose::yes ? CUBLAS_OP_T : CUBLAS_OP_N;
  }
  template <class V>
  void set(cublasLtMatmulDescAttributes_t attribute, const V& value) {
    check(cublasLtMatmulDescSetAttribute(operation_.handle, attribute, &value, sizeof(value)),
          "cublasLtMatmulDescSetAttribute");
  }
  static void describe(Layout& to, cudaDataType_t type, std::int64_t rows, std::int64_t columns,
                       std::int64_t lead) {
    check(cublasLtMatrixLayoutCreate(&to.handle, type, static_cast<std::uint64_t>(rows),
                                     static_cast<std::uint64_t>(columns), lead),
          "cublasLtMatrixLayoutCreate");
  }
  template <class V>
  static void put(Layout& to, cublasLtMatrixLayoutAttribute_t attribute, const V& value) {
    check(cublasLtMatrixLayoutSetAttribute(to.handle, attribute, &value, sizeof(value)),
          "cublasLtMatrixLayoutSetAttribute");
  }

  template <class T>
  void choose(cublasLtHandle_t handle, const Args<T>& args, const T* before) {
    Preference preference;
    check(cublasLtMatmulPreferenceCreate(&preference.handle), "cublasLtMatmulPreferenceCreate");
    const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
      check(cublasLtMatmulPreferenceSetAttribute(preference.handle, attribute, &value,
                                                 sizeof(value)),
            "cublasLtMatmulPreferenceSetAttribute");
    };
    prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kWorkspace);
    // Parts of a sum are joined in float, in order, whatever C is stored as.
    prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
           static_cast<std::uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment(args.b));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment(args.a));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment(before));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment(args.c));
    cublasLtMatmulHeuristicResult_t result{};
    int found = 0;
    check(cublasLtMatmulAlgoGetHeuristic(handle, operation_.handle, b_.handle, a_.handle,
                                         c_.handle, c_.handle, preference.handle, 1, &result,
                                         &found),
          "cublasLtMatmulAlgoGetHeuristic");
    if (found == 0)
      fail<Unsupported>(kWhere, ": cuBLASLt has no kernel for ", args.m, " x ", args.n, " x ",
                        args.k, " in ", name_of(kDType<T>));
    chosen_ = result.algo;
  }

  Operation operation_;
  Layout a_;
  Layout b_;
  Layout c_;
  cublasLtMatmulAlgo_t chosen_{};
};

/// cuBLASLt for one stream: its handle, room to work in, and the products known so far.
struct Engine {
  explicit Engine(cudaStream_t stream) {
    check(cublasLtCreate(&handle), "cublasLtCreate");
    if (cudaMallocAsync(&workspace, kWorkspace, stream) != cudaSuccess)
      fail<Error>(kWhere, ": no ", kWorkspace, " bytes of the GPU's memory to work in");
  }

  cublasLtHandle_t handle = nullptr;
  void* workspace = nullptr;
  std::unordered_map<Key, std::unique_ptr<Plan>, KeyHash> plans;
};

/// One thread works on a stream at a time, but threads find their engines together.
Engine& engine_of(cudaStream_t stream) {
  thread_local cudaStream_t last = nullptr;
  thread_local Engine* its = nullptr;
  if (its != nullptr && last == stream) return *its;
  static std::mutex mutex;
  static auto* const kEngines = new std::map<cudaStream_t, std::unique_ptr<Engine>>;
  const std::lock_guard lock(mutex);
  std::unique_ptr<Engine>& engine = (*kEngines)[stream];
  if (!engine) engine = std::make_unique<Engine>(stream);
  last = stream;
  its = engine.get();
  return *engine;
}

// Products of floats on the matrix units: a float is the sum of two numbers of TF32, high and
// low, to 2^-22 of it, and
//
//     A B = A_low B_high + A_high B_low + A_high B_high
//
// is one product of three times the depth.

constexpr int kThreads = 256;

/// Rows and columns as they lie, and where the depth of the product runs.
struct Operand {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t lead;
  bool depth_in_columns;
};

/// Which of the three parts are the low ones.
enum class Low { first, second };

/// The depth of `to` holds three parts one after the other; its rows are packed.
__global__ void part_kernel(Operand x, Low low_part, const float* from, float* to) {
  const std::int64_t count = x.rows * x.columns;
  const std::int64_t grid = static_cast<std::int64_t>(gridDim.x) * kThreads;
  const auto columns = static_cast<std::uint32_t>(x.columns);
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
       i < count; i += grid) {
    const std::int64_t row = static_cast<std::uint32_t>(i) / columns;
    const std::int64_t column = static_cast<std::uint32_t>(i) % columns;
    const float number = from[row * x.lead + column];
    std::uint32_t bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(number));
    // What the conversion leaves below TF32's bits is not said.
    const float high = __uint_as_float(bits & 0xffffe000u);
    const float low = isfinite(high) ? number - high : 0.0f;
    const std::int64_t step = x.depth_in_columns ? x.columns : count;
    float* place = to + (x.depth_in_columns ? row * 3 * x.columns + column : i);
    place[0] = low_part == Low::first ? low : high;
    place[step] = low_part == Low::second ? low : high;
    place[2 * step] = high;
  }
}

void part(const Operand& x, Low low, const float* from, float* to, cudaStream_t stream) {
  const std::int64_t count = x.rows * x.columns;
  const std::int64_t blocks =
      std::min<std::int64_t>((count + kThreads - 1) / kThreads, 1 << 16);
  part_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(x, low, from, to);
}

/// Whether that is faster than the units for floats, with the passes that part the operands.
bool parts_pay(const Args<float>& args) {
  // On an H200 floats multiply at some 50 TFLOP/s and parts at 350 / 3; parting moves 16 bytes
  // a number at 3.5 TB/s, after two launches.
  constexpr double kSaved = 2.0 / 50e12 - 2.0 * 3.0 / 350e12;
  constexpr double kMoved = 16.0 / 3.5e12;
  constexpr double kLaunches = 8e-6;
  const auto m = static_cast<double>(args.m);
  const auto n = static_cast<double>(args.n);
  const auto k = static_cast<double>(args.k);
  // cuBLASLt's kernels for TF32 read rows that begin at 16 bytes.
  const auto even = [](std::int64_t number) { return number % 4 == 0; };
  return args.batch == 1 && even(args.m) && even(args.n) && even(args.k) && even(args.ldc) &&
         m * k < INT32_MAX && n * k < INT32_MAX &&
         m * n * k * kSaved > 1.5 * ((m + n) * k * kMoved + kLaunches);
}

/// The operands of `args` in parts, in memory of the stream; given back when it ends.
class Parted {
 public:
  Parted(const Args<float>& args, cudaStream_t stream) : args_(args), stream_(stream) {
    const Operand a = args.transpose_a == Transpose::no
                          ? Operand{args.m, args.k, args.lda, true}
                          : Operand{args.k, args.m, args.lda, false};
    const Operand b = args.transpose_b == Transpose::no
                          ? Operand{args.k, args.n, args.ldb, false}
                          : Operand{args.n, args.k, args.ldb, true};
    const std::int64_t a_numbers = 3 * a.rows * a.columns;
    const std::int64_t b_numbers = 3 * b.rows * b.columns;
    const auto bytes = static_cast<std::size_t>(a_numbers + b_numbers) * sizeof(float);
    if (cudaMallocAsync(&memory_, bytes, stream) != cudaSuccess)
      fail<Error>(kWhere, ": no ", bytes, " bytes of the GPU's memory for a ", args.m, " x ",
                  args.n, " x ", args.k, " product of floats");
    auto* parts = static_cast<float*>(memory_);
    part(a, Low::first, args.a, parts, stream);
    part(b, Low::second, args.b, parts + a_numbers, stream);
    args_.a = parts;
    args_.lda = a.depth_in_columns ? 3 * a.columns : a.columns;
    args_.b = parts + a_numbers;
    args_.ldb = b.depth_in_columns ? 3 * b.columns : b.columns;
    args_.k = 3 * args.k;
    if (const cudaError_t status = cudaGetLastError(); status != cudaSuccess)
      fail<Error>(kWhere, ": ", cudaGetErrorString(status));
  }
  ~Parted() {
    if (memory_ != nullptr) cudaFreeAsync(memory_, stream_);
  }
  Parted(const Parted&) = delete;
  Parted& operator=(const Parted&) = delete;

  /// To be computed in TF32.
  const Args<float>& args() const { return args_; }

 private:
  Args<float> args_;
  cudaStream_t stream_;
  void* memory_ = nullptr;
};

}  // namespace

template <class T>
void product_on_gpu(const Args<T>& args, const Finish<T>& finish, CUstream_st* stream,
                    Products products) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return;
  if (args.k <= 0) fail(kWhere, ": k is ", args.k, "; at least 1 is accepted");
  if (args.batch > INT32_MAX)
    fail<Unsupported>(kWhere, ": ", args.batch, " products; 2^31 are accepted");
  if constexpr (std::is_same_v<T, float>) {
    if (products == Products::full && parts_pay(args)) {
      const Parted parted(args, stream);
      return product_on_gpu(parted.args(), finish, stream, Products::tf32);
    }
  }
  const Key key{static_cast<std::int64_t>(kDType<T>),
                args.m,
                args.n,
                args.k,
                args.lda,
                args.ldb,
                args.ldc,
                args.transpose_a == Transpose::yes,
                args.transpose_b == Transpose::yes,
                args.batch,
                args.a_stride,
                args.b_stride,
                args.c_stride,
                finish.bias != nullptr,
                finish.relu,
                finish.added != nullptr ? alignment(finish.added) : 0,
                alignment(args.a),
                alignment(args.b),
                alignment(args.c),
                static_cast<float>(args.beta) != 0.0f,
                static_cast<std::int64_t>(products)};
  Engine& engine = engine_of(stream);
  std::unique_ptr<Plan>& plan = engine.plans[key];
  if (!plan) plan = std::make_unique<Plan>(engine.handle, args, finish, products);
  plan->run(engine.handle, args, finish, engine.workspace, stream);
}

template void product_on_gpu(const Args<float>&, const Finish<float>&, CUstream_st*, Products);
template void product_on_gpu(const Args<double>&, const Finish<double>&, CUstream_st*,
                             Products);
template void product_on_gpu(const Args<BFloat16>&, const Finish<BFloat16>&, CUstream_st*,
                             Products);
template void product_on_gpu(const Args<Float16>&, const Finish<Float16>&, CUstream_st*,
                             Products);

}  // namespace attn::gemm
