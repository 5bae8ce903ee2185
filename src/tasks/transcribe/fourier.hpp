/// The discrete Fourier transform, of powers of 2.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <complex>
#include <vector>

namespace attn::tasks {

/// In place (Cooley and Tukey, 1965); the size is a power of 2.
void fourier_transform(std::vector<std::complex<double>>& x);

}  // namespace attn::tasks
