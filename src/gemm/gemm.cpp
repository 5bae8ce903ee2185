#include "attn/gemm/gemm.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "attn/core/error.hpp"
#include "attn/core/thread_pool.hpp"
#include "attn/kernels/target.hpp"
#include "gemm/cpu/product_table.hpp"
#include "kernels/cpu/isa_table.hpp"
#include "kernels/cpu/team_scratch.hpp"

namespace attn::gemm {
namespace {

template <class T>
T at(const T* data, std::int64_t lead, Transpose transpose, std::int64_t row,
     std::int64_t column) {
  return transpose == Transpose::no ? data[row * lead + column] : data[column * lead + row];
}

/// Plain loops, a task for each row, for checks.
void multiply_plainly(const Args<double>& args, int threads) {
  ThreadPool::shared().parallel_for(
      static_cast<int>(args.batch * args.m), threads, [&](int task) {
        const std::int64_t i = task % args.m;
        const double* a = args.a + task / args.m * args.a_stride;
        const double* b = args.b + task / args.m * args.b_stride;
        double* row = args.c + task / args.m * args.c_stride + i * args.ldc;
        for (std::int64_t j = 0; j < args.n; ++j) {
          double total = 0.0;
          for (std::int64_t p = 0; p < args.k; ++p)
            total += at(a, args.lda, args.transpose_a, i, p) *
                     at(b, args.ldb, args.transpose_b, p, j);
          row[j] = args.beta == 0.0 ? total : args.beta * row[j] + total;
        }
      });
}

/// change(number of C, its column) for all of them.
template <class T, class Change>
void for_each(const Args<T>& args, const Change& change) {
  for (std::int64_t product = 0; product < args.batch; ++product)
    for (std::int64_t i = 0; i < args.m; ++i)
      for (std::int64_t j = 0; j < args.n; ++j)
        change(args.c[product * args.c_stride + i * args.ldc + j], j);
}

template <class T>
void add_bias(const Args<T>& args, const T* bias) {
  if (bias != nullptr) for_each(args, [&](T& c, std::int64_t j) { c += bias[j]; });
}

template <class T>
void validate(const Args<T>& args) {
  if (args.m < 0 || args.n < 0 || args.k < 0 || args.batch < 0)
    fail("attn::gemm::product: m ", args.m, ", n ", args.n, ", k ", args.k, ", batch ",
         args.batch, "; none may be negative");
  const std::int64_t a_row = args.transpose_a == Transpose::yes ? args.m : args.k;
  const std::int64_t b_row = args.transpose_b == Transpose::yes ? args.k : args.n;
  if (args.lda < std::max<std::int64_t>(1, a_row) ||
      args.ldb < std::max<std::int64_t>(1, b_row) ||
      args.ldc < std::max<std::int64_t>(1, args.n))
    fail("attn::gemm::product: leading strides ", args.lda, ", ", args.ldb, ", ", args.ldc,
         " for rows of ", a_row, ", ", b_row, ", ", args.n, "; a row must fit");
}

using cpu::BlockProduct;
using cpu::ProductTable;
using cpu::Strided;

/// Rows and columns of C that one task computes, at most: a part of its rows of A, which each
/// panel of B meets, then stays in L2.
constexpr std::int64_t kTaskRows = 4800;
constexpr std::int64_t kTaskColumns = 4096;
/// Multiply-adds of a task: a product is cut down to about 20 us, since threads that wait for
/// each other take longer than a few; small products go together up to 5 us.
constexpr std::int64_t kTaskWork = std::int64_t{1} << 20;
constexpr std::int64_t kGroupWork = std::int64_t{1} << 18;

/// With more rows than this, few columns are better taken as rows.
constexpr std::int64_t kThinRows = 16;

std::int64_t in_parts(std::int64_t size, std::int64_t part) {
  return (size + part - 1) / part;
}

/// How C is cut. Sums do not depend on it (isa/product.cpp), so it may depend on anything.
struct Cut {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t down = 0;
  std::int64_t across = 0;

  std::int64_t blocks() const { return down * across; }
};

/// The even cut that takes about this many blocks.
Cut even_cut(const Args<float>& args, const ProductTable& table, std::int64_t down,
             std::int64_t across) {
  const std::int64_t rows = in_parts(in_parts(args.m, down), table.rows) * table.rows;
  const std::int64_t columns =
      in_parts(in_parts(args.n, across), table.columns) * table.columns;
  return {rows, columns, in_parts(args.m, rows), in_parts(args.n, columns)};
}

/// Time that the team takes, in multiply-adds of one thread.
double time_of(const Args<float>& args, const Cut& cut, int threads) {
  // Laying out a number of B costs about as much as 12 products with it, one of A 8.
  constexpr std::int64_t kLayOutB = 12;
  constexpr std::int64_t kLayOutA = 8;
  constexpr std::int64_t kTaskOverhead = std::int64_t{1} << 17;
  const std::int64_t rows = std::min(cut.rows, args.m);
  const std::int64_t columns = std::min(cut.columns, args.n);
  const auto task = static_cast<double>(
      (rows * columns + kLayOutB * columns + kLayOutA * rows) * args.k + kTaskOverhead);
  // At the end threads wait for the last one, which may have begun late.
  return task * (static_cast<double>(in_parts(args.batch * cut.blocks(), threads)) + 0.25);
}

Cut choose_cut(const Args<float>& args, const ProductTable& table, int threads) {
  const std::int64_t least_down = in_parts(args.m, kTaskRows);
  const std::int64_t least_across = in_parts(args.n, kTaskColumns);
  Cut best = even_cut(args, table, least_down, least_across);
  const std::int64_t most =
      std::min(std::int64_t{4} * threads, args.m * args.n * args.k * args.batch / kTaskWork);
  if (threads < 2 || args.batch * best.blocks() >= most) return best;
  double best_time = time_of(args, best, threads);
  for (std::int64_t down = least_down; args.batch * down * least_across <= most; ++down)
    for (std::int64_t across = least_across; args.batch * down * across <= most; ++across) {
      const Cut cut = even_cut(args, table, down, across);
      const double time = time_of(args, cut, threads);
      if (time < best_time) {
        best = cut;
        best_time = time;
      }
    }
  return best;
}

/// Products of a batch that share B are one product if their rows lie evenly.
Args<float> joined(const Args<float>& args) {
  const bool even = args.b_stride == 0 && args.transpose_a == Transpose::no &&
                    args.a_stride == args.m * args.lda && args.c_stride == args.m * args.ldc;
  Args<float> result = args;
  if (even) {
    result.m *= args.batch;
    result.batch = 1;
  }
  return result;
}

Strided strided(const float* data, std::int64_t lead, Transpose transpose) {
  return transpose == Transpose::no ? Strided{data, lead, 1} : Strided{data, 1, lead};
}

BlockProduct block_at(const Args<float>& args, const float* bias, const ProductTable& table,
                      const Cut& cut, std::int64_t index) {
  const std::int64_t batch = index / cut.blocks();
  const std::int64_t row = index % cut.blocks() / cut.across * cut.rows;
  const std::int64_t column = index % cut.across * cut.columns;
  Strided a = strided(args.a + batch * args.a_stride, args.lda, args.transpose_a);
  Strided b = strided(args.b + batch * args.b_stride, args.ldb, args.transpose_b);
  a.data = a.at(row, 0);
  b.data = b.at(0, column);
  return {.rows = std::min(cut.rows, args.m - row),
          .columns = std::min(cut.columns, args.n - column),
          .depth = args.k,
          .a = a,
          .b = b,
          .c = args.c + batch * args.c_stride + row * args.ldc + column,
          .c_stride = args.ldc,
          .beta = args.beta,
          .bias = bias == nullptr ? nullptr : bias + column,
          .few = args.m <= table.few,
          .thin = args.n <= table.few && args.m > kThinRows};
}

}  // namespace

void product_on(Target target, const Args<float>& given, const float* bias, int threads) {
  const ProductTable& table = cpu::isa_table<ProductTable>(target);
  const Args<float> args = joined(given);
  const Cut cut = choose_cut(args, table, threads);
  const std::int64_t blocks = args.batch * cut.blocks();
  // Small ones go together.
  const std::int64_t work = std::min(cut.rows, args.m) * std::min(cut.columns, args.n) * args.k;
  const std::int64_t group =
      std::max<std::int64_t>(1, kGroupWork / std::max<std::int64_t>(1, work));
  const std::int64_t tasks = in_parts(blocks, group);
  const int workers = static_cast<int>(std::min<std::int64_t>(threads, tasks));
  // The first block is the largest.
  const cpu::TeamScratch scratch(table.bytes(block_at(args, bias, table, cut, 0)), workers);
  ThreadPool::shared().parallel_for(
      static_cast<int>(tasks), workers, [&](int task, int worker) {
        const std::int64_t end = std::min(blocks, (task + 1) * group);
        for (std::int64_t index = task * group; index < end; ++index)
          table.product(block_at(args, bias, table, cut, index), scratch.of(worker));
      });
}

template <class T>
void product(const Args<T>& args, const T* bias, int threads) {
  validate(args);
  if (args.m == 0 || args.n == 0 || args.batch == 0) return;
  if (threads <= 0) threads = ThreadPool::default_threads();
  if (args.k == 0) {
    for_each(args, [&](T& c, std::int64_t) { c = args.beta == T(0) ? T(0) : args.beta * c; });
    return add_bias(args, bias);
  }
  if constexpr (std::is_same_v<T, float>) {
    product_on(cpu::best_target(), args, bias, threads);
  } else {
    multiply_plainly(args, threads);
    add_bias(args, bias);
  }
}

template void product(const Args<float>&, const float*, int);
template void product(const Args<double>&, const double*, int);

}  // namespace attn::gemm
