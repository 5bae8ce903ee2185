/// The glimpse network: what was seen and where, in one vector. Mnih, Heess, Graves and
/// Kavukcuoglu, 2014, arXiv:1406.6247.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/linear.hpp"

namespace attn::nn {

struct GlimpseNetworkOptions {
  std::int64_t glimpse_dim;  ///< numbers in all patches
  std::int64_t glimpse_hidden;
  std::int64_t location_hidden;
  std::int64_t out_dim;
};

/// g = relu(glimpse_out(relu(glimpse_hidden rho)) + location_out(relu(location_hidden l))).
class GlimpseNetwork : public Module {
 public:
  explicit GlimpseNetwork(const GlimpseNetworkOptions& options);

  /// glimpse [batch, glimpse_dim], the patches flattened, location [batch, 2] -> [batch,
  /// out_dim].
  Tensor forward(const Tensor& glimpse, const Tensor& location) const;

 private:
  Linear glimpse_hidden_;
  Linear location_hidden_;
  Linear glimpse_out_;
  Linear location_out_;
};

}  // namespace attn::nn
