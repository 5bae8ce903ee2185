/// The Moonshine models of an npm package: the numbers of two ONNX graphs become a SpeechModel,
/// and the package's own table of pieces turns tokens into text.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/files/onnx.hpp"
#include "attn/models/speech_model.hpp"

namespace attn::tasks {

/// The files of a model inside of the package.
struct SpeechFiles {
  explicit SpeechFiles(const std::string& model);  ///< "tiny" or "base"

  std::string encoder;
  std::string decoder;
  std::string pieces;  ///< the program that holds them
};

/// Sizes, strides and constants are read from the graphs; FileError where they are not those of
/// a Moonshine model.
models::SpeechModel speech_model(const files::OnnxGraph& encoder,
                                 const files::OnnxGraph& decoder);

/// The pieces of a Llama tokeniser, to read alone: "▁" is a space, "<0x0A>" a byte.
class SpeechPieces {
 public:
  static constexpr std::int64_t kBegin = 1;
  static constexpr std::int64_t kEnd = 2;

  explicit SpeechPieces(std::vector<std::string> pieces) : pieces_(std::move(pieces)) {}
  /// Out of the package's program, which holds them in base64.
  static SpeechPieces read(const std::filesystem::path& script);
  static SpeechPieces parse(std::string_view script, const std::string& where);

  /// The bytes of a token; "" of a mark, and of what has no piece.
  std::string bytes(std::int64_t token) const;
  /// Valid UTF-8 without a space in front; what no character comes of is U+FFFD.
  std::string text(std::span<const std::int64_t> tokens) const;
  std::size_t size() const { return pieces_.size(); }

 private:
  std::vector<std::string> pieces_;
};

}  // namespace attn::tasks
