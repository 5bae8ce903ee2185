// The GPU's memory: blocks by size, kept with their stream.

#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/kernels/gpu/error.hpp"
#include "attn/tensor/gpu.hpp"
#include "tensor/gpu/engine.hpp"
#include "tensor/gpu/fault.cuh"

namespace attn::gpu {
namespace {

/// Small blocks that were given back, by size. What is queued on their stream later may use
/// them at once, and asking the driver takes as long as launching a small kernel.
class FreeBlocks {
 public:
  /// Null where there is none.
  void* take(std::size_t bytes) {
    const auto list = lists_.find(size_class(bytes));
    if (list == lists_.end() || list->second.empty()) return nullptr;
    void* block = list->second.back();
    list->second.pop_back();
    held_ -= list->first;
    return block;
  }
  /// Whether it is taken back.
  bool give_back(void* block, std::size_t bytes) {
    if (bytes > kLargest || held_ > kMost) return false;
    lists_[size_class(bytes)].push_back(block);
    held_ += size_class(bytes);
    return true;
  }
  static std::size_t size_class(std::size_t bytes) {
    return bytes > kLargest ? bytes : std::bit_ceil(std::max<std::size_t>(bytes, 512));
  }

 private:
  static constexpr std::size_t kLargest = std::size_t{1} << 20;
  static constexpr std::size_t kMost = std::size_t{64} << 20;

  std::unordered_map<std::size_t, std::vector<void*>> lists_;
  std::size_t held_ = 0;
};

/// What one thread needs of the GPU.
struct Context {
  cudaStream_t stream = nullptr;
  Fault* fault = nullptr;
  FreeBlocks* blocks = nullptr;
};

/// Contexts of threads that ended wait for the next ones.
class Contexts {
 public:
  static Contexts& shared() {
    // Never destroyed: tensors of static storage duration may outlive any order of exit.
    static auto* const kContexts = new Contexts;
    return *kContexts;
  }

  Context take() {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      const Context context = free_.back();
      free_.pop_back();
      return context;
    }
    keep_what_is_freed();
    Context context;
    ATTN_CUDA_CALL(cudaStreamCreateWithFlags(&context.stream, cudaStreamNonBlocking));
    ATTN_CUDA_CALL(cudaHostAlloc(&context.fault, sizeof(Fault), cudaHostAllocMapped));
    *context.fault = {};
    context.blocks = new FreeBlocks;
    return context;
  }

  void give_back(const Context& context) {
    const std::lock_guard lock(mutex_);
    free_.push_back(context);
  }

 private:
  /// The driver's pool returns its memory at every synchronisation unless it is told not to.
  static void keep_what_is_freed() {
    int device = 0;
    ATTN_CUDA_CALL(cudaGetDevice(&device));
    cudaMemPool_t pool = nullptr;
    ATTN_CUDA_CALL(cudaDeviceGetDefaultMemPool(&pool, device));
    std::uint64_t all = UINT64_MAX;
    ATTN_CUDA_CALL(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all));
  }

  std::mutex mutex_;
  std::vector<Context> free_;
};

// Without destructors: tensors may be given back while their thread ends.
thread_local Context own;
thread_local Determinism chosen = Determinism::fast;
thread_local Products precision = Products::full;

struct GiveBack {
  ~GiveBack() {
    Contexts::shared().give_back(own);
    own = {};
  }
};

const Context& context() {
  if (own.stream == nullptr) {
    own = Contexts::shared().take();
    thread_local const GiveBack when_the_thread_ends;
    static_cast<void>(when_the_thread_ends);
  }
  return own;
}

}  // namespace

Stream stream() {
  return context().stream;
}

void synchronise() {
  ATTN_CUDA_CALL(cudaStreamSynchronize(stream()));
  Fault& fault = *context().fault;
  if (fault.taken == 0) return;
  const Fault seen = fault;
  fault = {};
  fail(seen.where, ": ", seen.what, " ", seen.number, "; 0 to ", seen.extent - 1,
       " are accepted (seen on the GPU, whose work was waited for now)");
}

void set_determinism(Determinism determinism) {
  chosen = determinism;
}
Determinism determinism() {
  return chosen;
}
void set_products(Products products) {
  precision = products;
}
Products products() {
  return precision;
}

Bounds bounds(const char* where, const char* what, std::int64_t extent) {
  return {context().fault, where, what, extent};
}

void* allocate(std::size_t bytes) {
  void* data = context().blocks->take(bytes);
  // An empty tensor has an address, too.
  if (data == nullptr)
    ATTN_CUDA_CALL(cudaMallocAsync(&data, FreeBlocks::size_class(bytes), stream()));
  return data;
}

void release(void* data, std::size_t bytes, Stream owner) noexcept {
  try {
    const cudaStream_t here = stream();
    if (here == owner && context().blocks->give_back(data, bytes)) return;
    if (here != owner) {
      // This thread may still use it: its owner's stream waits before it hands it out again.
      cudaEvent_t done = nullptr;
      ATTN_CUDA_CALL(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
      cudaEventRecord(done, here);
      cudaStreamWaitEvent(owner, done, 0);
      cudaEventDestroy(done);
    }
    cudaFreeAsync(data, owner);
  } catch (const Error&) {
    // No driver, no memory to give back.
  }
  cudaGetLastError();
}

void upload(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  ATTN_CUDA_CALL(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream()));
}

void download(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0)
    ATTN_CUDA_CALL(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream()));
  synchronise();
}

void clear(void* to, std::size_t bytes) {
  if (bytes > 0) ATTN_CUDA_CALL(cudaMemsetAsync(to, 0, bytes, stream()));
}

}  // namespace attn::gpu
