// Linear attention in chunks: a task for each kv head, which carries its state from chunk to
// chunk.

#include "tensor/cpu/linear_attention.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "attn/core/thread_pool.hpp"
#include "attn/core/view.hpp"
#include "attn/kernels/linear.hpp"
#include "attn/pool/linear.hpp"
#include "tensor/cpu/linear_chunk.hpp"

namespace attn::cpu {
namespace {

/// Steps of a chunk: as many as a usual head has channels, so that the products within a chunk
/// cost what those with the state do.
constexpr std::int64_t kChunk = 64;

std::int64_t chunks_of(std::int64_t steps) {
  return (steps + kChunk - 1) / kChunk;
}

/// Which pairs of steps a query sees: its own key is written before it reads.
enum class Own { read, unread };

/// Memory of a thread.
template <class T>
struct Work {
  std::int64_t channels, values, width;
  std::vector<std::vector<T>> memory = {};
  ChunkDecay<T> decay{width, rows(kChunk, width), rows(kChunk, width), rows(kChunk, width)};
  ChunkScores<T> scores{decay, channels, rows(kChunk, channels), rows(kChunk, channels),
                        rows(1, channels).data};
  Rows<T> x = rows(kChunk, channels);          ///< a query times the scale, or -k
  Rows<T> faded = rows(kChunk, channels);      ///< x or k, times a decay
  Rows<T> pairs = rows(kChunk, kChunk);        ///< scores of x
  Rows<T> corrections = rows(kChunk, kChunk);  ///< scores of -k, without the diagonal
  Rows<T> rest = rows(kChunk, values);         ///< v - S^T k
  Rows<T> writes = rows(kChunk, values);       ///< w

  Work(std::int64_t of_k, std::int64_t of_v, std::int64_t of_decay)
      : channels(of_k), values(of_v), width(of_decay) {}
  Work(const Work&) = delete;
  Work(Work&&) = delete;

  Rows<T> rows(std::int64_t count, std::int64_t columns) {
    columns = std::max<std::int64_t>(1, columns);
    return {memory.emplace_back(static_cast<std::size_t>(count * columns)).data(), columns};
  }
};

/// The steps [begin, begin + steps) of a kv head.
template <class T>
struct Chunk {
  std::int64_t begin, steps;
  Rows<const T> k, v;
  const T* beta;
  Rows<const T> writes;  ///< what is added along k
};

/// Rows of one head of a view.
template <class T>
Rows<T> head_of(const View<T, 4>& view, std::int64_t b, std::int64_t h) {
  return {view.at(b, h), std::max<std::int64_t>(1, view.strides[2])};
}

template <class T>
class Head {
 public:
  Head(const LinearArgs<T>& args, Work<T>& work, std::int64_t b, std::int64_t kv_head)
      : args_(args), work_(work), b_(b), kv_(kv_head) {}

  std::int64_t steps() const { return args_.k.shape[2]; }
  std::int64_t group() const { return args_.q.shape[1] / args_.k.shape[1]; }

  void forward() const {
    const Rows<T> state = head_of(args_.state, b_, kv_);
    begin(state);
    for (std::int64_t n = 0; n < chunks_of(steps()); ++n) {
      const Chunk<T> chunk = load(n, state);
      for (std::int64_t g = 0; g < group(); ++g) {
        const Rows<T> out = head_of(args_.out, b_, kv_ * group() + g).from(chunk.begin);
        query(chunk, g);
        score(chunk, Own::read, work_.pairs);
        read(chunk, work_.pairs, state, out, Onto::nothing);
      }
      advance(chunk, state, state);
    }
  }

  /// `states` [chunks + 1] of [channels, values]; `d` is memory for gradients.
  struct Gradients {
    std::vector<Rows<T>> states;
    Rows<T> state, dx, dk, d_pairs, d_writes, d_rest;
    Rows<T> total;  ///< gradient of the sums of decays up to each step
    T* later;       ///< what steps behind it add to that of a decay
  };
  static Gradients gradients(Work<T>& work, std::int64_t steps) {
    std::vector<Rows<T>> states;
    for (std::int64_t n = 0; n <= chunks_of(steps); ++n)
      states.push_back(work.rows(work.channels, work.values));
    return {std::move(states),
            work.rows(work.channels, work.values),
            work.rows(kChunk, work.channels),
            work.rows(kChunk, work.channels),
            work.rows(kChunk, kChunk),
            work.rows(kChunk, work.values),
            work.rows(kChunk, work.values),
            work.rows(kChunk, work.channels),
            work.rows(1, work.width).data};
  }

  void backward(const LinearGrads<T>& grads, const Gradients& d) const {
    begin(d.states[0]);
    for (std::int64_t n = 0; n < chunks_of(steps()); ++n)
      advance(load(n, d.states[static_cast<std::size_t>(n)]),
              d.states[static_cast<std::size_t>(n)], d.states[static_cast<std::size_t>(n + 1)]);
    copy(head_of(grads.d_state, b_, kv_), d.state);
    for (std::int64_t n = chunks_of(steps()); n-- > 0;) backward_chunk(grads, d, n);
    copy(Rows<const T>(d.state), head_of(grads.d_past, b_, kv_));
  }

 private:
  bool is_delta() const { return pool::has_delta(args_.rule); }

  void copy(Rows<const T> from, Rows<T> to) const {
    if (from.data == to.data) return;
    for (std::int64_t c = 0; c < work_.channels; ++c) std::copy_n(from[c], work_.values, to[c]);
  }
  void begin(Rows<T> state) const {
    if (args_.past.data != nullptr) return copy(head_of(args_.past, b_, kv_), state);
    for (std::int64_t c = 0; c < work_.channels; ++c) std::fill_n(state[c], work_.values, T(0));
  }

  /// x = scale q.
  void query(const Chunk<T>& chunk, std::int64_t g) const {
    scaled(head_of(args_.q, b_, kv_ * group() + g).from(chunk.begin), chunk.steps,
           static_cast<T>(args_.scale), work_.x);
  }
  void scaled(Rows<const T> from, std::int64_t steps, T by, Rows<T> to) const {
    for (std::int64_t t = 0; t < steps; ++t)
      for (std::int64_t c = 0; c < work_.channels; ++c) to[t][c] = by * from[t][c];
  }

  Rows<const T> x_from_start(const Chunk<T>& chunk) const {
    return work_.decay.scaled(work_.x, work_.decay.from_start, chunk.steps, work_.channels,
                              work_.faded);
  }
  Rows<const T> k_to_end(const Chunk<T>& chunk) const {
    return work_.decay.scaled(chunk.k, work_.decay.to_end, chunk.steps, work_.channels,
                              work_.faded);
  }

  /// Scores of x with the keys.
  void score(const Chunk<T>& chunk, Own own, Rows<T> pairs) const {
    work_.scores.forward(work_.x, chunk.k, chunk.steps, pairs);
    if (own == Own::unread)
      for (std::int64_t t = 0; t < chunk.steps; ++t) pairs[t][t] = T(0);
  }
  /// out = or += what x reads of the state before the chunk, and of the writes in it.
  void read(const Chunk<T>& chunk, Rows<const T> pairs, Rows<const T> state, Rows<T> out,
            Onto onto) const {
    read_state(chunk, state, out, onto);
    multiply<T>({chunk.steps, work_.values, chunk.steps}, pairs, chunk.writes, out, Onto::sum);
  }
  void read_state(const Chunk<T>& chunk, Rows<const T> state, Rows<T> out, Onto onto) const {
    multiply<T>({chunk.steps, work_.values, work_.channels}, x_from_start(chunk), state, out,
                onto);
  }

  /// The chunk's decays and writes. With the delta rule w = beta (v - S^T k) is a query of -k,
  /// whose answers depend on each other.
  Chunk<T> load(std::int64_t n, Rows<const T> state) const {
    const std::int64_t begin = n * kChunk;
    const std::int64_t steps = std::min(kChunk, this->steps() - begin);
    Chunk<T> chunk{begin,
                   steps,
                   head_of(args_.k, b_, kv_).from(begin),
                   head_of(args_.v, b_, kv_).from(begin),
                   is_delta() ? args_.beta.at(b_, kv_, begin) : nullptr,
                   {}};
    chunk.writes = chunk.v;
    if (work_.width > 0) work_.decay.fill(args_.decay.at(b_, kv_, begin), steps);
    if (!is_delta()) return chunk;
    scaled(chunk.k, steps, T(-1), work_.x);
    score(chunk, Own::unread, work_.corrections);
    for (std::int64_t t = 0; t < steps; ++t)
      std::copy_n(chunk.v[t], work_.values, work_.rest[t]);
    read_state(chunk, state, work_.rest, Onto::sum);
    solve<T>(work_.corrections, chunk.beta, 0, steps, work_.values, work_.rest, work_.writes);
    chunk.writes = work_.writes;
    return chunk;
  }

  /// What is left of the state after the chunk, and what the chunk wrote.
  void advance(const Chunk<T>& chunk, Rows<const T> before, Rows<T> after) const {
    fade(chunk, before, after);
    multiply<T>({work_.channels, work_.values, chunk.steps}, transposed(k_to_end(chunk)),
                chunk.writes, after, Onto::sum);
  }
  void fade(const Chunk<T>& chunk, Rows<const T> before, Rows<T> after) const {
    if (work_.width == 0) return copy(before, after);
    const T* whole = work_.decay.from_start[chunk.steps - 1];
    for (std::int64_t c = 0; c < work_.channels; ++c) {
      const T left = whole[work_.width == 1 ? 0 : c];
      for (std::int64_t j = 0; j < work_.values; ++j) after[c][j] = left * before[c][j];
    }
  }

  /// From the gradient of the state after the chunk to that before it.
  ///
  /// With G_t the sum of the decays up to t, e^(G_t - G_u) is all that a score knows of them,
  /// so x dx is what a read adds to the gradient of G_t, and -k dk what a write does; the
  /// gradient of a decay is their sum over all later steps, which past the chunk is dS . S.
  void backward_chunk(const LinearGrads<T>& grads, const Gradients& d, std::int64_t n) const {
    const Rows<T> before = d.states[static_cast<std::size_t>(n)];
    const Chunk<T> chunk = load(n, before);
    decay_after(d, d.states[static_cast<std::size_t>(n + 1)]);
    for (std::int64_t t = 0; t < chunk.steps; ++t)
      std::fill_n(d.total[t], work_.channels, T(0));
    write_backward(chunk, d);
    fade(chunk, d.state, d.state);
    for (std::int64_t g = 0; g < group(); ++g) {
      const std::int64_t h = kv_ * group() + g;
      const Rows<const T> d_out = head_of(grads.d_out, b_, h).from(chunk.begin);
      query(chunk, g);
      score(chunk, Own::read, work_.pairs);
      multiply<T>({chunk.steps, work_.values, chunk.steps}, transposed(work_.pairs), d_out,
                  d.d_writes, Onto::sum);
      read_backward(chunk, d, d_out, before, Own::read);
      scaled(d.dx, chunk.steps, static_cast<T>(args_.scale),
             head_of(grads.dq, b_, h).from(chunk.begin));
    }
    const Rows<T> dk = head_of(grads.dk, b_, kv_).from(chunk.begin);
    const Rows<T> dv = head_of(grads.dv, b_, kv_).from(chunk.begin);
    if (is_delta()) {
      solve_backward<T>(work_.corrections, chunk.beta, 0, chunk.steps, work_.values, d.d_writes,
                        d.d_rest);
      beta_backward(chunk, d, grads.d_beta.at(b_, kv_, chunk.begin));
      scaled(chunk.k, chunk.steps, T(-1), work_.x);
      read_backward(chunk, d, d.d_rest, before, Own::unread);
    }
    for (std::int64_t t = 0; t < chunk.steps; ++t) {
      std::copy_n(is_delta() ? d.d_rest[t] : d.d_writes[t], work_.values, dv[t]);
      for (std::int64_t c = 0; c < work_.channels; ++c)
        dk[t][c] = is_delta() ? d.dk[t][c] - d.dx[t][c] : d.dk[t][c];
    }
    if (work_.width > 0) decay_backward(chunk, d, grads.d_decay.at(b_, kv_, chunk.begin));
  }

  /// dS . S after the chunk: what later steps add to the gradient of each of its decays.
  void decay_after(const Gradients& d, Rows<const T> after) const {
    std::fill_n(d.later, work_.width, T(0));
    for (std::int64_t c = 0; work_.width > 0 && c < work_.channels; ++c) {
      T& sum = d.later[work_.width == 1 ? 0 : c];
      for (std::int64_t j = 0; j < work_.values; ++j) sum += d.state[c][j] * after[c][j];
    }
  }

  /// From what the chunk added to the state to its writes and keys.
  void write_backward(const Chunk<T>& chunk, const Gradients& d) const {
    multiply<T>({chunk.steps, work_.values, work_.channels}, k_to_end(chunk), d.state,
                d.d_writes);
    multiply<T>({chunk.steps, work_.channels, work_.values}, chunk.writes, transposed(d.state),
                d.dk);
    work_.decay.scaled(d.dk, work_.decay.to_end, chunk.steps, work_.channels, d.dk);
  }

  /// From what x read to x itself (d.dx), the keys (d.dk), and the state before the chunk. The
  /// gradient of the writes is the caller's.
  void read_backward(const Chunk<T>& chunk, const Gradients& d, Rows<const T> d_out,
                     Rows<const T> before, Own own) const {
    const std::int64_t steps = chunk.steps;
    multiply<T>({steps, work_.channels, work_.values}, d_out, transposed(before), d.dx);
    work_.decay.scaled(d.dx, work_.decay.from_start, steps, work_.channels, d.dx);
    multiply<T>({work_.channels, work_.values, steps}, transposed(x_from_start(chunk)), d_out,
                d.state, Onto::sum);
    multiply<T>({steps, steps, work_.values}, d_out, transposed(chunk.writes), d.d_pairs);
    for (std::int64_t t = 0; t < steps; ++t)
      std::fill(d.d_pairs[t] + t + (own == Own::read ? 1 : 0), d.d_pairs[t] + steps, T(0));
    work_.scores.backward(work_.x, chunk.k, steps, d.d_pairs, d.dx, d.dk);
    for (std::int64_t t = 0; t < steps; ++t)
      for (std::int64_t c = 0; c < work_.channels; ++c)
        d.total[t][c] += work_.x[t][c] * d.dx[t][c];
  }

  void beta_backward(const Chunk<T>& chunk, const Gradients& d, T* d_beta) const {
    for (std::int64_t t = 0; t < chunk.steps; ++t) {
      d_beta[t] = T(0);
      for (std::int64_t j = 0; j < work_.values; ++j)
        d_beta[t] += d.d_writes[t][j] * work_.rest[t][j];
    }
  }

  void decay_backward(const Chunk<T>& chunk, const Gradients& d, T* d_decay) const {
    for (std::int64_t t = chunk.steps; t-- > 0;) {
      for (std::int64_t c = 0; c < work_.channels; ++c)
        d.later[work_.width == 1 ? 0 : c] += d.total[t][c] - chunk.k[t][c] * d.dk[t][c];
      std::copy_n(d.later, work_.width, d_decay + t * work_.width);
    }
  }

  const LinearArgs<T>& args_;
  Work<T>& work_;
  std::int64_t b_, kv_;
};

/// Calls run(head, worker) for every kv head; the work of each thread is there before it
/// starts.
template <class T, class Prepare, class Run>
void each_head(const LinearArgs<T>& args, const Prepare& prepare, const Run& run) {
  const std::int64_t heads = args.k.shape[1];
  const auto tasks = static_cast<int>(args.k.shape[0] * heads);
  const int threads = std::min(tasks, ThreadPool::default_threads());
  const std::int64_t width = pool::has_decay(args.rule) ? args.decay.shape[3] : 0;
  std::deque<Work<T>> works;  // they may not move
  for (int worker = 0; worker < threads; ++worker)
    prepare(works.emplace_back(args.k.shape[3], args.v.shape[3], width));
  ThreadPool::shared().parallel_for(tasks, threads, [&](int task, int worker) {
    run(Head<T>(args, works[static_cast<std::size_t>(worker)], task / heads, task % heads),
        worker);
  });
}

}  // namespace

template <class T>
void linear_chunks(const LinearArgs<T>& args) {
  each_head(args, [](Work<T>&) {}, [](const Head<T>& head, int) { head.forward(); });
}

template <class T>
void linear_chunks_backward(const LinearArgs<T>& args, const LinearGrads<T>& grads) {
  std::vector<typename Head<T>::Gradients> memory;
  each_head(
      args, [&](Work<T>& work) { memory.push_back(Head<T>::gradients(work, args.k.shape[2])); },
      [&](const Head<T>& head, int worker) {
        head.backward(grads, memory[static_cast<std::size_t>(worker)]);
      });
}

template void linear_chunks(const LinearArgs<float>&);
template void linear_chunks(const LinearArgs<double>&);
template void linear_chunks_backward(const LinearArgs<float>&, const LinearGrads<float>&);
template void linear_chunks_backward(const LinearArgs<double>&, const LinearGrads<double>&);

}  // namespace attn::cpu
