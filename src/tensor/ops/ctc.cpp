// The loss of connectionist temporal classification: sums over all alignments, forward and
// backward, in logarithms.

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/ops/loss.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/op.hpp"

namespace attn {
namespace {

constexpr const char* kWhere = "attn::ctc_loss";
constexpr double kNever = -std::numeric_limits<double>::infinity();

/// log(e^a + e^b).
double log_sum(double a, double b) {
  const double most = std::max(a, b);
  if (most == kNever) return kNever;
  return most + std::log1p(std::exp(std::min(a, b) - most));
}

double log_sum(double a, double b, double c) {
  const double most = std::max(a, std::max(b, c));
  if (most == kNever) return kNever;
  return most + std::log(std::exp(a - most) + std::exp(b - most) + std::exp(c - most));
}

/// One row of the batch: labels with blanks before, between and behind them are its states,
/// and a path moves on by none, one or two of them a frame.
class Alignments {
 public:
  Alignments(const std::int64_t* labels, std::int64_t count, std::int64_t frames,
             std::int64_t blank)
      : frames_(frames),
        blank_(blank),
        states_(static_cast<std::size_t>(2 * count + 1), blank) {
    for (std::int64_t i = 0; i < count; ++i)
      states_[static_cast<std::size_t>(2 * i + 1)] = labels[i];
  }

  /// -log p(labels); `log_probs` is [frames, classes].
  double loss(const std::vector<double>& log_probs, std::int64_t classes) {
    if (frames_ == 0) return states_.size() == 1 ? 0.0 : -kNever;
    forward(log_probs, classes);
    const double* last = ahead_.data() + (frames_ - 1) * count();
    total_ = count() == 1 ? last[0] : log_sum(last[count() - 1], last[count() - 2]);
    return -total_;
  }

  /// softmax - (probability that a path is at a state of the class), after loss(): [frames,
  /// classes]. 0 where no path spells the labels.
  template <class T>
  void gradient(const std::vector<double>& log_probs, std::int64_t classes, T* to) {
    if (frames_ == 0 || total_ == kNever) return;
    backward(log_probs, classes);
    std::vector<double> shares(static_cast<std::size_t>(classes));
    for (std::int64_t t = 0; t < frames_; ++t) {
      const double* frame = log_probs.data() + t * classes;
      std::fill(shares.begin(), shares.end(), 0.0);
      for (std::int64_t s = 0; s < count(); ++s) {
        const double both = ahead_[at(t, s)] + behind_[at(t, s)];
        if (both == kNever) continue;
        // Both sums hold the frame's own probability.
        const auto label = static_cast<std::size_t>(states_[static_cast<std::size_t>(s)]);
        shares[label] += std::exp(both - frame[label] - total_);
      }
      for (std::int64_t k = 0; k < classes; ++k)
        to[t * classes + k] =
            static_cast<T>(std::exp(frame[k]) - shares[static_cast<std::size_t>(k)]);
    }
  }

 private:
  std::int64_t count() const { return static_cast<std::int64_t>(states_.size()); }
  std::size_t at(std::int64_t frame, std::int64_t state) const {
    return static_cast<std::size_t>(frame * count() + state);
  }
  /// Whether a path may leave out the blank before a state: not between equal labels.
  bool skips(std::int64_t state) const {
    const auto s = static_cast<std::size_t>(state);
    return state >= 2 && states_[s] != blank_ && states_[s] != states_[s - 2];
  }
  /// The states that a path can be at and still reach the end: [first, last).
  std::int64_t first(std::int64_t frame) const {
    return std::max<std::int64_t>(0, count() - 2 * (frames_ - frame));
  }
  std::int64_t last(std::int64_t frame) const { return std::min(count(), 2 * frame + 2); }

  /// ahead[t, s]: log of the sum over paths of the first t + 1 frames that end at s.
  void forward(const std::vector<double>& log_probs, std::int64_t classes) {
    ahead_.assign(static_cast<std::size_t>(frames_ * count()), kNever);
    for (std::int64_t t = 0; t < frames_; ++t)
      for (std::int64_t s = first(t); s < last(t); ++s) {
        double sum = 0.0;
        if (t > 0)
          sum = log_sum(ahead_[at(t - 1, s)], s >= 1 ? ahead_[at(t - 1, s - 1)] : kNever,
                        skips(s) ? ahead_[at(t - 1, s - 2)] : kNever);
        ahead_[at(t, s)] =
            sum + log_probs[static_cast<std::size_t>(t * classes) +
                            static_cast<std::size_t>(states_[static_cast<std::size_t>(s)])];
      }
  }

  /// behind[t, s]: log of the sum over paths from s in frame t to the end.
  void backward(const std::vector<double>& log_probs, std::int64_t classes) {
    behind_.assign(static_cast<std::size_t>(frames_ * count()), kNever);
    for (std::int64_t t = frames_; t-- > 0;)
      for (std::int64_t s = first(t); s < last(t); ++s) {
        double sum = s >= count() - 2 ? 0.0 : kNever;
        if (t + 1 < frames_)
          sum = log_sum(behind_[at(t + 1, s)],
                        s + 1 < count() ? behind_[at(t + 1, s + 1)] : kNever,
                        s + 2 < count() && skips(s + 2) ? behind_[at(t + 1, s + 2)] : kNever);
        behind_[at(t, s)] =
            sum + log_probs[static_cast<std::size_t>(t * classes) +
                            static_cast<std::size_t>(states_[static_cast<std::size_t>(s)])];
      }
  }

  std::int64_t frames_;
  std::int64_t blank_;
  std::vector<std::int64_t> states_;
  std::vector<double> ahead_;   ///< [frames, states]
  std::vector<double> behind_;  ///< likewise
  double total_ = kNever;
};

template <class T>
void log_softmax_of(const T* logits, std::int64_t rows, std::int64_t classes,
                    std::vector<double>& to) {
  to.resize(static_cast<std::size_t>(rows * classes));
  for (std::int64_t row = 0; row < rows; ++row) {
    const T* x = logits + row * classes;
    const double most = *std::max_element(x, x + classes);
    double sum = 0.0;
    for (std::int64_t k = 0; k < classes; ++k)
      sum += std::exp(static_cast<double>(x[k]) - most);
    const double shift = most + std::log(sum);
    for (std::int64_t k = 0; k < classes; ++k)
      to[static_cast<std::size_t>(row * classes + k)] = static_cast<double>(x[k]) - shift;
  }
}

/// Lengths as numbers, each checked; `extent` for all where there are none.
std::vector<std::int64_t> lengths_of(const Tensor& lengths, std::int64_t batch,
                                     std::int64_t extent, const char* name) {
  if (!lengths.defined())
    return std::vector<std::int64_t>(static_cast<std::size_t>(batch), extent);
  op::require_dtype(lengths, DType::i64, kWhere, name);
  op::require_shape(lengths, {batch}, kWhere, name);
  const auto numbers = lengths.to_vector<std::int64_t>();
  for (const std::int64_t length : numbers)
    if (length < 0 || length > extent)
      fail(kWhere, ": ", name, " has a length of ", length, "; 0 to ", extent, " are accepted");
  return numbers;
}

void check(const Tensor& logits, const Tensor& labels, std::int64_t blank) {
  op::require_real(logits, kWhere, "logits");
  op::require_dtype(labels, DType::i64, kWhere, "labels");
  if (logits.rank() != 3 || labels.rank() != 2 || labels.size(0) != logits.size(0))
    fail(kWhere, ": logits is ", logits.text(), ", labels is ", labels.text(),
         "; [batch, frames, classes] and [batch, longest] are accepted");
  if (blank < 0 || blank >= logits.size(2))
    fail(kWhere, ": blank ", blank, " of ", logits.size(2), " classes; 0 to ",
         logits.size(2) - 1, " are accepted");
}

void check_labels(const std::int64_t* labels, std::int64_t count, std::int64_t classes,
                  std::int64_t blank) {
  for (std::int64_t i = 0; i < count; ++i)
    if (labels[i] < 0 || labels[i] >= classes || labels[i] == blank)
      fail(kWhere, ": label ", labels[i], " of ", classes, " classes; 0 to ", classes - 1,
           " but not blank, ", blank, ", are accepted");
}

struct CtcResult {
  Tensor loss;      ///< [batch]
  Tensor gradient;  ///< like the logits; none unless wanted
};

template <class T>
CtcResult ctc_cpu(const Tensor& logits, const std::vector<std::int64_t>& labels,
                  std::int64_t longest, const std::vector<std::int64_t>& frames,
                  const std::vector<std::int64_t>& counts, std::int64_t blank, bool wanted) {
  const std::int64_t batch = logits.size(0);
  const std::int64_t classes = logits.size(2);
  const std::int64_t room = logits.size(1) * classes;
  CtcResult result{Tensor::empty({batch}, kDType<T>), {}};
  if (wanted) result.gradient = Tensor::zeros(logits.shape(), kDType<T>);
  const T* x = logits.data<T>();
  T* losses = result.loss.mutable_data<T>();
  T* slopes = wanted ? result.gradient.mutable_data<T>() : nullptr;
  // A row is work for a thread of its own: tens of functions a state.
  op::each(batch, op::kGrain, [&](std::int64_t row) {
    const auto r = static_cast<std::size_t>(row);
    std::vector<double> log_probs;
    log_softmax_of(x + row * room, frames[r], classes, log_probs);
    Alignments paths(labels.data() + row * longest, counts[r], frames[r], blank);
    losses[row] = static_cast<T>(paths.loss(log_probs, classes));
    if (wanted) paths.gradient(log_probs, classes, slopes + row * room);
  });
  return result;
}

}  // namespace

Tensor ctc_loss(const Tensor& logits, const Tensor& labels, const CtcLengths& lengths,
                std::int64_t blank) {
  check(logits, labels, blank);
  const std::int64_t batch = logits.size(0);
  const auto frames = lengths_of(lengths.frames, batch, logits.size(1), "lengths.frames");
  const auto counts = lengths_of(lengths.labels, batch, labels.size(1), "lengths.labels");
  const auto ids = labels.to_vector<std::int64_t>();
  for (std::int64_t row = 0; row < batch; ++row)
    check_labels(ids.data() + row * labels.size(1), counts[static_cast<std::size_t>(row)],
                 logits.size(2), blank);
  const Tensor x = logits.detach().to(Device::cpu).to(op::sum_dtype(logits)).contiguous();
  const bool wanted = wants_grad({logits});
  const CtcResult result = op::dispatch_real(x.dtype(), kWhere, [&]<class T>(T) {
    return ctc_cpu<T>(x, ids, labels.size(1), frames, counts, blank, wanted);
  });
  Tensor loss = result.loss.to(logits.device());
  if (!wanted) return loss;
  return op::record_one("ctc_loss", logits, loss,
                        [saved = Saved(result.gradient.to(logits.device())),
                         dtype = logits.dtype()](const Tensor& grad) {
                          return (saved.get() * grad.reshape({grad.size(0), 1, 1})).to(dtype);
                        });
}

}  // namespace attn
