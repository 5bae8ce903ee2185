/// Brings the stages of a problem's spec to life.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "kernels/support/problem.hpp"

namespace attn::test {

/// Fills problem.recipe from problem.spec; tables and numbers that the stages point to are
/// added to the problem.
void build_recipe(Problem& problem);

}  // namespace attn::test
