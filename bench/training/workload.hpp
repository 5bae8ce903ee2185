/// Work that is repeated as a whole: a training step, a product.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace attn::bench {

/// One kind of work, done by one contender.
class Workload {
 public:
  virtual ~Workload() = default;
  /// Does it `calls` times and returns the mean of their seconds.
  virtual double seconds(int calls) = 0;
};

/// A row: what is done, what it costs, and what is asked of it.
struct WorkloadRow {
  std::string name;  ///< "C10"
  std::string title;
  double flops = 0.0;   ///< of one call; 0: unknown
  double tokens = 0.0;  ///< target tokens of one call; 0: none
  double floor = 0.0;   ///< how many times as fast as libtorch
  double goal = 0.0;
  std::function<std::unique_ptr<Workload>(int threads)> ours;
};

std::vector<WorkloadRow> workload_rows();

std::unique_ptr<Workload> seq2seq_workload(int threads);      ///< C10
std::unique_ptr<Workload> transformer_workload(int threads);  ///< C11
std::unique_ptr<Workload> product_workload(int threads);      ///< C12

/// The same by the program attn-bench-libtorch-training beside this one; null without it.
/// "tuned": an allocator that never gives memory back.
std::unique_ptr<Workload> libtorch_workload(const std::string& row, int threads, bool tuned);

struct WorkloadOptions {
  std::vector<std::string> rows;  ///< empty: all
  std::vector<int> threads;
  bool quick = false;
};
/// Measures, prints, and tells whether all went well.
void measure_workloads(const WorkloadOptions& options);

/// C13: start of the program, and a file with all of nn.
void measure_start(bool quick);

/// Time of a convolution, a recurrent and a self-attention layer over lengths, the growth
/// fitted, and how far a gradient reaches in one layer.
void measure_layers(bool quick);

}  // namespace attn::bench
