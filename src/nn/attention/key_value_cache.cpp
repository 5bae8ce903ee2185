#include "attn/nn/attention/key_value_cache.hpp"

#include <algorithm>
#include <cstdint>

#include "attn/core/error.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {
namespace {

constexpr int kPositions = 2;
constexpr std::int64_t kLeastCapacity = 16;

void validate(const Tensor& seen, const Tensor& added, const char* what) {
  bool fits = added.rank() == 4;
  if (fits && seen.defined())
    for (const int axis : {0, 1, 3}) fits = fits && seen.size(axis) == added.size(axis);
  if (!fits || (seen.defined() && seen.dtype() != added.dtype()))
    fail("attn::nn::KeyValueCache: ", what, " of ", added.text(), " behind ",
         seen.defined() ? seen.text() : "nothing",
         "; [batch, heads, positions, channels] that agree in all but the positions are "
         "accepted");
}

}  // namespace

void KeyValueCache::write(Rows& rows, const Tensor& added) const {
  const std::int64_t end = length_ + added.size(kPositions);
  if (!rows.memory.defined() || end > rows.memory.size(kPositions)) {
    Shape shape = added.shape();
    shape[kPositions] = std::max({end, 2 * length_, capacity_, kLeastCapacity});
    const Tensor before = rows.seen;
    rows.memory = Tensor::empty(shape, added.dtype(), added.device());
    if (before.defined()) rows.memory.slice(kPositions, 0, length_).copy_from(before);
  }
  rows.memory.slice(kPositions, length_, end).copy_from(added);
  rows.seen = rows.memory.slice(kPositions, 0, end);
}

void KeyValueCache::append(Rows& rows, const Tensor& added) const {
  if (!grad_enabled()) {
    write(rows, added);
    return;
  }
  rows.seen = rows.seen.defined() ? concat({rows.seen, added}, kPositions) : added;
  rows.memory = {};  // what was written there is a part of `seen` now
}

void KeyValueCache::append(const Tensor& keys, const Tensor& values) {
  validate(keys_.seen, keys, "keys");
  validate(values_.seen, values, "values");
  if (keys.size(kPositions) != values.size(kPositions))
    fail("attn::nn::KeyValueCache: ", keys.text(), " keys and ", values.text(),
         " values; as many of both are accepted");
  append(keys_, keys);
  append(values_, values);
  length_ += keys.size(kPositions);
}

Attended KeyValueCache::attend_next(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const Want& want) {
  append(k, v);
  return attend(q, keys(), values(), spec::scaled_dot(), spec::causal(), spec::softmax(), want);
}

}  // namespace attn::nn
