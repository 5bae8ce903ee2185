// SPDX-License-Identifier: Apache-2.0

#include "attn/tasks/embed/sentence_encoder.hpp"

#include <algorithm>
#include <cmath>
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

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/nn/attention/multi_head_attention.hpp"
#include "attn/nn/module.hpp"
#include "attn/nn/transformer/transformer_layer.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/gpu.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/storage.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tasks/embed/graph_weights.hpp"
#include "tasks/embed/pieces.hpp"

namespace attn::tasks {
namespace {

bool better(const Match& a, const Match& b) {
  return a.score > b.score || (a.score == b.score && a.place < b.place);
}

/// Keeps `best` sorted and no longer than `most`.
void offer(std::vector<Match>& best, std::size_t most, const Match& match) {
  if (best.size() == most && !better(match, best.back())) return;
  if (best.size() == most) best.pop_back();
  best.insert(std::upper_bound(best.begin(), best.end(), match, better), match);
}

/// Two layers that normalise first; the first widens, so its residual is projected as well. The
/// mean over the pieces goes through tanh(x W + b) and is brought to length one.
class EncoderGraph {
 public:
  explicit EncoderGraph(const GraphWeights& weights);

  void to(Device device);
  Device device() const { return table_.device(); }

  /// ids i64 [batch, pieces], of which lengths i64 [batch] (all above 0) count
  /// -> [batch, width], all on the network's device.
  Tensor operator()(const Tensor& ids, const Tensor& lengths) const;

  std::int64_t rows() const { return table_.size(0); }  ///< pieces it has a vector for
  std::int64_t width() const { return last_.bias.size(0); }
  std::int64_t max_pieces() const { return timing_.size(0); }

 private:
  struct Dense {
    Tensor weight;  ///< [out, in]
    Tensor bias;
  };

  static Dense dense(const GraphWeights& weights, const std::string& kernel,
                     const std::string& bias, std::int64_t in, std::int64_t out = -1);
  nn::TransformerLayer layer(const GraphWeights& weights, int index, std::int64_t width) const;

  std::int64_t heads_ = 0;
  double eps_ = 0.0;
  double least_square_ = 0.0;  ///< of a vector that is brought to length one
  Tensor table_;               ///< [rows, features]
  Tensor timing_;              ///< [max pieces, features]: sines, then cosines
  std::vector<nn::TransformerLayer> layers_;
  Dense last_;
};

// TensorFlow's names: variables and folded constants under one, the rest of the graph under the
// other.
const std::string kVariables = "module/Encoder_en/";
const std::string kGraph = "module_apply_default/Encoder_en/";
const std::string kEncode = "KonaTransformer/Encode/";
const std::string kPart = "/ConcatPartitions/concat";

std::string layer_name(int index) {
  return "Layer_" + std::to_string(index) + "/TransformerLayer/";
}

/// [positions, 2 * frequencies]: sin(p f), then cos(p f).
Tensor timing_table(const Tensor& frequencies, std::int64_t positions) {
  const std::vector<float> f = frequencies.to_vector<float>();
  std::vector<float> table;
  for (std::int64_t p = 0; p < positions; ++p) {
    for (const float frequency : f)
      table.push_back(std::sin(static_cast<float>(p) * frequency));
    for (const float frequency : f)
      table.push_back(std::cos(static_cast<float>(p) * frequency));
  }
  return Tensor::from(table, {positions, 2 * std::ssize(f)});
}

/// Gives a parameter its numbers.
void give(const nn::Module& module, const std::string& name, const Tensor& numbers) {
  nn::find_tensor(module.named_parameters(), name).copy_from(numbers);
}

EncoderGraph::EncoderGraph(const GraphWeights& weights)
    : table_(weights.tensor("module/Embeddings_en", {-1, -1})) {
  // A text longer than this would be no sentence, and the table below must stay small.
  constexpr std::int64_t kMostPieces = 65536;
  constexpr std::int64_t kMostHeads = 1024;
  const std::string stack = kGraph + kEncode + "TransformerStack/";
  const std::string shared = stack + layer_name(1);
  heads_ = weights.integer(
      shared + "MultiheadAttention/split_heads/split_last_dimension/Reshape/shape/2");
  if (heads_ < 1 || heads_ > kMostHeads)
    fail<FileError>(weights.where(), ": ", heads_, " heads; 1 to ", kMostHeads, " are read");
  eps_ = weights.real(shared + "FFN/layer_prepostprocess/layer_norm/Cast/x");
  least_square_ = weights.real(kGraph + "hidden_layers/l2_normalize/Maximum/y");
  if (eps_ <= 0.0 || least_square_ <= 0.0)
    fail<FileError>(weights.where(), ": a constant of normalisation is not above 0");
  const std::int64_t most = weights.integer(kGraph + "KonaTransformer/ClipToMaxLength/Less/y");
  if (most < 1 || most > kMostPieces)
    fail<FileError>(weights.where(), ": texts of ", most, " pieces; 1 to ", kMostPieces,
                    " are read");
  const std::int64_t features = table_.size(1);
  timing_ =
      timing_table(weights.tensor(stack + "Layer_0/AddTimingSignal/TimingSignal/ExpandDims_1",
                                  {1, features / 2}),
                   most);
  if (timing_.size(1) != features)
    fail<FileError>(weights.where(), ": ", features,
                    " features a piece; an even number is needed");
  std::int64_t width = features;
  for (int index = 0; index < 2; ++index) {
    layers_.push_back(layer(weights, index, width));
    width = layers_.back().feed_out().bias().size(0);
  }
  const std::string hidden = kVariables + "hidden_layers/tanh_layer_0/";
  last_ = dense(weights, hidden + "weights", hidden + "bias", width);
}

EncoderGraph::Dense EncoderGraph::dense(const GraphWeights& weights, const std::string& kernel,
                                        const std::string& bias, std::int64_t in,
                                        std::int64_t out) {
  // Projections of attention are kept as convolutions over one place.
  const bool convolution = kernel.ends_with("kernel/part_0");
  Tensor weight = convolution ? weights.tensor(kernel, {1, 1, in, out}).squeeze(0).squeeze(0)
                              : weights.tensor(kernel, {in, out});
  weight = weight.transpose(0, 1).contiguous();
  return {weight, weights.tensor(bias, {weight.size(0)})};
}

nn::TransformerLayer EncoderGraph::layer(const GraphWeights& weights, int index,
                                         std::int64_t width) const {
  const std::string own = kGraph + kEncode + layer_name(index);
  const std::string kernels = kVariables + kEncode + layer_name(index) + "MultiheadAttention/";
  const std::string graph = kGraph + kEncode + "TransformerStack/" + layer_name(index);
  const std::string attention = own + "MultiheadAttention/";

  const Dense qkv = dense(weights, kernels + "qkv_transform_single/kernel/part_0",
                          attention + "qkv_transform_single/bias" + kPart, width);
  const std::int64_t joined = qkv.bias.size(0);
  if (joined % (3 * heads_) != 0)
    fail<FileError>(weights.where(), ": layer ", index, " joins ", joined,
                    " channels of queries, keys and values; ", heads_,
                    " heads need a multiple of ", 3 * heads_);
  const Dense out = dense(weights, kernels + "output_transform_single/kernel/part_0",
                          attention + "output_transform_single/bias" + kPart, joined / 3);
  const std::int64_t wide = out.bias.size(0);
  if ((index == 0) != (wide != width))
    fail<FileError>(weights.where(), ": layer ", index, " makes ", wide, " features of ", width,
                    "; the first layer alone is read with other features than it gets");
  const Dense widen = dense(weights, graph + "FFN/conv1/Tensordot/Reshape_1",
                            own + "FFN/conv1/bias" + kPart, wide);
  const Dense narrow = dense(weights, graph + "FFN/conv2/Tensordot/Reshape_1",
                             own + "FFN/conv2/bias" + kPart, widen.bias.size(0), wide);

  const nn::TransformerLayer layer({.dim = width,
                                    .heads = heads_,
                                    .feed_forward_dim = widen.bias.size(0),
                                    .norm = nn::NormOrder::before,
                                    .layer_norm_eps = eps_,
                                    .attention_dim = joined / 3,
                                    .out_dim = wide,
                                    .scale = weights.real(graph + "MultiheadAttention/mul/y")},
                                   nn::kModelEncoder);
  const NoGrad off_the_tape;
  const auto give_dense = [&](const std::string& name, const Dense& part) {
    give(layer, name + ".weight", part.weight);
    give(layer, name + ".bias", part.bias);
  };
  const auto give_norm = [&](const std::string& name, const std::string& prefix,
                             std::int64_t features) {
    const std::string from = prefix + "layer_prepostprocess/layer_norm/layer_norm_";
    give(layer, name + ".weight", weights.tensor(from + "scale" + kPart, {features}));
    give(layer, name + ".bias", weights.tensor(from + "bias" + kPart, {features}));
  };
  give_norm("self_norm", own, width);
  give_dense("self.in", qkv);
  give_dense("self.out", out);
  if (index == 0)
    give_dense("residual", dense(weights, own + "dense/kernel" + kPart,
                                 own + "dense/bias" + kPart, width, wide));
  give_norm("feed_norm", own + "FFN/", wide);
  give_dense("feed.in", widen);
  give_dense("feed.out", narrow);
  return layer;
}

void EncoderGraph::to(Device device) {
  for (Tensor* tensor : {&table_, &timing_, &last_.weight, &last_.bias})
    *tensor = tensor->to(device);
  for (const nn::TransformerLayer& layer : layers_) layer.to(device);
}

Tensor EncoderGraph::operator()(const Tensor& ids, const Tensor& lengths) const {
  const NoGrad off_the_tape;
  const std::int64_t pieces = ids.size(1);
  // The graph adds the timing signal to the vectors, and the sum to the vectors once more.
  Tensor x = affine(embedding(table_, ids), 2.0, 0.0) + timing_.slice(0, 0, pieces);
  const nn::AttentionContext context{.keep = spec::lengths(lengths)};
  for (const nn::TransformerLayer& layer : layers_) x = layer.forward(x, context).output;
  const Tensor kept = keep_where(x, length_mask(lengths, pieces).unsqueeze(2));
  const Tensor mean = sum(kept, 1) / lengths.to(DType::f32).unsqueeze(1);
  const Tensor out = tanh(linear(mean, last_.weight, last_.bias));
  const Tensor squares = sum(square(out), 1, Axis::keep);
  return out / sqrt(maximum(squares, Tensor::full({1}, least_square_, DType::f32, device())));
}

namespace fs = std::filesystem;
using Ids = std::vector<std::int64_t>;

/// Pieces that run together, padding counted. On the CPU enough to fill the products, few
/// enough for the widest layer (6 KB a piece) to stay in cache; on the GPU enough to fill it.
constexpr std::size_t kBatchPieces = 1024;
constexpr std::size_t kGpuBatchPieces = 16384;

/// Row i of `out` becomes the vector of text places[i].
void encode_batch(const EncoderGraph& network, const std::vector<Ids>& texts,
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
  EncoderGraph network;
};

SentenceEncoder::SentenceEncoder(std::shared_ptr<const State> state)
    : state_(std::move(state)) {}

SentenceEncoder SentenceEncoder::load(const fs::path& folder, Device device) {
  auto state = std::make_shared<State>(
      State{Pieces::read(folder / "vocab.json"), EncoderGraph(GraphWeights(folder))});
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

Nearest::Nearest(const Tensor& queries, std::int64_t most)
    : queries_(queries), most_(most), matches_(static_cast<std::size_t>(queries.size(0))) {
  if (queries.rank() != 2 || most < 1)
    fail("attn::tasks::Nearest: queries ", queries.text(), " and ", most,
         " matches; accepted: [queries, width], 1 or more");
}

void Nearest::add(const Tensor& vectors) {
  if (vectors.rank() != 2 || vectors.size(1) != queries_.size(1))
    fail("attn::tasks::Nearest::add: vectors ", vectors.text(), "; accepted: [count, ",
         queries_.size(1), "]");
  const NoGrad off_tape;
  const Tensor scores = linear(queries_, vectors);
  const float* score = scores.data<float>();
  for (std::vector<Match>& best : matches_)
    for (std::int64_t i = 0; i < vectors.size(0); ++i)
      offer(best, static_cast<std::size_t>(most_), {seen_ + i, *score++});
  seen_ += vectors.size(0);
}

}  // namespace attn::tasks
