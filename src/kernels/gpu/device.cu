#include <cuda_runtime.h>

#include <sstream>
#include <string>

#include "attn/kernels/gpu/device.hpp"

namespace attn::gpu {
namespace {

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
