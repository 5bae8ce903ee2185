/// Value: a thing that a task reads or writes. Text, a picture, frames, a sound, labels, a
/// table.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <variant>
#include <vector>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn::tasks {

struct Picture {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::int64_t channels = 1;         ///< 1: grey, 3: red, green, blue
  std::vector<std::uint8_t> pixels;  ///< [height, width, channels]

  bool operator==(const Picture&) const = default;
};

/// The pictures of a film, in order.
using Frames = std::vector<Picture>;

class Samples;  // attn/tasks/transcribe/samples.hpp

/// Samples that lie in a file: hours of them need not be in memory.
class StoredSamples {
 public:
  virtual ~StoredSamples() = default;
  /// They are read through it, and while it lives.
  virtual std::shared_ptr<const Samples> open() const = 0;
};

struct Sound {
  std::int64_t rate = 16000;                         ///< samples a second
  std::vector<float> samples;                        ///< -1 to 1
  std::shared_ptr<const StoredSamples> stored = {};  ///< in place of them; null: there are none

  bool operator==(const Sound&) const = default;
};

struct Label {
  std::string name;
  double score = 0.0;  ///< a probability

  bool operator==(const Label&) const = default;
};
/// Likeliest first.
using Labels = std::vector<Label>;

/// Named columns. The arcs of a sentence are one (word, head, relation), the notes of a piece
/// (start, length, pitch), and so are numbers by name.
struct Table {
  using Cell = std::variant<double, std::string>;
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;  ///< as many cells as columns

  bool operator==(const Table&) const = default;
};

using Value = std::variant<std::string, Picture, Frames, Sound, Labels, Table>;

/// A text is a string, frames are a list of pictures, anything else is an object whose members
/// are those above; "pixels" and "samples" are base64, samples as little-endian f32.
nlohmann::json json_of(const Value& value);
/// FileError, which begins with `where`, for what no value looks like.
Value value_of(const nlohmann::json& json, const std::string& where);

}  // namespace attn::tasks
