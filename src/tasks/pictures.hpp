/// What tasks that read pictures do to them first: colours, sizes.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "attn/tasks/value.hpp"

namespace attn::tasks {

/// Why it is neither grey nor red, green and blue, to stand behind "the picture "; "": it is.
std::string colours_refusal(const Picture& picture);

/// The member "picture" of a request; InvalidArgument, which begins with "the field ", for what
/// is none.
Picture picture_in_request(const nlohmann::json& picture);

/// A byte a pixel: how light it is (ITU-R BT.601).
std::vector<std::uint8_t> grey_of(const Picture& picture);
/// Three channels, whatever it had.
Picture in_colour(const Picture& picture);

/// The whole picture on a square of `side` pixels, as large as it fits and in its middle; what
/// is left free has the middle colour of the picture's rim. A pixel is the mean of what it
/// covers.
Picture fitted(const Picture& picture, std::int64_t side);

}  // namespace attn::tasks
