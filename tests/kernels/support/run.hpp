/// Runs a problem through the reference in double or through the CPU kernels in its own
/// element type and layouts, and compares.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "attn/kernels/cpu/attention.hpp"
#include "attn/kernels/target.hpp"
#include "kernels/support/problem.hpp"

namespace attn::test {

/// Everything that forward and backward give, packed and in double.
struct Results {
  std::vector<double> out, stat, dq{}, dk{}, dv{};
  std::vector<std::vector<double>> tables{};  ///< gradients, in the order of Problem::tables
  std::string damage{};                       ///< what was written outside the views

  bool operator==(const Results&) const = default;
};

/// By the definition, in double.
Results run_reference(const Problem& problem);

/// The same without the backward pass.
Results forward_reference(const Problem& problem);

/// By the kernels; backward gets what forward wrote. `with_stat` false leaves the statistic out
/// of forward, and backward undone.
Results run_cpu(const Problem& problem, const cpu::Context& context = {},
                bool with_stat = true);

/// The weights that pool the values, by the definition.
std::vector<double> reference_weights(const Problem& problem);

/// What the gradient of table t may be off by: a number gathers a product of each pair, and
/// where all channels of a similarity share one weight, of each of their channels.
double table_tolerance(const Problem& problem, std::size_t t, DType dtype);

/// What is wrong with `got`; empty if it agrees within the tolerance of the problem's dtype and
/// lengths.
std::string difference(const Problem& problem, const Results& got, const Results& want);

/// The targets that this machine can run, the best first.
std::vector<Target> targets();

}  // namespace attn::test
