#include "attn/tensor/storage.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include "attn/tensor/gpu.hpp"
#include "tensor/gpu/engine.hpp"

namespace attn {
namespace {

constexpr std::size_t kAlign = 64;

/// Freed blocks wait in a list of their size class. Sizes are rounded up to an eighth of a
/// power of two, so a block wastes at most an eighth and loops find their blocks again.
class CachingAllocator {
 public:
  static CachingAllocator& shared() {
    // Never destroyed: tensors of static storage duration may outlive any order of exit.
    static auto* const kAllocator = new CachingAllocator;
    return *kAllocator;
  }

  void* take(std::size_t bytes) {
    const std::size_t size = size_class(bytes);
    const std::lock_guard lock(mutex_);
    use_.live += size;
    use_.peak = std::max(use_.peak, use_.live);
    auto& list = free_[size];
    if (!list.empty()) {
      void* block = list.back();
      list.pop_back();
      use_.cached -= size;
      return block;
    }
    return ::operator new(size, std::align_val_t{kAlign});
  }

  void give_back(void* block, std::size_t bytes) {
    const std::size_t size = size_class(bytes);
    const std::lock_guard lock(mutex_);
    use_.live -= size;
    use_.cached += size;
    free_[size].push_back(block);
  }

  MemoryUse use() {
    const std::lock_guard lock(mutex_);
    return use_;
  }

  void reset_peak() {
    const std::lock_guard lock(mutex_);
    use_.peak = use_.live;
  }

  void release() {
    const std::lock_guard lock(mutex_);
    for (auto& [size, list] : free_)
      for (void* block : list) ::operator delete(block, std::align_val_t{kAlign});
    free_.clear();
    use_.cached = 0;
  }

 private:
  static std::size_t size_class(std::size_t bytes) {
    const std::size_t least = std::max(bytes, kAlign);
    const std::size_t step = std::max(kAlign, std::bit_floor(least) / 8);
    return (least + step - 1) / step * step;
  }

  std::mutex mutex_;
  std::unordered_map<std::size_t, std::vector<void*>> free_;
  MemoryUse use_;
};

}  // namespace

std::shared_ptr<Storage> Storage::allocate(std::size_t bytes, Device device) {
  if (device == Device::gpu) {
    void* data = gpu::allocate(bytes);
    return std::make_shared<Storage>(data, bytes, device, [data, bytes, owner = gpu::stream()] {
      gpu::release(data, bytes, owner);
    });
  }
  return std::make_shared<Storage>(CachingAllocator::shared().take(bytes), bytes, device,
                                   std::function<void()>{});
}

std::shared_ptr<Storage> Storage::adopt(void* data, std::size_t bytes,
                                        std::function<void()> release) {
  return std::make_shared<Storage>(data, bytes, Device::cpu, std::move(release));
}

Storage::~Storage() {
  if (release_) {
    release_();
  } else {
    CachingAllocator::shared().give_back(data_, bytes_);
  }
}

MemoryUse memory_use() {
  return CachingAllocator::shared().use();
}
void reset_peak_memory() {
  CachingAllocator::shared().reset_peak();
}
void release_cached_memory() {
  CachingAllocator::shared().release();
}

}  // namespace attn
