/// Training that begins with the weights of another model.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>

#include "attn/nn/module.hpp"

namespace attn::tasks {

/// Gives a model the weights of another one of the same sizes, which came from `folder`; an
/// Error names the first that does not fit, and nothing has changed then.
void begin_with(nn::Module& model, const nn::Module& other,
                const std::filesystem::path& folder);

}  // namespace attn::tasks
