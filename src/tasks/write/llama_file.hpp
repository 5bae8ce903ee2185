/// Models in the layout of llama2.c: seven whole numbers, then the weights of a Llama in f32;
/// its tokens lie in a file of their own.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "attn/text/byte_pieces.hpp"
#include "tasks/write/network.hpp"

namespace attn::tasks {

/// Tokens with their scores, as many as the model has: marks, the 256 bytes, pieces. FileError,
/// which begins with `where`.
text::BytePieces read_llama_tokens(std::string_view bytes, std::int64_t count,
                                   const std::string& where);

/// How many tokens such a model has. FileError for what is none.
std::int64_t llama_tokens(std::string_view bytes, const std::string& where);

/// The options of such a model as the JSON of `write`'s models.
nlohmann::json llama_options(std::string_view bytes, const std::string& where);

/// The model, in eval(). FileError, which begins with `where`, for a file of another size.
std::shared_ptr<WriteNetwork> read_llama(std::string_view bytes, text::BytePieces pieces,
                                         const std::string& where);

/// The same from files: the tokens lie beside the model, as tokN.bin of its N tokens or
/// tokenizer.bin.
std::shared_ptr<WriteNetwork> read_llama(const std::filesystem::path& file);

}  // namespace attn::tasks
