/// oneDNN's convolution of a few images: made once, run by any thread.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>

#include "attn/gemm/conv.hpp"

namespace attn::gemm {

/// A primitive and the layouts it wants; 16 channels side by side, say.
struct ConvPlan {
  dnnl::primitive primitive;
  dnnl::memory::desc x;
  dnnl::memory::desc weight;
  dnnl::memory::desc y;
  dnnl::memory::desc scratchpad;
};

/// For `images` of the batch.
ConvPlan plan_forward(const ConvShape& shape, std::int64_t images);
ConvPlan plan_backward_data(const ConvShape& shape, std::int64_t images);
ConvPlan plan_backward_weights(const ConvShape& shape, std::int64_t images);

dnnl::engine& conv_engine();

/// Row-major layouts of x, weight, y and bias.
struct ConvLayouts {
  ConvLayouts(const ConvShape& shape, std::int64_t images);

  dnnl::memory::desc x;
  dnnl::memory::desc weight;
  dnnl::memory::desc y;
  dnnl::memory::desc bias;
};

/// Memory of ours, which oneDNN only reads where it is told to.
dnnl::memory over(const dnnl::memory::desc& layout, const float* data);

/// `from` itself, or a copy in another layout.
dnnl::memory arranged(dnnl::memory from, const dnnl::memory::desc& layout,
                      dnnl::stream& stream);

/// Numbers that oneDNN computes: straight to row-major memory, or turned by finish().
class ConvResult {
 public:
  ConvResult(const dnnl::memory::desc& wanted, const dnnl::memory::desc& plain, float* to);
  const dnnl::memory& computed() const { return computed_; }
  void finish(dnnl::stream& stream);

 private:
  dnnl::memory to_;
  dnnl::memory computed_;
};

}  // namespace attn::gemm
