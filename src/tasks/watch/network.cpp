#include "tasks/watch/network.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"
#include "attn/maps/map.hpp"
#include "attn/nn/conv.hpp"
#include "attn/nn/dropout.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/mechanisms/vision/non_local_block.hpp"
#include "attn/nn/norm.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/value.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/conv.hpp"
#include "attn/tensor/ops/loss.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tasks/watch/clips.hpp"

namespace attn::tasks::watch {
namespace {

constexpr std::int64_t kCells = kSide / 4;  ///< a side, where the block looks
constexpr std::size_t kAtOnce = 16;         ///< clips of one forward
constexpr std::int64_t kChannels = 6;  ///< colours, and how they differ from the last frame
constexpr double kGain = 2.45;  ///< of a convolution and relu, so that signals keep their size
constexpr std::int64_t kMostShift = 2;  ///< pixels that a clip is moved while learning

std::optional<nn::NonLocalBlock> block_of(const nlohmann::json& model, std::int64_t channels,
                                          const std::string& where) {
  const std::string& name = files::to_text(files::member(model, "block", where), where);
  if (name == "none") return std::nullopt;
  const std::array<std::pair<const char*, nn::NonLocalMode>, 4> modes{
      {{"gaussian", nn::NonLocalMode::gaussian},
       {"embedded", nn::NonLocalMode::embedded_gaussian},
       {"dot", nn::NonLocalMode::dot},
       {"concat", nn::NonLocalMode::concat}}};
  for (const auto& [mode, value] : modes)
    if (name == mode)
      return nn::NonLocalBlock(
          {.channels = channels, .inner = channels / 2, .grid_rank = 3, .mode = value});
  fail<FileError>(where, ": block is ", files::in_quotes(name),
                  "; there are none, gaussian, embedded, dot, concat");
}

std::int64_t width_of(const nlohmann::json& model, const std::string& where) {
  return files::to_int(files::member(model, "width", where), where);
}

nn::Conv2d space(std::int64_t in, std::int64_t out) {
  return nn::Conv2d({.in = in, .out = out, .kernel = 3}, {.pad = {1, 1}});
}

nn::Conv1d time(std::int64_t in, std::int64_t out) {
  return nn::Conv1d({.in = in, .out = out, .kernel = 3}, {.pad_before = 1, .pad_after = 1});
}

const Frames* frames_of(const Input& input) {
  return input.find<Frames>("frames");
}

/// Whatever was given, as the network sees it.
Frames seen_frames(const Frames& frames) {
  Frames eight = eight_of(frames);
  for (Picture& frame : eight)
    if (frame.width != kSide || frame.height != kSide || frame.channels != 3)
      frame = fitted(frame);
  return eight;
}

/// Moved by so many pixels, and mirrored where `mirror` says; what comes in is the nearest rim.
Picture moved(const Picture& picture, std::int64_t dx, std::int64_t dy, bool mirror) {
  Picture result = picture;
  for (std::int64_t y = 0; y < kSide; ++y)
    for (std::int64_t x = 0; x < kSide; ++x) {
      const std::int64_t from_x =
          std::clamp((mirror ? kSide - 1 - x : x) + dx, std::int64_t{0}, kSide - 1);
      const std::int64_t from_y = std::clamp(y + dy, std::int64_t{0}, kSide - 1);
      for (std::int64_t c = 0; c < 3; ++c)
        result.pixels[static_cast<std::size_t>((y * kSide + x) * 3 + c)] =
            picture.pixels[static_cast<std::size_t>((from_y * kSide + from_x) * 3 + c)];
    }
  return result;
}

}  // namespace

WatchNetwork::WatchNetwork(const nlohmann::json& model, const nlohmann::json& facts,
                           const std::string& where)
    : frames_(files::to_text(files::member(model, "frames", where), where) == "one" ? 1
                                                                                    : kFrames),
      first_(add("first", space(kChannels, width_of(model, where) / 2))),
      second_(add("second", space(width_of(model, where) / 2, width_of(model, where)))),
      first_time_(add("first_time", time(width_of(model, where), width_of(model, where)))),
      block_norm_(nn::NormKind::rms, {.features = width_of(model, where)}),
      block_(block_of(model, width_of(model, where), where)),
      third_(add("third", space(width_of(model, where), width_of(model, where)))),
      second_time_(add("second_time", time(width_of(model, where), width_of(model, where)))),
      dropout_(add("dropout", nn::Dropout(files::to_double(
                                  files::member(model, "dropout", where), where)))),
      output_(nn::Linear({.in = 1, .out = 1})) {
  for (const nlohmann::json& one : files::member(facts, "labels", where))
    labels_.push_back(files::to_text(one, where));
  if (labels_.size() < 2) fail<FileError>(where, ": there are ", labels_.size(), " labels");
  if (block_) {
    block_norm_ = add("block_norm", block_norm_);
    *block_ = add("block", *block_);
  }
  output_ = add("output", nn::Linear({.in = width_of(model, where),
                                      .out = static_cast<std::int64_t>(labels_.size())}));
}

std::string WatchNetwork::kind() const {
  return block_ ? "non_local_net" : frames_ == 1 ? "one_frame_net" : "space_time_net";
}

Tensor WatchNetwork::in_time(const Tensor& x, const nn::Conv1d& conv) const {
  const std::int64_t clips = x.size(0) / frames_;
  const std::int64_t channels = x.size(1);
  const std::int64_t high = x.size(2);
  const std::int64_t wide = x.size(3);
  const Tensor lines = x.reshape({clips, frames_, channels, high, wide})
                           .permute({0, 3, 4, 2, 1})
                           .reshape({clips * high * wide, channels, frames_});
  return (lines + relu(conv(lines)))
      .reshape({clips, high, wide, channels, frames_})
      .permute({0, 4, 3, 1, 2})
      .reshape({clips * frames_, channels, high, wide});
}

WatchNetwork::Seen WatchNetwork::see(const Tensor& clips, bool wants_weights) const {
  const std::int64_t count = clips.size(0);
  Tensor x = clips.reshape({count * frames_, kChannels, kSide, kSide});
  x = max_pool_by_two(relu(first_(x)) * kGain, 2);
  x = max_pool_by_two(relu(second_(x)) * kGain, 2);
  x = in_time(x, first_time_);
  Seen seen;
  if (block_) {
    const Shape grid{count, frames_, x.size(1), x.size(2), x.size(3)};
    // Products of cells as they are would be so large that each cell sees itself alone.
    const Tensor cells = block_norm_(x.reshape(grid).permute({0, 1, 3, 4, 2}))
                             .permute({0, 4, 1, 2, 3})
                             .contiguous();
    const nn::NonLocalResult looked =
        block_->forward(cells, wants_weights ? Want::output | Want::weights : Want::output);
    seen.weights = looked.weights;
    x = x + (looked.z - cells).permute({0, 2, 1, 3, 4}).reshape(x.shape());
  }
  x = max_pool_by_two(relu(third_(x)) * kGain, 2);
  x = in_time(x, second_time_);
  const Tensor cells = x.reshape({count, frames_, x.size(1), -1}).permute({0, 2, 1, 3});
  const Tensor pooled = mean(cells.reshape({count, x.size(1), -1}), 2);
  seen.logits = output_(dropout_(pooled));
  return seen;
}

Tensor WatchNetwork::tensor_of(std::span<const Frames* const> clips) const {
  std::vector<float> values;
  constexpr auto kPixels = static_cast<std::size_t>(kSide * kSide);
  values.reserve(clips.size() * static_cast<std::size_t>(frames_ * kChannels) * kPixels);
  for (const Frames* clip : clips)
    for (std::int64_t t = 0; t < frames_; ++t) {
      // Of one frame the middle one, which differs from nothing.
      const std::int64_t at = frames_ == 1 ? kFrames / 2 : t;
      const Picture& frame = (*clip)[static_cast<std::size_t>(at)];
      const Picture& before =
          (*clip)[static_cast<std::size_t>(frames_ == 1 || at == 0 ? at : at - 1)];
      for (std::size_t channel = 0; channel < 3; ++channel)
        for (std::size_t i = 0; i < kPixels; ++i)
          values.push_back(static_cast<float>(frame.pixels[3 * i + channel]) / 127.5f - 1.0f);
      for (std::size_t channel = 0; channel < 3; ++channel)
        for (std::size_t i = 0; i < kPixels; ++i)
          values.push_back(static_cast<float>(frame.pixels[3 * i + channel] -
                                              before.pixels[3 * i + channel]) /
                           127.5f);
    }
  return Tensor::from(values, {static_cast<std::int64_t>(clips.size()), frames_, kChannels,
                               kSide, kSide})
      .to(output_.weight().device());
}

Learner::Lesson WatchNetwork::loss(std::span<const Example* const> batch) const {
  std::vector<Frames> clips;
  std::vector<std::int64_t> answers;
  constexpr std::uint64_t kPlaces = 2 * kMostShift + 1;
  for (const Example* example : batch) {
    const std::uint64_t draw = nn::random().next();
    const auto dx = static_cast<std::int64_t>((draw >> 8) % kPlaces) - kMostShift;
    const auto dy = static_cast<std::int64_t>((draw >> 24) % kPlaces) - kMostShift;
    Frames& clip = clips.emplace_back();
    for (const Picture& frame : std::get<Frames>(example->parts.at("frames")))
      clip.push_back(moved(frame, dx, dy, (draw >> 40) % 2 == 1));
    const auto at = std::find(labels_.begin(), labels_.end(), example->targets.front());
    if (at == labels_.end())
      fail("attn::tasks::watch: no label ", files::in_quotes(example->targets.front()));
    answers.push_back(at - labels_.begin());
  }
  std::vector<const Frames*> all;
  all.reserve(clips.size());
  for (const Frames& clip : clips) all.push_back(&clip);
  const Tensor logits = see(tensor_of(all), false).logits;
  const auto count = static_cast<std::int64_t>(batch.size());
  return {cross_entropy(logits, Tensor::from(answers, {count}).to(logits.device()),
                        {.smoothing = 0.05}),
          count};
}

std::string WatchNetwork::refusal(const Input& input) const {
  const Frames* frames = frames_of(input);
  if (frames == nullptr || frames->empty()) return "has no frames";
  if (frames->size() > kMostFrames)
    return "has " + std::to_string(frames->size()) + " frames; at most " +
           std::to_string(kMostFrames) + " are read";
  for (std::size_t i = 0; i < frames->size(); ++i) {
    const Picture& frame = (*frames)[i];
    if (frame.channels != 1 && frame.channels != 3)
      return "has " + std::to_string(frame.channels) + " channels in frame " +
             std::to_string(i + 1) + "; 1 (grey) and 3 are read";
    if (frame.width < 1 || frame.height < 1 ||
        static_cast<std::int64_t>(frame.pixels.size()) !=
            frame.width * frame.height * frame.channels)
      return "has a damaged frame " + std::to_string(i + 1);
  }
  return "";
}

std::vector<Reply> WatchNetwork::answer(std::span<const Input> inputs, const Choices&) const {
  const NoGrad off_the_tape;
  std::vector<Reply> replies;
  while (replies.size() < inputs.size()) {
    std::vector<Frames> clips;
    for (const Input& input :
         inputs.subspan(replies.size(), std::min(kAtOnce, inputs.size() - replies.size())))
      clips.push_back(seen_frames(*frames_of(input)));
    std::vector<const Frames*> all;
    all.reserve(clips.size());
    for (const Frames& clip : clips) all.push_back(&clip);
    const auto chances = softmax(see(tensor_of(all), false).logits).to_vector<float>();
    for (std::size_t row = 0; row < clips.size(); ++row) {
      Labels labels;
      for (std::size_t i = 0; i < labels_.size(); ++i)
        labels.push_back({labels_[i], static_cast<double>(chances[row * labels_.size() + i])});
      std::stable_sort(labels.begin(), labels.end(),
                       [](const Label& a, const Label& b) { return a.score > b.score; });
      Answer answer;
      answer.text = labels.front().name;
      answer.log_probability = answer.score = std::log(labels.front().score);
      answer.finished = true;
      answer.output = std::move(labels);
      Reply reply;
      const std::size_t given = frames_of(inputs[replies.size()])->size();
      if (given == 1 && frames_ > 1)
        reply.notes.emplace_back("one frame does not move; the answer is a guess");
      reply.answers = {answer};
      reply.pieces = {{"", false, {}, {std::move(answer)}}};
      replies.push_back(std::move(reply));
    }
  }
  return replies;
}

maps::Map WatchNetwork::map(const Input& input, const Piece& piece, std::string_view) const {
  if (!block_)
    fail(
        "this network has no non-local block, so no cell looks at another; --block embedded "
        "trains one that does");
  const NoGrad off_the_tape;
  const Frames clip = seen_frames(*frames_of(input));
  const Frames* const one = &clip;
  const auto weights = see(tensor_of(std::span(&one, 1)), true).weights.to_vector<float>();
  const auto cells = static_cast<std::size_t>(frames_ * kCells * kCells);
  // The cell that changes most from one frame to the next asks.
  std::size_t asks = 0;
  double most = -1.0;
  for (std::size_t cell = 0; cell < cells; ++cell) {
    const auto t = static_cast<std::int64_t>(cell) / (kCells * kCells);
    if (t == 0) continue;
    const std::int64_t top = static_cast<std::int64_t>(cell) / kCells % kCells * 4;
    const std::int64_t left = static_cast<std::int64_t>(cell) % kCells * 4;
    double change = 0.0;
    for (std::int64_t y = top; y < top + 4; ++y)
      for (std::int64_t i = left * 3; i < (left + 4) * 3; ++i) {
        const auto at = static_cast<std::size_t>(y * kSide * 3 + i);
        change += std::abs(static_cast<int>(clip[static_cast<std::size_t>(t)].pixels[at]) -
                           clip[static_cast<std::size_t>(t - 1)].pixels[at]);
      }
    if (change > most) {
      most = change;
      asks = cell;
    }
  }
  // Frames in rows of four, as a film on a sheet.
  const std::int64_t across = std::min<std::int64_t>(frames_, 4);
  const std::int64_t rows = (frames_ + across - 1) / across;
  maps::Image strip{
      "what one cell looked at",
      "Eight frames of the clip, in rows. The cell in the box, which changes most "
      "from one frame to the next, looked at the bright cells, in all frames at "
      "once; 1 is its largest weight.",
      static_cast<std::size_t>(across * kSide),
      static_cast<std::size_t>(rows * kSide),
      3,
      {},
      {}};
  for (std::int64_t y = 0; y < rows * kSide; ++y)
    for (std::int64_t column = 0; column < across; ++column) {
      const Picture& frame = clip[static_cast<std::size_t>(y / kSide * across + column)];
      const auto begin = frame.pixels.begin() + y % kSide * kSide * 3;
      strip.pixels.insert(strip.pixels.end(), begin, begin + kSide * 3);
    }
  /// Row and column of a cell on the sheet.
  const auto place = [&](std::size_t cell) {
    const auto t = static_cast<std::int64_t>(cell) / (kCells * kCells);
    const std::int64_t y = static_cast<std::int64_t>(cell) / kCells % kCells;
    const std::int64_t x = static_cast<std::int64_t>(cell) % kCells;
    return std::pair(t / across * kCells + y, t % across * kCells + x);
  };
  const auto wide = static_cast<std::size_t>(across * kCells);
  maps::Matrix grid{static_cast<std::size_t>(rows * kCells), wide, std::vector<float>(cells)};
  const std::span<const float> own = std::span(weights).subspan(asks * cells, cells);
  float top = 0.0f;
  for (const float one : own) top = std::max(top, std::abs(one));
  for (std::size_t cell = 0; cell < cells; ++cell) {
    const auto [y, x] = place(cell);
    grid.values[static_cast<std::size_t>(y) * wide + static_cast<std::size_t>(x)] =
        top > 0.0f ? std::min(1.0f, std::abs(own[cell]) / top) : 0.0f;
  }
  const auto [y, x] = place(asks);
  constexpr double kCellSide = static_cast<double>(kSide) / static_cast<double>(kCells);
  const maps::Box box{static_cast<double>(x) * kCellSide,
                      static_cast<double>(y) * kCellSide,
                      kCellSide,
                      kCellSide,
                      std::nullopt,
                      ""};
  strip.steps.push_back({piece.answers.front().text, grid, {box}});
  return strip;
}

}  // namespace attn::tasks::watch
