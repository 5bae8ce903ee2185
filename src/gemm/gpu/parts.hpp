/// Products of floats on the matrix units: a float is the sum of two numbers of TF32, high and
/// low, to 2^-22 of it, and
///
///     A B = A_low B_high + A_high B_low + A_high B_high
///
/// is one product of three times the depth.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/gemm/gemm.hpp"

struct CUstream_st;

namespace attn::gemm {

/// Whether that is faster than the units for floats, with the passes that part the operands.
bool parts_pay(const Args<float>& args);

/// The operands of `args` in parts, in memory of the stream; given back when it ends.
class Parted {
 public:
  Parted(const Args<float>& args, CUstream_st* stream);
  ~Parted();
  Parted(const Parted&) = delete;
  Parted& operator=(const Parted&) = delete;

  /// To be computed in TF32.
  const Args<float>& args() const { return args_; }

 private:
  Args<float> args_;
  CUstream_st* stream_;
  void* memory_ = nullptr;
};

}  // namespace attn::gemm
