#include <cuda_runtime.h>

#include <sstream>
#include <string>

#include "attn/kernels/gpu/device.hpp"
#include "attn/kernels/gpu/functor/decode_attribute.cuh"
#include "kernels/gpu/hopper/tensor_map.cuh"

namespace attn::gpu {
namespace {

/// Whether sm_90a is among the architectures of the build.
#if defined(ATTN_GPU_HOPPER) && ATTN_GPU_HOPPER
constexpr bool kHasHopperCode = true;
#else
constexpr bool kHasHopperCode = false;
#endif

/// The properties of the current device; false with CUDA's reason if there is none.
bool current_device(cudaDeviceProp& properties, std::string& reason) {
  int device = 0;
  cudaError_t status = cudaGetDevice(&device);
  if (status == cudaSuccess) status = cudaGetDeviceProperties(&properties, device);
  if (status == cudaSuccess) return true;
  reason = cudaGetErrorString(status);
  cudaGetLastError();  // a machine without a GPU must not fail the next launch check
  return false;
}

}  // namespace

bool available() {
  cudaDeviceProp properties{};
  std::string reason;
  return current_device(properties, reason) && properties.major >= 8;
}

Capability capability() {
  Capability result;
  result.version = 10 * device_attribute(cudaDevAttrComputeCapabilityMajor) +
                   device_attribute(cudaDevAttrComputeCapabilityMinor);
  result.shared_bytes = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  // Code of sm_90a runs on 9.0 alone, and reads through maps that the driver makes.
  if (result.version == 90 && (!kHasHopperCode || hopper::map_encoder() == nullptr))
    result.version = 80;
  return result;
}

std::string describe() {
  cudaDeviceProp properties{};
  std::string reason;
  if (!current_device(properties, reason)) return "none: " + reason;
  std::ostringstream text;
  text << properties.name << ", compute capability " << properties.major << '.'
       << properties.minor << ", " << properties.multiProcessorCount << " multiprocessors, "
       << (properties.totalGlobalMem >> 30) << " GiB";
  if (properties.major < 8) text << " (too old: 8.0 and later are supported)";
  return text.str();
}

}  // namespace attn::gpu
