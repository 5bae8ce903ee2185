#include "tensor/copy.hpp"

#include <cstddef>

#include "attn/core/dtype.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/cpu/copy.hpp"
#include "tensor/gpu/copy.hpp"
#include "tensor/gpu/memory.hpp"
#include "tensor/op.hpp"

namespace attn::op {
namespace {

std::size_t bytes_of(const Tensor& x) {
  return static_cast<std::size_t>(x.numel()) * size_of(x.dtype());
}

/// Copies on one device.
void copy_here(const Tensor& from, const Tensor& to) {
  dispatch_device(to, [&] { cpu::copy(from, to); }, [&] { gpu::copy(from, to); });
}

/// x row by row in the given type; itself when it is.
Tensor packed(const Tensor& x, DType dtype) {
  if (x.dtype() == dtype && x.is_contiguous()) return x;
  const Tensor result = Tensor::empty(x.shape(), dtype, x.device());
  copy_here(x, result);
  return result;
}

}  // namespace

void copy(const Tensor& from, const Tensor& to) {
  if (from.device() == to.device()) return copy_here(from, to);
  // Packed numbers travel, and are laid out where they arrive.
  const Tensor sent = packed(from, to.dtype());
  const Tensor arrived =
      to.is_contiguous() ? to : Tensor::empty(to.shape(), to.dtype(), to.device());
  dispatch_device(
      to, [&] { gpu::download(address(arrived), address(sent), bytes_of(sent)); },
      [&] { gpu::upload(address(arrived), address(sent), bytes_of(sent)); });
  if (!to.is_contiguous()) copy_here(arrived, to);
}

void fill(const Tensor& to, double value) {
  dispatch_device(to, [&] { cpu::fill(to, value); }, [&] { gpu::fill(to, value); });
}

}  // namespace attn::op
