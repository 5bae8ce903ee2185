/// Pairs as whole numbers, and the batches of an epoch: a function of the seed and the epoch
/// alone, so that a resumed run sees what an uninterrupted one would.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "attn/models/seq2seq.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/text/tokeniser.hpp"

namespace attn::tasks {

struct EncodedPair {
  std::vector<std::int64_t> source;  ///< ends with eos
  std::vector<std::int64_t> target;  ///< without marks
};

/// What a model reads and writes at most, in tokens without marks.
struct Limits {
  std::int64_t source = 64;
  std::int64_t target = 64;
};

/// What becomes of a source that is longer than the limit.
enum class Overlong { drop, cut };

/// The tokens of a source as a model reads them: cut to the limit, then eos.
std::vector<std::int64_t> encode_source(const text::Tokeniser& tokeniser,
                                        std::string_view source, std::int64_t most);

struct EncodedCorpus {
  std::vector<EncodedPair> pairs;
  std::int64_t dropped = 0;  ///< too long, or with an empty side
};
/// A pair for each right target of an example, as often as an epoch has it.
EncodedCorpus encode_pairs(std::span<const Example> examples, const text::Tokeniser& source,
                           const text::Tokeniser& target, const Limits& limits,
                           Overlong overlong);

using Rows = std::vector<std::int64_t>;

/// Which pairs go together, in the order they are trained on. Pairs of like length share a
/// batch, and a batch has at most `tokens` tokens, padding included.
std::vector<Rows> make_batches(std::span<const EncodedPair> pairs, std::int64_t tokens,
                               std::uint64_t seed, std::int64_t epoch);

/// The same for anything that has a cost; a batch costs at most `most`, each of its rows as
/// much as the costliest.
std::vector<Rows> make_batches(std::span<const std::int64_t> costs, std::int64_t most,
                               std::uint64_t seed, std::int64_t epoch);

/// The chosen pairs, padded.
models::Batch collate(std::span<const EncodedPair> pairs, const Rows& rows);

/// Sources alone: i64 [rows, longest] and their lengths.
struct SourceBatch {
  Tensor source;
  Tensor lengths;
};
SourceBatch collate_sources(std::span<const std::vector<std::int64_t>> sources);

}  // namespace attn::tasks
