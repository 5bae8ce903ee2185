#include "attn/nn/attention/kv_cache.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/nn/recurrent/decoder_step.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/storage.hpp"
#include "attn/tensor/tape.hpp"

namespace attn::nn {
namespace {

constexpr std::int64_t kLeastCapacity = 16;
constexpr int kPositions = 2;  ///< the axis of what is appended

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

void validate(const Tensor& seen, const Tensor& added, const char* what) {
  bool fits = added.rank() == 4;
  if (fits && seen.defined())
    for (const int axis : {0, 1, 3}) fits = fits && seen.size(axis) == added.size(axis);
  if (!fits || (seen.defined() && seen.dtype() != added.dtype()))
    fail("attn::nn::KvCache: ", what, " of ", added.text(), " behind ",
         seen.defined() ? seen.text() : "nothing",
         "; [rows, heads, positions, channels] that agree in all but the positions are "
         "accepted");
}

/// Where rows lie in bytes.
struct Bytes {
  explicit Bytes(const Tensor& memory)
      : first(static_cast<std::byte*>(memory.mutable_raw())),
        position(at(memory.strides()[1]) * size_of(memory.dtype())),
        row(at(memory.strides()[0]) * size_of(memory.dtype())) {}
  std::byte* place(std::int64_t r, std::int64_t p) const {
    return first + at(r) * row + at(p) * position;
  }

  std::byte* first;
  std::size_t position;
  std::size_t row;
};

/// Which row each row becomes, whole.
Tensor rows_after(const RowMoves& moves, std::int64_t before) {
  std::vector<std::int64_t> rows(at(moves.rows), 0);
  if (moves.rows == before) std::iota(rows.begin(), rows.end(), 0);
  for (const RowMoves::Move& move : moves.moves) rows[at(move.to)] = move.from;
  return Tensor::from(rows, {moves.rows});
}

/// Rows may change places, so what moves is set aside first.
void move_within(const Tensor& memory, const RowMoves& moves, std::int64_t length) {
  const Bytes bytes(memory);
  std::vector<std::size_t> starts(moves.moves.size() + 1, 0);
  for (std::size_t i = 0; i < moves.moves.size(); ++i)
    starts[i + 1] = starts[i] + at(length - moves.moves[i].first) * bytes.position;
  std::vector<std::byte> aside(starts.back());
  for (std::size_t i = 0; i < moves.moves.size(); ++i)
    std::memcpy(aside.data() + starts[i],
                bytes.place(moves.moves[i].from, moves.moves[i].first),
                starts[i + 1] - starts[i]);
  for (std::size_t i = 0; i < moves.moves.size(); ++i)
    std::memcpy(bytes.place(moves.moves[i].to, moves.moves[i].first), aside.data() + starts[i],
                starts[i + 1] - starts[i]);
}

}  // namespace

void Ancestry::append() {
  for (auto& row : origins_) row.push_back(next_++);
}

RowMoves Ancestry::select(std::span<const std::int64_t> rows) {
  RowMoves result{static_cast<std::int64_t>(rows.size()), {}};
  const bool in_place = rows.size() == origins_.size();
  std::vector<std::vector<std::int64_t>> after;
  after.reserve(rows.size());
  for (std::size_t to = 0; to < rows.size(); ++to) {
    const auto& taken = origins_[at(rows[to])];
    after.push_back(taken);
    std::int64_t shared = 0;
    if (in_place)
      shared =
          std::mismatch(taken.begin(), taken.end(), origins_[to].begin()).first - taken.begin();
    if (shared < static_cast<std::int64_t>(taken.size()))
      result.moves.push_back({static_cast<std::int64_t>(to), rows[to], shared});
  }
  origins_ = std::move(after);
  return result;
}

Tensor KvCache::Part::seen(std::int64_t length) const {
  return memory.defined() ? memory.slice(1, 0, length).transpose(1, 2) : joined;
}

void KvCache::Part::append(const Tensor& added, std::int64_t length, std::int64_t capacity) {
  if (grad_enabled()) {
    const Tensor before = seen(length);
    joined = before.defined() ? concat({before, added}, kPositions) : added;
    memory = {};  // what was written there is a part of `joined` now
    return;
  }
  const std::int64_t end = length + added.size(kPositions);
  if (!memory.defined() || end > memory.size(1)) {
    const Tensor before = seen(length);
    memory =
        Tensor::empty({added.size(0), std::max({end, 2 * length, capacity, kLeastCapacity}),
                       added.size(1), added.size(3)},
                      added.dtype(), added.device());
    if (before.defined()) seen(length).copy_from(before);
    joined = {};
  }
  memory.slice(1, length, end).transpose(1, 2).copy_from(added);
}

void KvCache::Part::select(const RowMoves& moves, std::int64_t length) {
  if (moves.rows == memory.size(0)) {
    move_within(memory, moves, length);
    return;
  }
  Shape shape = memory.shape();
  shape[0] = moves.rows;
  const Tensor after = Tensor::empty(shape, memory.dtype(), memory.device());
  const Bytes from(memory);
  const Bytes to(after);
  for (const RowMoves::Move& move : moves.moves)
    std::memcpy(to.place(move.to, 0), from.place(move.from, 0), at(length) * from.position);
  memory = after;
}

void KvCache::append(const Tensor& keys, const Tensor& values) {
  validate(this->keys(), keys, "keys");
  validate(this->values(), values, "values");
  if (keys.size(kPositions) != values.size(kPositions))
    fail("attn::nn::KvCache: ", keys.text(), " keys and ", values.text(),
         " values; as many of both are accepted");
  keys_.append(keys, length_, capacity_);
  values_.append(values, length_, capacity_);
  length_ += keys.size(kPositions);
}

void KvCache::select(const RowMoves& moves) {
  if (length_ == 0) return;
  if (!keys_.memory.defined() || keys_.memory.device() == Device::gpu)
    return select(rows_after(moves, keys().size(0)));
  keys_.select(moves, length_);
  values_.select(moves, length_);
}

void KvCache::select(const Tensor& rows) {
  for (Part* part : {&keys_, &values_}) {
    part->memory = select_rows(part->memory, 0, rows);
    part->joined = select_rows(part->joined, 0, rows);
  }
}

Attended KvCache::attend_next(const Tensor& q, const Tensor& k, const Tensor& v,
                              const Want& want) {
  append(k, v);
  return attend(q, keys(), values(), spec::scaled_dot(), spec::causal(), spec::softmax(), want);
}

}  // namespace attn::nn
