#include "attn/gemm/gemm.hpp"

#include <oneapi/dnnl/dnnl.h>
#include <oneapi/dnnl/dnnl_types.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/thread_pool.hpp"
#include "gemm/one_thread.hpp"

namespace attn::gemm {
namespace {

/// Rows and columns of C that one task computes, at most.
constexpr std::int64_t kTaskRows = 512;
constexpr std::int64_t kTaskColumns = 1024;
/// Multiply-adds that are worth a task of their own: packing their operands is cheap.
constexpr std::int64_t kTaskWork = std::int64_t{1} << 25;
/// Edges of blocks lie at multiples of this, which inner loops like.
constexpr std::int64_t kEdge = 16;

std::int64_t in_parts(std::int64_t size, std::int64_t part) {
  return (size + part - 1) / part;
}

/// How C is cut, by the shape alone: who computes what must not change a bit.
struct Cut {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t row_blocks = 0;
  std::int64_t column_blocks = 0;

  std::int64_t blocks() const { return row_blocks * column_blocks; }
};

template <class T>
Cut cut(const Args<T>& args) {
  std::int64_t down = in_parts(args.m, kTaskRows);
  std::int64_t across = in_parts(args.n, kTaskColumns);
  // Few blocks, or an odd number of them, leave threads waiting for the last one.
  while (true) {
    const std::int64_t blocks = args.batch * down * across;
    if (blocks >= 8 || (blocks >= 4 && blocks % 2 == 0)) break;
    std::int64_t& longer = args.m / down >= args.n / across ? down : across;
    const std::int64_t more = blocks < 4 ? 2 * longer : longer + 1;
    if (args.m * args.n / (down * across / longer * more) * args.k < kTaskWork) break;
    longer = more;
  }
  const auto size_of = [](std::int64_t size, std::int64_t blocks) {
    return in_parts(in_parts(size, blocks), kEdge) * kEdge;
  };
  const std::int64_t rows = size_of(args.m, down);
  const std::int64_t columns = size_of(args.n, across);
  return {rows, columns, in_parts(args.m, rows), in_parts(args.n, columns)};
}

struct Block {
  std::int64_t product = 0;
  std::int64_t row = 0;
  std::int64_t rows = 0;
  std::int64_t column = 0;
  std::int64_t columns = 0;
};

template <class T>
const T* first_of(const T* data, std::int64_t lead, Turn turn, std::int64_t row,
                  std::int64_t column) {
  return turn == Turn::no ? data + row * lead + column : data + column * lead + row;
}

/// Below AVX-512 oneDNN takes a matrix in place where it could be laid out first. Where the
/// rows it walks across lie a multiple of 1 KiB apart, the walk meets the same few cache sets:
/// 40 GF/s instead of 90 (Zen 3). Such a block is copied to rows an odd number of cache lines
/// apart. With AVX-512 it lays such matrices out itself, and a copy costs up to a tenth (Zen
/// 4).
constexpr std::int64_t kBadStride = 256;
constexpr std::int64_t kPad = 16;

bool takes_bad_strides() {
  static const bool kAvx512 =
      (dnnl_get_effective_cpu_isa() & dnnl_cpu_isa_avx512_core) == dnnl_cpu_isa_avx512_core;
  return kAvx512;
}

struct Matrix {
  const float* data;
  std::int64_t lead;
};

Matrix spread_rows(const Matrix& from, std::int64_t rows, std::int64_t columns,
                   std::vector<float>& buffer) {
  if (from.lead % kBadStride != 0 || rows < 2 || takes_bad_strides()) return from;
  const std::int64_t stride = columns + kPad;
  if (static_cast<std::int64_t>(buffer.size()) < stride * rows)
    buffer.resize(static_cast<std::size_t>(stride * rows));
  for (std::int64_t r = 0; r < rows; ++r)
    std::copy_n(from.data + r * from.lead, columns, buffer.data() + r * stride);
  return {buffer.data(), stride};
}

bool multiply(const Args<float>& args, const Block& block) {
  thread_local std::vector<float> a_buffer;
  thread_local std::vector<float> b_buffer;
  Matrix a{
      first_of(args.a + block.product * args.a_stride, args.lda, args.turn_a, block.row, 0),
      args.lda};
  Matrix b{
      first_of(args.b + block.product * args.b_stride, args.ldb, args.turn_b, 0, block.column),
      args.ldb};
  if (args.turn_a == Turn::yes) a = spread_rows(a, args.k, block.rows, a_buffer);
  if (args.turn_b == Turn::no) b = spread_rows(b, args.k, block.columns, b_buffer);
  float* c = args.c + block.product * args.c_stride + block.row * args.ldc + block.column;
  const OneThread alone;
  const dnnl_status_t status = dnnl_sgemm(
      args.turn_a == Turn::yes ? 'T' : 'N', args.turn_b == Turn::yes ? 'T' : 'N', block.rows,
      block.columns, args.k, 1.0f, a.data, a.lead, b.data, b.lead, args.beta, c, args.ldc);
  return status == dnnl_success;
}

/// Plain loops in blocks of k, for checks.
bool multiply(const Args<double>& args, const Block& block) {
  const double* a = args.a + block.product * args.a_stride;
  const double* b = args.b + block.product * args.b_stride;
  double* c = args.c + block.product * args.c_stride;
  for (std::int64_t i = block.row; i < block.row + block.rows; ++i) {
    double* row = c + i * args.ldc;
    for (std::int64_t j = block.column; j < block.column + block.columns; ++j) {
      double total = 0.0;
      for (std::int64_t p = 0; p < args.k; ++p)
        total += *first_of(a, args.lda, args.turn_a, i, p) *
                 *first_of(b, args.ldb, args.turn_b, p, j);
      row[j] = args.beta == 0.0 ? total : args.beta * row[j] + total;
    }
  }
  return true;
}

/// Right after the product, while the block lies in the cache.
template <class T>
void add_bias(const Args<T>& args, const T* bias, const Block& block) {
  for (std::int64_t i = block.row; i < block.row + block.rows; ++i) {
    T* row = args.c + block.product * args.c_stride + i * args.ldc;
    for (std::int64_t j = block.column; j < block.column + block.columns; ++j)
      row[j] += bias[j];
  }
}

template <class T>
void scale_alone(const Args<T>& args, const Block& block) {
  for (std::int64_t i = block.row; i < block.row + block.rows; ++i) {
    T* row = args.c + block.product * args.c_stride + i * args.ldc;
    for (std::int64_t j = block.column; j < block.column + block.columns; ++j)
      row[j] = args.beta == T(0) ? T(0) : args.beta * row[j];
  }
}

template <class T>
void validate(const Args<T>& args) {
  if (args.m < 0 || args.n < 0 || args.k < 0 || args.batch < 0)
    fail("attn::gemm::product: m ", args.m, ", n ", args.n, ", k ", args.k, ", batch ",
         args.batch, "; none may be negative");
  const std::int64_t a_row = args.turn_a == Turn::yes ? args.m : args.k;
  const std::int64_t b_row = args.turn_b == Turn::yes ? args.k : args.n;
  if (args.lda < std::max<std::int64_t>(1, a_row) ||
      args.ldb < std::max<std::int64_t>(1, b_row) ||
      args.ldc < std::max<std::int64_t>(1, args.n))
    fail("attn::gemm::product: leading strides ", args.lda, ", ", args.ldb, ", ", args.ldc,
         " for rows of ", a_row, ", ", b_row, ", ", args.n, "; a row must fit");
}

}  // namespace

template <class T>
void product(const Args<T>& args, const T* bias, int threads) {
  validate(args);
  if (args.m == 0 || args.n == 0 || args.batch == 0) return;
  const Cut cuts = cut(args);
  const std::int64_t each = cuts.blocks();
  std::atomic<bool> done{true};
  ThreadPool::shared().parallel_for(
      static_cast<int>(args.batch * each),
      threads > 0 ? threads : ThreadPool::default_threads(), [&](int task) {
        const std::int64_t row = task % each / cuts.column_blocks * cuts.rows;
        const std::int64_t column = task % cuts.column_blocks * cuts.columns;
        const Block block{task / each, row, std::min(cuts.rows, args.m - row), column,
                          std::min(cuts.columns, args.n - column)};
        if (args.k == 0) {
          scale_alone(args, block);
        } else if (!multiply(args, block)) {
          done = false;
        }
        if (bias != nullptr) add_bias(args, bias, block);
      });
  // The arguments were checked; what is left is memory.
  if (!done)
    fail<Error>("attn::gemm::product: oneDNN could not compute ", args.m, " x ", args.n, " x ",
                args.k, "; is there memory left?");
}

template void product(const Args<float>&, const float*, int);
template void product(const Args<double>&, const double*, int);

}  // namespace attn::gemm
