// SPDX-License-Identifier: Apache-2.0

#include "attn/tasks/embed/sentence_encoder.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/tensor/gpu.hpp"
#include "attn/tensor/storage.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tasks/embed/graph_weights.hpp"
#include "tasks/embed/network.hpp"
#include "tasks/embed/pieces.hpp"

namespace attn::tasks {
namespace {

namespace fs = std::filesystem;
using Ids = std::vector<std::int64_t>;

/// Pieces that run together, padding counted. On the CPU enough to fill the products, few
/// enough for the widest layer (6 KB a piece) to stay in cache; on the GPU enough to fill it.
constexpr std::size_t kBatchPieces = 1024;
constexpr std::size_t kGpuBatchPieces = 16384;

/// Row i of `out` becomes the vector of text places[i].
void encode_batch(const Network& network, const std::vector<Ids>& texts,
                  std::span<const std::size_t> places, const Tensor& out) {
  const std::size_t longest = texts[places.back()].size();
  Ids ids(places.size() * longest, 0);
  Ids lengths;
  for (std::size_t row = 0; row < places.size(); ++row) {
    const Ids& text = texts[places[row]];
    std::copy(text.begin(), text.end(),
              ids.begin() + static_cast<std::ptrdiff_t>(row * longest));
    lengths.push_back(std::ssize(text));
  }
  const auto rows = static_cast<std::int64_t>(places.size());
  const Shape shape{rows, static_cast<std::int64_t>(longest)};
  const Tensor vectors = network(Tensor::from(ids, shape).to(network.device()),
                                 Tensor::from(lengths, {rows}).to(network.device()))
                             .to(Device::cpu)
                             .contiguous();
  const std::int64_t width = network.width();
  for (std::size_t row = 0; row < places.size(); ++row)
    std::copy_n(vectors.data<float>() + static_cast<std::int64_t>(row) * width, width,
                out.mutable_data<float>() + static_cast<std::int64_t>(places[row]) * width);
}

}  // namespace

struct SentenceEncoder::State {
  Pieces pieces;
  Network network;
};

SentenceEncoder::SentenceEncoder(std::shared_ptr<const State> state)
    : state_(std::move(state)) {}

SentenceEncoder SentenceEncoder::load(const fs::path& folder, Device device) {
  auto state = std::make_shared<State>(
      State{Pieces::read(folder / "vocab.json"), Network(GraphWeights(folder))});
  if (static_cast<std::int64_t>(state->pieces.size()) > state->network.rows())
    fail<FileError>(files::path_text(folder / "vocab.json"), ": ", state->pieces.size(),
                    " pieces; the network has vectors for ", state->network.rows());
  if (device == Device::gpu) {
    state->network.to(device);
    gpu::synchronise();  // other threads have streams of their own
  }
  return SentenceEncoder(std::move(state));
}

Tensor SentenceEncoder::encode(std::span<const std::string> texts) const {
  const NoGrad off_tape;
  const auto most = static_cast<std::size_t>(max_pieces());
  std::vector<Ids> ids;
  ids.reserve(texts.size());
  for (const std::string& text : texts) {
    if (text.empty() || !files::is_utf8(text))
      fail("attn::tasks::SentenceEncoder::encode: text ", ids.size() + 1, " of ", texts.size(),
           text.empty() ? " is empty" : " is not UTF-8: " + files::in_quotes(text));
    ids.push_back(pieces(text));
    ids.back().resize(std::min(ids.back().size(), most));
  }
  std::vector<std::size_t> order(texts.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(ids[a].size(), a) < std::pair(ids[b].size(), b);
  });

  const std::size_t together =
      state_->network.device() == Device::gpu ? kGpuBatchPieces : kBatchPieces;
  const Tensor out = Tensor::empty({std::ssize(texts), width()});
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && (end + 1 - begin) * ids[order[end]].size() <= together) ++end;
    encode_batch(state_->network, ids, std::span(order).subspan(begin, end - begin), out);
    begin = end;
  }
  return out;
}

std::vector<std::int64_t> SentenceEncoder::pieces(std::string_view text) const {
  return state_->pieces.encode(text);
}

std::int64_t SentenceEncoder::width() const {
  return state_->network.width();
}
std::int64_t SentenceEncoder::max_pieces() const {
  return state_->network.max_pieces();
}

}  // namespace attn::tasks
