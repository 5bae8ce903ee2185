/// Packages whose descriptions are made by a machine or say nothing.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string_view>

#include "attn/tasks/debian/index.hpp"

namespace attn::tasks {

inline bool is_boilerplate(const Description& description) {
  const std::string_view package = description.package;
  const auto says = [&](std::string_view word) {
    return description.synopsis.find(word) != std::string_view::npos;
  };
  return package.starts_with("librust-") ||
         (package.starts_with("libghc-") && package.ends_with("-prof")) ||
         says("ransitional") || says("ummy package");
}

}  // namespace attn::tasks
