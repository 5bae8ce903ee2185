/// What the two adapters of our own kernels share.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <memory>

#include "attn/kernels/cpu/attention.hpp"
#include "contender.hpp"

namespace attn::bench {

/// The threads and the instruction set of a case, as the kernels take them.
cpu::Context context_of(const Setting& setting);

std::unique_ptr<Contender> enter_dot(const Problem& problem, const Data& data,
                                     const Setting& setting);

/// The projections are products of the bench's own; the kernels do the rest.
std::unique_ptr<Contender> enter_additive(const Problem& problem, const Data& data,
                                          const Setting& setting);

}  // namespace attn::bench
