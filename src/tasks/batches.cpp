#include "attn/tasks/batches.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/text/tokeniser.hpp"

namespace attn::tasks {
namespace {

// Models see no text and vocabularies no model; here they meet.
static_assert(models::kPad == text::Mark::pad && models::kBos == text::Mark::bos &&
              models::kEos == text::Mark::eos && models::kUnknown == text::Mark::unknown);

/// Pairs are sorted by length inside pools of this many batches: little padding, and yet other
/// neighbours in each epoch.
constexpr std::int64_t kPool = 100;

std::int64_t length(const std::vector<std::int64_t>& tokens) {
  return static_cast<std::int64_t>(tokens.size());
}

/// Padded sizes of a batch that grows.
struct Extent {
  std::int64_t rows = 0;
  std::int64_t source = 0;
  std::int64_t target = 0;

  Extent with(const EncodedPair& pair) const {
    return {rows + 1, std::max(source, length(pair.source)),
            std::max(target, length(pair.target) + 1)};
  }
  std::int64_t tokens() const { return rows * (source + target); }
};

void shuffle(std::vector<Rows>& batches, Random& random) {
  const Tensor order = permutation(static_cast<std::int64_t>(batches.size()), random);
  std::vector<Rows> shuffled;
  shuffled.reserve(batches.size());
  for (const std::int64_t from : order.to_vector<std::int64_t>())
    shuffled.push_back(std::move(batches[static_cast<std::size_t>(from)]));
  batches = std::move(shuffled);
}

/// Where a pool that begins at `begin` ends.
std::size_t pool_end(std::span<const EncodedPair> pairs, const std::vector<std::int64_t>& order,
                     std::size_t begin, std::int64_t tokens) {
  std::int64_t seen = 0;
  std::size_t end = begin;
  while (end < order.size() && seen < kPool * tokens) {
    const EncodedPair& pair = pairs[static_cast<std::size_t>(order[end++])];
    seen += length(pair.source) + length(pair.target) + 1;
  }
  return end;
}

Tensor whole_numbers(std::int64_t rows, std::int64_t columns) {
  return Tensor::full({rows, columns}, static_cast<double>(models::kPad), DType::i64);
}

}  // namespace

std::vector<std::int64_t> encode_source(const text::Tokeniser& tokeniser,
                                        std::string_view source, std::int64_t most) {
  std::vector<std::int64_t> ids = tokeniser.encode(source);
  if (length(ids) > most) ids.resize(static_cast<std::size_t>(most));
  ids.push_back(models::kEos);
  return ids;
}

EncodedCorpus encode_pairs(std::span<const Example> examples, const text::Tokeniser& source,
                           const text::Tokeniser& target, const Limits& limits,
                           Overlong overlong) {
  EncodedCorpus encoded;
  encoded.pairs.reserve(examples.size());
  const auto add = [&](EncodedPair pair) {
    const bool long_source = length(pair.source) > limits.source;
    if (pair.source.empty() || pair.target.empty() || length(pair.target) > limits.target ||
        (long_source && overlong == Overlong::drop)) {
      ++encoded.dropped;
      return;
    }
    if (long_source) pair.source.resize(static_cast<std::size_t>(limits.source));
    pair.source.push_back(models::kEos);
    encoded.pairs.push_back(std::move(pair));
  };
  for (const Example& example : examples) {
    const std::vector<std::int64_t> read = source.encode(example.source);
    for (const std::string& right : example.targets) {
      const EncodedPair pair{read, target.encode(right)};
      for (std::int64_t i = 0; i < example.times; ++i) add(pair);
    }
  }
  return encoded;
}

std::vector<Rows> make_batches(std::span<const EncodedPair> pairs, std::int64_t tokens,
                               std::uint64_t seed, std::int64_t epoch) {
  Random random = Random(seed).named("batches " + std::to_string(epoch));
  std::vector<std::int64_t> order =
      permutation(static_cast<std::int64_t>(pairs.size()), random).to_vector<std::int64_t>();
  const auto size = [&](std::int64_t row) {
    const EncodedPair& pair = pairs[static_cast<std::size_t>(row)];
    return std::tuple(length(pair.source), length(pair.target), row);
  };
  std::vector<Rows> batches;
  for (std::size_t begin = 0; begin < order.size();) {
    const std::size_t end = pool_end(pairs, order, begin, tokens);
    std::sort(order.begin() + static_cast<std::ptrdiff_t>(begin),
              order.begin() + static_cast<std::ptrdiff_t>(end),
              [&](std::int64_t a, std::int64_t b) { return size(a) < size(b); });
    Extent extent;
    Rows rows;
    for (; begin < end; ++begin) {
      const EncodedPair& pair = pairs[static_cast<std::size_t>(order[begin])];
      if (!rows.empty() && extent.with(pair).tokens() > tokens) {
        batches.push_back(std::move(rows));
        rows = {};
        extent = {};
      }
      extent = extent.with(pair);
      rows.push_back(order[begin]);
    }
    if (!rows.empty()) batches.push_back(std::move(rows));
  }
  shuffle(batches, random);
  return batches;
}

std::vector<Rows> make_batches(std::span<const std::int64_t> costs, std::int64_t most,
                               std::uint64_t seed, std::int64_t epoch) {
  Random random = Random(seed).named("batches " + std::to_string(epoch));
  std::vector<std::int64_t> order =
      permutation(static_cast<std::int64_t>(costs.size()), random).to_vector<std::int64_t>();
  const auto cost = [&](std::int64_t row) { return costs[static_cast<std::size_t>(row)]; };
  std::vector<Rows> batches;
  for (auto begin = order.begin(); begin != order.end();) {
    std::int64_t seen = 0;
    auto end = begin;
    while (end != order.end() && seen < kPool * most) seen += cost(*end++);
    std::sort(begin, end, [&](std::int64_t a, std::int64_t b) {
      return std::pair(cost(a), a) < std::pair(cost(b), b);
    });
    Rows rows;
    for (; begin != end; ++begin) {
      // Sorted: the new row is the costliest.
      if (!rows.empty() && (static_cast<std::int64_t>(rows.size()) + 1) * cost(*begin) > most)
        batches.push_back(std::exchange(rows, {}));
      rows.push_back(*begin);
    }
    if (!rows.empty()) batches.push_back(std::move(rows));
  }
  shuffle(batches, random);
  return batches;
}

models::Batch collate(std::span<const EncodedPair> pairs, const Rows& rows) {
  Extent extent;
  for (const std::int64_t row : rows)
    extent = extent.with(pairs[static_cast<std::size_t>(row)]);
  models::Batch batch{.source = whole_numbers(extent.rows, extent.source),
                      .source_lengths = Tensor::zeros({extent.rows}, DType::i64),
                      .input = whole_numbers(extent.rows, extent.target),
                      .target = whole_numbers(extent.rows, extent.target)};
  auto* source = batch.source.mutable_data<std::int64_t>();
  auto* lengths = batch.source_lengths.mutable_data<std::int64_t>();
  auto* input = batch.input.mutable_data<std::int64_t>();
  auto* target = batch.target.mutable_data<std::int64_t>();
  for (const std::int64_t row : rows) {
    const EncodedPair& pair = pairs[static_cast<std::size_t>(row)];
    std::copy(pair.source.begin(), pair.source.end(), source);
    *lengths++ = length(pair.source);
    input[0] = models::kBos;
    std::copy(pair.target.begin(), pair.target.end(), input + 1);
    *std::copy(pair.target.begin(), pair.target.end(), target) = models::kEos;
    source += extent.source;
    input += extent.target;
    target += extent.target;
  }
  return batch;
}

SourceBatch collate_sources(std::span<const std::vector<std::int64_t>> sources) {
  std::int64_t longest = 1;
  for (const auto& source : sources) longest = std::max(longest, length(source));
  const auto rows = static_cast<std::int64_t>(sources.size());
  SourceBatch batch{whole_numbers(rows, longest), Tensor::zeros({rows}, DType::i64)};
  auto* ids = batch.source.mutable_data<std::int64_t>();
  auto* lengths = batch.lengths.mutable_data<std::int64_t>();
  for (const auto& source : sources) {
    std::copy(source.begin(), source.end(), ids);
    *lengths++ = length(source);
    ids += longest;
  }
  return batch;
}

}  // namespace attn::tasks
