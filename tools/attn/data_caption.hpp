/// `attn data caption`: what canvases are composed of, and how they look.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <string>

#include "tools/attn/command.hpp"

namespace attn::tools {

struct CaptionDataOptions {
  std::size_t samples = 3;
  std::string out;  ///< a folder for the samples as PNG files
  bool json = false;
};
int data_caption(const CaptionDataOptions& options, const Streams& streams);

}  // namespace attn::tools
