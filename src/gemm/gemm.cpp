#include "attn/gemm/gemm.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "attn/core/error.hpp"
#include "attn/core/thread_pool.hpp"
#include "attn/kernels/target.hpp"
#include "gemm/cpu/product.hpp"

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

/// Calls run(row, bias or null) for every row of every C.
template <class T, class Run>
void each_row(const Args<T>& args, const Run& run) {
  for (std::int64_t product = 0; product < args.batch; ++product)
    for (std::int64_t i = 0; i < args.m; ++i)
      run(args.c + product * args.c_stride + i * args.ldc);
}

template <class T>
void scale(const Args<T>& args) {
  each_row(args, [&](T* row) {
    for (std::int64_t j = 0; j < args.n; ++j)
      row[j] = args.beta == T(0) ? T(0) : args.beta * row[j];
  });
}

template <class T>
void add_bias(const Args<T>& args, const T* bias) {
  if (bias == nullptr) return;
  each_row(args, [&](T* row) {
    for (std::int64_t j = 0; j < args.n; ++j) row[j] += bias[j];
  });
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

}  // namespace

template <class T>
void product(const Args<T>& args, const T* bias, int threads) {
  validate(args);
  if (args.m == 0 || args.n == 0 || args.batch == 0) return;
  if (threads <= 0) threads = ThreadPool::default_threads();
  if (args.k == 0) {
    scale(args);
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
