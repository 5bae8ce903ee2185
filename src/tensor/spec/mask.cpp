#include "attn/tensor/spec/mask.hpp"

#include <array>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/kernels/erase.hpp"
#include "attn/kernels/recipe.hpp"
#include "attn/mask/around.hpp"
#include "attn/mask/block_sparse.hpp"
#include "attn/mask/causal.hpp"
#include "attn/mask/dense.hpp"
#include "attn/mask/dilated.hpp"
#include "attn/mask/documents.hpp"
#include "attn/mask/lengths.hpp"
#include "attn/mask/none.hpp"
#include "attn/mask/prefix.hpp"
#include "attn/mask/sliding_window.hpp"
#include "attn/tensor/spec/stage.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/op.hpp"
#include "tensor/spec/lower.hpp"

namespace attn::spec {

/// A leaf, or parts under a connective.
struct Mask::Node {
  MaskTree::Kind kind = MaskTree::Kind::leaf;
  Stage<AnyMask> leaf;
  std::vector<Mask> parts;
};

Mask::Mask(Stage<AnyMask> leaf)
    : node_(std::make_shared<const Node>(
          Node{MaskTree::Kind::leaf, std::move(leaf), std::vector<Mask>{}})) {}

Mask Mask::join(MaskTree::Kind kind, const std::vector<Mask>& parts) {
  Node node{kind, {}, {}};
  for (const Mask& part : parts) {
    // a && (b && c) is one list, which kernels walk faster than a tree.
    if (kind != MaskTree::Kind::none_of && part.node_->kind == kind) {
      node.parts.insert(node.parts.end(), part.node_->parts.begin(), part.node_->parts.end());
    } else {
      node.parts.push_back(part);
    }
  }
  Mask joined;
  joined.node_ = std::make_shared<const Node>(std::move(node));
  return joined;
}

Lowered<MaskTree> Mask::lower(const Problem& problem) const {
  if (keeps_all()) return {MaskTree::of(mask_stage(mask::None{}))};
  if (node_->kind == MaskTree::Kind::leaf) {
    Lowered<AnyMask> leaf = node_->leaf.lower(problem);
    return {MaskTree::of(leaf.stage), {}, std::move(leaf.reads), std::move(leaf.owns)};
  }
  Lowered<MaskTree> tree{{node_->kind, {}, {}}};
  const auto owns = std::make_shared<std::vector<std::shared_ptr<const void>>>();
  for (const Mask& part : node_->parts) {
    Lowered<MaskTree> child = part.lower(problem);
    tree.stage.children.push_back(std::move(child.stage));
    tree.reads.insert(tree.reads.end(), child.reads.begin(), child.reads.end());
    owns->push_back(std::move(child.owns));
  }
  tree.owns = owns;
  return tree;
}

Mask operator&&(const Mask& a, const Mask& b) {
  if (a.keeps_all()) return b;
  if (b.keeps_all()) return a;
  return Mask::join(MaskTree::Kind::all_of, {a, b});
}

Mask operator||(const Mask& a, const Mask& b) {
  if (a.keeps_all() || b.keeps_all()) return {};
  return Mask::join(MaskTree::Kind::any_of, {a, b});
}

Mask operator!(const Mask& a) {
  if (!a.keeps_all()) return Mask::join(MaskTree::Kind::none_of, {a});
  const Mask everything(
      {[](const Problem&) { return Lowered<AnyMask>{mask_stage(mask::None{})}; }});
  return Mask::join(MaskTree::Kind::none_of, {everything});
}

Mask all() {
  return {};
}

namespace {

Lowered<AnyMask> lowered(const AnyMask& mask, std::vector<Tensor> reads = {},
                         std::shared_ptr<const void> owns = {}) {
  return {mask, {}, std::move(reads), std::move(owns)};
}

/// A number that kernels count with.
int small(std::int64_t number, const char* where, const char* name) {
  if (number > INT_MAX / 4 || number < -(INT_MAX / 4))
    fail(where, ": ", name, " is ", number, "; at most ", INT_MAX / 4,
         " either way is accepted");
  return static_cast<int>(number);
}

/// i64 numbers as the kernels read them, each checked to lie in [low, high].
Numbers numbers_of(const Tensor& x, std::int64_t low, std::int64_t high, Device device,
                   const char* where) {
  const auto wide = x.to_vector<std::int64_t>();
  const auto result = std::make_shared<std::vector<int>>();
  result->reserve(wide.size());
  for (const std::int64_t number : wide) {
    if (number < low || number > high)
      fail(where, ": the number ", number, " at place ", result->size(), "; ", low, "..", high,
           " are accepted");
    result->push_back(static_cast<int>(number));
  }
  return {result, device};
}

/// Strides of [batch, head, rows, columns] over flags with two to four axes.
std::array<long, 4> flag_strides(const Tensor& flags) {
  const int rank = flags.rank();
  std::array<long, 4> strides{};
  const auto take = [&](std::size_t to, int from) {
    strides[to] = flags.size(from) == 1 ? 0 : static_cast<long>(flags.strides()[from]);
  };
  take(3, rank - 1);
  take(2, rank - 2);
  if (rank > 2) take(0, 0);
  if (rank > 3) take(1, 1);
  return strides;
}

void check_flags(const Tensor& flags, const Problem& problem, const char* where,
                 const char* accepted) {
  const int rank = flags.rank();
  const bool batch_fits = rank < 3 || flags.size(0) == 1 || flags.size(0) == problem.batch;
  const bool heads_fit = rank < 4 || flags.size(1) == 1 || flags.size(1) == problem.heads;
  if (!batch_fits || !heads_fit)
    fail(where, ": flags ", flags.text(), " beside batch ", problem.batch, " and ",
         problem.heads, " heads; ", accepted, " are accepted");
  if (flags.device() != problem.device)
    fail(where, ": flags ", flags.text(), " are on ", name_of(flags.device()),
         " and attention on ", name_of(problem.device), "; one device is accepted");
}

void require_flags(const Tensor& flags, const char* where, const char* accepted) {
  op::require_dtype(flags, DType::boolean, where, "the flags");
  if (flags.rank() < 2 || flags.rank() > 4)
    fail(where, ": flags ", flags.text(), "; ", accepted, " are accepted");
}

const unsigned char* bytes_of(const Tensor& flags) {
  return static_cast<const unsigned char*>(op::address(flags));
}

template <class T>
mask::Around<T> around_of(const Tensor& centre, double reach) {
  const auto stride = [&](int axis) {
    return centre.size(axis) == 1 ? 0L : static_cast<long>(centre.strides()[axis]);
  };
  return {op::numbers<const T>(centre), static_cast<T>(reach), stride(0), stride(1), stride(2)};
}

}  // namespace

Mask causal(Offset offset) {
  return Mask({[offset](const Problem& problem) {
    return lowered(mask_stage(mask::Causal{problem.offset(offset)}));
  }});
}

Mask causal_top_left() {
  return causal(0);
}

Mask lengths(const Tensor& lengths) {
  static constexpr const char* kWhere = "attn::spec::lengths";
  op::require_dtype(lengths, DType::i64, kWhere, "the lengths");
  return Mask({[lengths](const Problem& problem) {
    const bool each_query = lengths.rank() == 2;
    const Shape expected =
        each_query ? Shape{problem.batch, problem.queries} : Shape{problem.batch};
    if (!(lengths.shape() == expected))
      fail(kWhere, ": ", lengths.text(), "; [", problem.batch, "] and [", problem.batch, ", ",
           problem.queries, "] are accepted");
    const Numbers numbers = numbers_of(lengths, 0, problem.keys, problem.device, kWhere);
    const mask::Lengths mask{numbers.data, each_query ? static_cast<long>(problem.queries) : 1L,
                             each_query ? 1L : 0L};
    return lowered(mask_stage(mask), {}, numbers.owns());
  }});
}

Mask window(std::int64_t before, std::int64_t after, Offset offset) {
  const int left = small(before, "attn::spec::window", "before");
  const int right = small(after, "attn::spec::window", "after");
  return Mask({[left, right, offset](const Problem& problem) {
    return lowered(mask_stage(mask::SlidingWindow{left, right, problem.offset(offset)}));
  }});
}

Mask prefix(std::int64_t length, Offset offset) {
  const int first = small(length, "attn::spec::prefix", "length");
  return Mask({[first, offset](const Problem& problem) {
    return lowered(mask_stage(mask::Prefix{.length = first, .offset = problem.offset(offset)}));
  }});
}

Mask prefix(const Tensor& lengths, Offset offset) {
  static constexpr const char* kWhere = "attn::spec::prefix";
  op::require_dtype(lengths, DType::i64, kWhere, "the lengths");
  return Mask({[lengths, offset](const Problem& problem) {
    op::require_shape(lengths, {problem.batch}, kWhere, "the lengths");
    const Numbers numbers = numbers_of(lengths, 0, problem.keys, problem.device, kWhere);
    const mask::Prefix mask{
        .offset = problem.offset(offset), .lengths = numbers.data, .batch_stride = 1};
    return lowered(mask_stage(mask), {}, numbers.owns());
  }});
}

Mask documents(const Tensor& queries, const Tensor& keys) {
  static constexpr const char* kWhere = "attn::spec::documents";
  op::require_dtype(queries, DType::i64, kWhere, "the numbers of the queries");
  op::require_dtype(keys, DType::i64, kWhere, "the numbers of the keys");
  return Mask({[queries, keys](const Problem& problem) {
    const auto check = [&](const Tensor& x, std::int64_t count, const char* name) {
      const bool fits = x.shape() == Shape{count} || x.shape() == Shape{problem.batch, count};
      if (!fits)
        fail(kWhere, ": numbers of the ", name, " ", x.text(), "; [", count, "] and [",
             problem.batch, ", ", count, "] are accepted");
      return numbers_of(x, INT_MIN, INT_MAX, problem.device, kWhere);
    };
    using Both = std::array<Numbers, 2>;
    const auto owns = std::make_shared<const Both>(
        Both{check(queries, problem.queries, "queries"), check(keys, problem.keys, "keys")});
    const mask::Documents mask{(*owns)[0].data, (*owns)[1].data,
                               queries.rank() == 2 ? static_cast<long>(problem.queries) : 0L,
                               keys.rank() == 2 ? static_cast<long>(problem.keys) : 0L};
    return lowered(mask_stage(mask), {}, owns);
  }});
}

Mask dilated(std::int64_t step, std::int64_t reach, Offset offset) {
  static constexpr const char* kWhere = "attn::spec::dilated";
  if (step < 1) fail(kWhere, ": step ", step, "; at least 1 is accepted");
  const int each = small(step, kWhere, "step");
  const int far = small(reach, kWhere, "reach");
  return Mask({[each, far, offset](const Problem& problem) {
    return lowered(mask_stage(mask::Dilated{each, far, problem.offset(offset)}));
  }});
}

Mask block_sparse(const Tensor& blocks, std::int64_t query_block, std::int64_t key_block) {
  static constexpr const char* kWhere = "attn::spec::block_sparse";
  static constexpr const char* kAccepted =
      "[query blocks, key blocks], [batch, ...] and [batch, heads, ...]";
  require_flags(blocks, kWhere, kAccepted);
  if (query_block < 1 || key_block < 1)
    fail(kWhere, ": blocks of ", query_block, " queries and ", key_block,
         " keys; at least 1 each is accepted");
  const int queries_each = small(query_block, kWhere, "query_block");
  const int keys_each = small(key_block, kWhere, "key_block");
  return Mask({[blocks, queries_each, keys_each](const Problem& problem) {
    check_flags(blocks, problem, kWhere, kAccepted);
    const int rank = blocks.rank();
    if (blocks.size(rank - 2) * queries_each < problem.queries ||
        blocks.size(rank - 1) * keys_each < problem.keys)
      fail(kWhere, ": flags ", blocks.text(), " for blocks of ", queries_each, " x ", keys_each,
           " do not reach all of ", problem.queries, " queries and ", problem.keys, " keys");
    const auto strides = flag_strides(blocks);
    const mask::BlockSparse mask{bytes_of(blocks), queries_each, keys_each, strides[2],
                                 strides[3],       strides[1],   strides[0]};
    return lowered(mask_stage(mask), {blocks});
  }});
}

Mask dense(const Tensor& flags) {
  static constexpr const char* kWhere = "attn::spec::dense";
  static constexpr const char* kAccepted =
      "[queries, keys], [batch, queries, keys] and [batch, heads, queries, keys]";
  require_flags(flags, kWhere, kAccepted);
  return Mask({[flags](const Problem& problem) {
    check_flags(flags, problem, kWhere, kAccepted);
    const std::int64_t rows = flags.size(-2);
    const std::int64_t columns = flags.size(-1);
    if ((rows != 1 && rows != problem.queries) || (columns != 1 && columns != problem.keys))
      fail(kWhere, ": flags ", flags.text(), " beside ", problem.queries, " queries and ",
           problem.keys, " keys; ", kAccepted, " are accepted");
    const auto strides = flag_strides(flags);
    const mask::Dense mask{bytes_of(flags), strides[0], strides[1], strides[2], strides[3]};
    return lowered(mask_stage(mask), {flags});
  }});
}

Mask around(const Tensor& centre, double reach) {
  op::require_real(centre, "attn::spec::around", "the centre");
  return Mask({[fixed = centre.detach(), reach](const Problem& problem) {
    const Tensor rows = row_table(fixed, problem, "attn::spec::around");
    // The reference alone is asked in double, and needs no kernels.
    const AnyMask mask = rows.dtype() == DType::f64 ? mask_stage(around_of<double>(rows, reach))
                                                    : mask_stage(around_of<float>(rows, reach));
    return lowered(mask, {rows});
  }});
}

}  // namespace attn::spec
