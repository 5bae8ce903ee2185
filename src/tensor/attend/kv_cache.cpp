// Writes into a cache, on the device where it lies.

#include "attn/tensor/kv_cache.hpp"

#include <cstdint>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/kernels/cache.hpp"
#include "attn/kernels/gpu/linear.hpp"
#include "attn/tensor/gpu.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/attend/views.hpp"
#include "tensor/op.hpp"

namespace attn {

void write_cache(const Tensor& cache, const Tensor& update,
                 const std::vector<std::int64_t>& starts) {
  constexpr const char* kWhere = "attn::write_cache";
  op::require_same_kind(cache, update, kWhere);
  if (cache.rank() != 4 || update.rank() != 4 ||
      static_cast<std::int64_t>(starts.size()) != cache.size(0))
    fail(kWhere, ": ", update.text(), " into ", cache.text(), " at ", starts.size(),
         " starts; [batch, kv_heads, positions, channels] and one a sequence are accepted");
  for (const std::int64_t start : starts)
    if (start < 0 || start + update.size(2) > cache.size(2))
      fail(kWhere, ": ", update.size(2), " positions behind ", start,
           "; the cache has room for ", cache.size(2));
  const Tensor places = Tensor::from(starts, {cache.size(0)}).to(cache.device());
  cache.impl().storage->wrote();
  op::dispatch_storage(cache.dtype(), [&]<class T>(T) {
    const CacheArgs<T> args{op::view<T, 4>(cache), op::view<const T, 4>(update.detach()),
                            op::numbers<const std::int64_t>(places)};
    op::on_gpu(cache) ? gpu::write_cache(args, gpu::stream()) : write_cache(args);
  });
}

}  // namespace attn
