#include "models/transformer/kv_cache.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/nn/recurrent/decoder_step.hpp"
#include "attn/tensor/storage.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::models::transformer {
namespace {

constexpr std::int64_t kFirstCapacity = 16;

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

/// [rows, heads, positions, channels] of the keys (part 0) or the values (part 1).
Tensor part_of(const Tensor& memory, std::int64_t part, std::int64_t first, std::int64_t end) {
  return memory.slice(1, first, end).select(2, part).transpose(1, 2);
}

Tensor room(const Tensor& like, std::int64_t rows, std::int64_t capacity) {
  Shape shape = like.shape();
  shape[0] = rows;
  shape[1] = capacity;
  return Tensor::empty(shape, like.dtype(), like.device());
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

void KvCache::append(const Tensor& keys, const Tensor& values) {
  const Shape& added = keys.shape();  // [rows, heads, 1, channels]
  if (!memory_.defined()) {
    memory_ = Tensor::empty({added[0], kFirstCapacity, 2, added[1], added[3]}, keys.dtype(),
                            keys.device());
  } else if (length_ == memory_.size(1)) {
    const Tensor wider = room(memory_, memory_.size(0), 2 * length_);
    wider.slice(1, 0, length_).copy_from(memory_);
    memory_ = wider;
  }
  part_of(memory_, 0, length_, length_ + 1).copy_from(keys);
  part_of(memory_, 1, length_, length_ + 1).copy_from(values);
  ++length_;
}

Tensor KvCache::keys() const {
  return part_of(memory_, 0, 0, length_);
}

Tensor KvCache::values() const {
  return part_of(memory_, 1, 0, length_);
}

void KvCache::select(const RowMoves& moves) {
  if (!memory_.defined()) return;
  if (memory_.device() == Device::gpu) {
    memory_ = nn::select_rows(memory_, 0, rows_after(moves, memory_.size(0)));
    return;
  }
  if (moves.rows == memory_.size(0)) {
    move_within(moves);
    return;
  }
  const Tensor after = room(memory_, moves.rows, memory_.size(1));
  const Bytes from(memory_);
  const Bytes to(after);
  for (const RowMoves::Move& move : moves.moves)
    std::memcpy(to.place(move.to, 0), from.place(move.from, 0), at(length_) * from.position);
  memory_ = after;
}

/// Rows may change places, so what moves is set aside first.
void KvCache::move_within(const RowMoves& moves) {
  const Bytes bytes(memory_);
  std::vector<std::size_t> starts(moves.moves.size() + 1, 0);
  for (std::size_t i = 0; i < moves.moves.size(); ++i)
    starts[i + 1] = starts[i] + at(length_ - moves.moves[i].first) * bytes.position;
  std::vector<std::byte> aside(starts.back());
  for (std::size_t i = 0; i < moves.moves.size(); ++i)
    std::memcpy(aside.data() + starts[i],
                bytes.place(moves.moves[i].from, moves.moves[i].first),
                starts[i + 1] - starts[i]);
  for (std::size_t i = 0; i < moves.moves.size(); ++i)
    std::memcpy(bytes.place(moves.moves[i].to, moves.moves[i].first), aside.data() + starts[i],
                starts[i + 1] - starts[i]);
}

}  // namespace attn::models::transformer
