/// Training that begins with the weights of other models.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <memory>
#include <span>

#include "attn/nn/module.hpp"

namespace attn::tasks {

struct Beginning {
  std::shared_ptr<const nn::Module> model;
  std::filesystem::path folder;  ///< that it came from
};

/// Gives a model the mean of the weights of others of the same sizes; an Error names the first
/// that does not fit, and nothing has changed then.
void begin_with(nn::Module& model, std::span<const Beginning> others);

}  // namespace attn::tasks
