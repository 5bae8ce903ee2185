#include "tensor/attend/sizes.hpp"

#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/spec/score.hpp"
#include "attn/tensor/spec/sequences.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/attend/kernels.hpp"
#include "tensor/op.hpp"

namespace attn::op {
namespace {

constexpr const char* kWhere = "attn::attend";

void check_tensor(const Tensor& x, const char* name) {
  require_real(x, kWhere, name);
  if (x.rank() != 3 && x.rank() != 4)
    fail(kWhere, ": ", name, " is ", x.text(),
         "; [batch, heads, positions, channels] and [batch, positions, channels] are accepted");
}

/// Both have heads or neither has, one dtype, and the same batch.
void check_beside(const Tensor& a, const char* name, const Tensor& b, const char* other) {
  if (a.rank() != b.rank() || a.size(0) != b.size(0))
    fail(kWhere, ": ", name, " is ", a.text(), " and ", other, " is ", b.text(),
         "; the same batch is accepted, and heads in both or in neither");
}

std::int64_t heads_of(const Tensor& x) {
  return x.rank() == 4 ? x.size(1) : 1;
}

DType table_dtype(DType storage) {
  return storage == DType::f64 ? DType::f64 : DType::f32;
}

}  // namespace

AttendSizes::AttendSizes(const Tensor& q, const Tensor& k, const Tensor& v,
                         const spec::Score& score, const spec::Sequences& laid)
    : sequences(laid) {
  const bool given = score.given.defined();
  if (given && (q.defined() || k.defined()))
    fail(kWhere, ": scores are given; q and k must be left out, as in attend({}, {}, v, ...)");
  // Given scores have the rank, the batch, the heads and the queries of a q.
  const Tensor& rows = given ? score.given : q;
  check_tensor(rows, given ? "the scores" : "q");
  has_heads = rows.rank() == 4;
  problem.batch = rows.size(0);
  problem.heads = heads_of(rows);
  problem.queries = rows.size(-2);
  problem.keys = given ? rows.size(-1) : 0;
  problem.kv_heads = given && v.defined() ? heads_of(v) : problem.heads;
  storage = given && v.defined() ? v.dtype() : rows.dtype();
  if (!given) {
    check_tensor(k, "k");
    require_same_kind(q, k, kWhere);
    if (!sequences.is_paged()) check_beside(q, "q", k, "k");
    if (q.size(-1) != k.size(-1))
      fail(kWhere, ": q is ", q.text(), " and k is ", k.text(),
           "; the same channels are accepted");
    problem.keys = k.size(-2);
    problem.kv_heads = heads_of(k);
    problem.channels = q.size(-1);
  }
  if (v.defined()) {
    check_tensor(v, "v");
    if (sequences.is_paged()) check_beside(k, "k", v, "v");
    if (!sequences.is_paged()) check_beside(rows, given ? "the scores" : "q", v, "v");
    if (!given) require_same_kind(q, v, kWhere);
    if (v.size(-2) != problem.keys || heads_of(v) != problem.kv_heads)
      fail(kWhere, ": v is ", v.text(), " beside ", problem.keys, " keys and ",
           problem.kv_heads, " kv heads; the same numbers are accepted");
  }
  if (problem.heads < 1 || problem.kv_heads < 1 || problem.heads % problem.kv_heads != 0)
    fail(kWhere, ": ", problem.heads, " heads and ", problem.kv_heads,
         " kv heads; at least one each, the first a multiple of the second, is accepted");
  problem.dtype = table_dtype(storage);
  problem.device = rows.device();
  if (given && v.defined()) require_same_device(rows, v, kWhere);
  if (sequences.is_packed() || sequences.is_paged()) take_sequences(k, given);
}

void AttendSizes::take_sequences(const Tensor& k, bool given) {
  if (given) fail<Unsupported>(kWhere, ": given scores of packed or paged sequences");
  if (sequences.device() != problem.device)
    fail(kWhere, ": the sequences are on ", name_of(sequences.device()), " and q on ",
         name_of(problem.device), "; one device is accepted");
  const std::int64_t batch = sequences.is_packed() ? 1 : sequences.count();
  if (problem.batch != batch)
    fail(kWhere, ": q has batch ", problem.batch, "; ", batch, " is accepted for ",
         sequences.count(), sequences.is_packed() ? " packed" : " paged", " sequences");
  if (sequences.is_packed()) problem.queries = sequences.longest_queries();
  if (sequences.is_paged()) sequences.check_pages(k.size(0), k.size(-2));
  problem.batch = sequences.count();
  problem.keys = sequences.longest_keys();
  problem.uneven = sequences.uneven();
}

AttendTensors AttendSizes::inputs(const Tensor& q, const Tensor& k, const Tensor& v) const {
  const auto take = [&](const Tensor& x, std::int64_t heads, std::int64_t positions) {
    return x.defined()
               ? with_heads(x.detach())
               : Tensor::empty({problem.batch, heads, positions, 0}, storage, problem.device);
  };
  AttendTensors x;
  x.q = take(q, problem.heads, problem.queries);
  x.k = take(k, problem.kv_heads, problem.keys);
  // Values that nobody pools lie like the keys.
  x.v = v.defined() ? take(v, problem.kv_heads, problem.keys) : x.k.slice(3, 0, 0);
  x.sequences = sequences;
  return x;
}

Tensor AttendSizes::with_heads(const Tensor& x) const {
  const NoGrad off_the_tape;
  return x.defined() && !has_heads ? x.unsqueeze(1) : x;
}

Tensor AttendSizes::without_heads(const Tensor& x) const {
  const NoGrad off_the_tape;
  return x.defined() && !has_heads ? x.squeeze(1) : x;
}

Tensor empty_like(const Tensor& model, std::int64_t channels) {
  const NoGrad off_the_tape;
  const std::int64_t batch = model.size(0);
  const std::int64_t heads = model.size(1);
  const std::int64_t positions = model.size(2);
  const bool heads_inside = heads > 1 && positions > 1 && model.strides()[1] != 0 &&
                            model.strides()[2] > model.strides()[1];
  if (!heads_inside)
    return Tensor::empty({batch, heads, positions, channels}, model.dtype(), model.device());
  return Tensor::empty({batch, positions, heads, channels}, model.dtype(), model.device())
      .transpose(1, 2);
}

}  // namespace attn::op
