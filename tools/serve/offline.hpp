/// The page as one file that asks no server: its data stand inside it.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "attn/tasks/answer.hpp"
#include "attn/tasks/answerer.hpp"

namespace attn::serve {

/// What the page of one answer shows, without a server: the question, the answer with every
/// head, or with its map where that is an alignment, and the live examples. `model` is a name
/// for people.
nlohmann::json offline_data(const tasks::Answerer& answerer, const std::string& model,
                            const tasks::Input& input, const tasks::Reply& reply);

/// The page with `data` in the block that it reads. A FileError where the page was not built.
std::string offline_page(const nlohmann::json& data);

/// The same with a page of one's own, in which a line <!--attn-data--> marks the place.
std::string with_data(std::string_view page, const nlohmann::json& data);

/// JSON in which no text can end a script element or begin a comment: < > & and the two line
/// separators of Unicode are written as \uXXXX.
std::string script_safe(const nlohmann::json& data);

}  // namespace attn::serve
