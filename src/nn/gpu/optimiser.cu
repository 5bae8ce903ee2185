#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "nn/gpu/optimiser.hpp"
#include "tensor/gpu/launch.cuh"
#include "tensor/gpu/team.cuh"

namespace attn::gpu {
namespace {

/// One tensor of a launch; what an optimiser does not keep is null.
template <class T>
struct Entry {
  std::int64_t count;
  T* parameter;
  const T* grad;
  T* first;
  T* second;
};

/// As many as fit the 4 KB of arguments that a launch takes everywhere.
constexpr std::size_t kMost = 64;

template <class T>
struct Entries {
  Entry<T> list[kMost];
};

/// Blocks a tensor gets at most: eight of them keep all multiprocessors busy.
constexpr std::int64_t kBlocks = 256;

template <class T>
__global__ void adam_kernel(nn::AdamStep step, Entries<T> entries) {
  const Entry<T> e = entries.list[blockIdx.y];
  for_numbers(e.count, [&](std::int64_t i) {
    const nn::AdamNumbers<T> now =
        step.update(e.grad[i], nn::AdamNumbers<T>{e.parameter[i], e.first[i], e.second[i]});
    e.parameter[i] = now.parameter;
    e.first[i] = now.mean;
    e.second[i] = now.square;
  });
}

template <class T>
__global__ void sgd_kernel(nn::SgdStep step, Entries<T> entries) {
  const Entry<T> e = entries.list[blockIdx.y];
  for_numbers(e.count, [&](std::int64_t i) {
    const T velocity = e.first == nullptr ? T(0) : e.first[i];
    const nn::SgdNumbers<T> now =
        step.update(e.grad[i], nn::SgdNumbers<T>{e.parameter[i], velocity});
    e.parameter[i] = now.parameter;
    if (e.first != nullptr) e.first[i] = now.velocity;
  });
}

template <class T>
__global__ void scale_kernel(T factor, Entries<T> entries) {
  const Entry<T> e = entries.list[blockIdx.y];
  for_numbers(e.count, [&](std::int64_t i) { e.parameter[i] *= factor; });
}

template <class T>
__global__ void approach_kernel(T share, Entries<T> entries) {
  const Entry<T> e = entries.list[blockIdx.y];
  for_numbers(e.count,
              [&](std::int64_t i) { e.parameter[i] += share * (e.grad[i] - e.parameter[i]); });
}

/// parts[tensor, block].
template <class T>
__global__ void squares_kernel(Entries<T> entries, double* parts) {
  const Entry<T> e = entries.list[blockIdx.y];
  T sum(0);
  for_numbers(e.count, [&](std::int64_t i) { sum += e.parameter[i] * e.parameter[i]; });
  const double total = Team<kThreads>::sum(static_cast<double>(sum));
  if (threadIdx.x == 0) parts[blockIdx.y * gridDim.x + blockIdx.x] = total;
}

__global__ void total_kernel(std::int64_t count, const double* parts, double* total) {
  double sum = 0.0;
  for (std::int64_t i = threadIdx.x; i < count; i += kThreads) sum += parts[i];
  sum = Team<kThreads>::sum(sum);
  if (threadIdx.x == 0) *total += sum;
}

template <class T>
T* or_null(const Tensor& x) {
  return x.defined() ? op::numbers<T>(x) : nullptr;
}

/// Calls run(T{}, entries, grid) for groups of tensors.
template <class Run>
void in_groups(const char* where, const std::vector<Updated>& all, const Run& run) {
  for (std::size_t begin = 0; begin < all.size(); begin += kMost) {
    const std::size_t end = std::min(all.size(), begin + kMost);
    op::dispatch_real(all[begin].parameter.dtype(), where, [&](auto zero) {
      using T = decltype(zero);
      Entries<T> entries;
      std::int64_t longest = 0;
      for (std::size_t i = begin; i < end; ++i) {
        const Updated& own = all[i];
        entries.list[i - begin] = {
            own.parameter.numel(), op::numbers<T>(own.parameter),
            own.grad.defined() ? op::numbers<const T>(own.grad) : nullptr,
            or_null<T>(own.first), or_null<T>(own.second)};
        longest = std::max(longest, own.parameter.numel());
      }
      const auto blocks = std::min<std::int64_t>(blocks_for(longest), kBlocks);
      run(zero, entries,
          dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(end - begin)));
      check_launch();
    });
  }
}

std::vector<Updated> alone(const std::vector<Tensor>& all) {
  std::vector<Updated> result;
  result.reserve(all.size());
  for (const Tensor& x : all) result.push_back({x, {}, {}, {}});
  return result;
}

}  // namespace

void adam(const nn::AdamStep& step, const std::vector<Updated>& all) {
  in_groups("attn::nn::Adam::step", all, [&](auto, const auto& entries, const dim3& grid) {
    adam_kernel<<<grid, kThreads, 0, stream()>>>(step, entries);
  });
}

void sgd(const nn::SgdStep& step, const std::vector<Updated>& all) {
  in_groups("attn::nn::Sgd::step", all, [&](auto, const auto& entries, const dim3& grid) {
    sgd_kernel<<<grid, kThreads, 0, stream()>>>(step, entries);
  });
}

void approach(double share, const std::vector<Updated>& all) {
  in_groups("attn::tasks::WeightAverage", all,
            [&](auto zero, const auto& entries, const dim3& grid) {
              approach_kernel<<<grid, kThreads, 0, stream()>>>(
                  static_cast<decltype(zero)>(share), entries);
            });
}

double sum_of_squares(const std::vector<Tensor>& all) {
  const Tensor total = Tensor::zeros({1}, DType::f64, Device::gpu);
  in_groups(
      "attn::nn::clip_gradients", alone(all), [&](auto, const auto& entries, const dim3& grid) {
        const std::int64_t count = static_cast<std::int64_t>(grid.x) * grid.y;
        const Tensor parts = Tensor::empty({count}, DType::f64, Device::gpu);
        squares_kernel<<<grid, kThreads, 0, stream()>>>(entries, op::numbers<double>(parts));
        total_kernel<<<1, kThreads, 0, stream()>>>(count, op::numbers<const double>(parts),
                                                   op::numbers<double>(total));
      });
  return total.item();
}

void scale(double factor, const std::vector<Tensor>& all) {
  in_groups("attn::nn::clip_gradients", alone(all),
            [&](auto zero, const auto& entries, const dim3& grid) {
              scale_kernel<<<grid, kThreads, 0, stream()>>>(static_cast<decltype(zero)>(factor),
                                                            entries);
            });
}

}  // namespace attn::gpu
