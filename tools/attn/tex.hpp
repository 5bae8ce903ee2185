/// Formulas of the registry as TeX, for pages that are read in a browser.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <string_view>
#include <vector>

namespace attn::tools {

/// The statements of a formula, each as TeX without its dollars. The dialect is that of
/// docs/page.md: x_i, x_{t-1}, x^T, sqrt(x), sum_i, ->h, words of English between.
std::vector<std::string> tex(std::string_view formula);

}  // namespace attn::tools
