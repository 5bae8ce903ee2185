// attn-bench-libtorch: attention as one writes it with libtorch, behind the line protocol of
// peers/child.cpp. A program of its own; attn-bench starts it and asks.

// SPDX-License-Identifier: Apache-2.0

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "data.hpp"
#include "machine/memory.hpp"
#include "peers/libtorch_threads.hpp"
#include "problem.hpp"
#include "stopwatch.hpp"

namespace attn::bench {
namespace {

using Tensors = std::vector<::torch::Tensor>;

::torch::Tensor copy_of(const Buffer& buffer, std::vector<std::int64_t> shape) {
  return ::torch::from_blob(buffer.data(), std::move(shape)).clone();
}

std::string number(double x) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.9g", x);
  return text;
}

class Task {
 public:
  explicit Task(const Problem& problem) : p_(problem) {
    const Data data = make_data(problem);
    const std::int64_t b = p_.batch, h = p_.heads, n = p_.queries, m = p_.keys, d = p_.dim;
    if (p_.family == Family::dot) {
      names_ = {"dq", "dk", "dv"};
      inputs_ = {copy_of(data.q, {b, h, n, d}), copy_of(data.k, {b, h, m, d}),
                 copy_of(data.v, {b, h, m, d})};
    } else {
      names_ = {"dq", "dk", "dv", "dwq", "dwk", "dw"};
      inputs_ = {copy_of(data.q, {b, n, d}),           copy_of(data.k, {b, m, d}),
                 copy_of(data.v, {b, m, d}),           copy_of(data.query_projection, {d, d}),
                 copy_of(data.key_projection, {d, d}), copy_of(data.weight, {d})};
    }
    if (p_.pass != Pass::forward) {
      grad_out_ = copy_of(data.grad_out, inputs_[0].sizes().vec());
      for (auto& input : inputs_) input.requires_grad_(true);
    }
    if (p_.keep != Keep::all) mask_ = mask();
  }

  /// Seconds of the part that the problem names; the backward's own forward is not timed.
  double call() {
    // What the last call left is freed outside the timed part, as a training loop would have.
    grads_.clear();
    out_ = ::torch::Tensor();
    const int threads = ::torch::get_num_threads();
    Stopwatch watch(threads);
    if (p_.pass == Pass::forward) {
      const ::torch::NoGradGuard no_grad;
      out_ = attention();
    } else {
      auto out = attention();
      if (p_.pass == Pass::backward) watch = Stopwatch(threads);
      grads_ = ::torch::autograd::grad({out}, inputs_, {grad_out_});
      out_ = out.detach();
    }
    return watch.seconds();
  }

  std::vector<std::pair<std::string, ::torch::Tensor>> witness() const {
    std::vector<std::pair<std::string, ::torch::Tensor>> tensors;
    if (p_.pass != Pass::backward) tensors.emplace_back("out", part(out_));
    for (std::size_t i = 0; i < grads_.size(); ++i)
      tensors.emplace_back(names_[i], part(grads_[i]));
    return tensors;
  }

  /// Bytes of the results, which the caller would own.
  std::int64_t output_bytes() const {
    std::int64_t bytes = static_cast<std::int64_t>(out_.nbytes());
    for (const auto& grad : grads_) bytes += static_cast<std::int64_t>(grad.nbytes());
    return bytes;
  }

 private:
  ::torch::Tensor attention() const {
    return p_.family == Family::dot ? dot_product() : additive();
  }

  ::torch::Tensor dot_product() const {
    const double scale = 1 / std::sqrt(static_cast<double>(p_.dim));
    auto scores = ::torch::matmul(inputs_[0] * scale, inputs_[1].transpose(-2, -1));
    if (mask_.defined()) scores = scores.masked_fill(mask_, -INFINITY);
    return ::torch::matmul(::torch::softmax(scores, -1), inputs_[2]);
  }

  ::torch::Tensor additive() const {
    const auto q = ::torch::matmul(inputs_[0], inputs_[3]).unsqueeze(2);
    const auto k = ::torch::matmul(inputs_[1], inputs_[4]).unsqueeze(1);
    const auto scores = ::torch::matmul(::torch::tanh(q + k), inputs_[5]);
    return ::torch::matmul(::torch::softmax(scores, -1), inputs_[2]);
  }

  /// True where a pair does not exist.
  ::torch::Tensor mask() const {
    auto dropped = ::torch::ones({p_.queries, p_.keys}, ::torch::kBool);
    for (std::int64_t i = 0; i < p_.queries; ++i) {
      const auto [first, last] = kept(p_, i);
      dropped[i].slice(0, first, last).fill_(false);
    }
    return dropped;
  }

  /// Dot: the last head of the last batch. Additive: all.
  ::torch::Tensor part(const ::torch::Tensor& tensor) const {
    return (p_.family == Family::dot ? tensor[-1][-1] : tensor).contiguous();
  }

  Problem p_;
  std::vector<std::string> names_;
  Tensors inputs_, grads_;
  ::torch::Tensor grad_out_, mask_, out_;
};

class Server {
 public:
  std::string answer(const std::string& line) {
    std::istringstream words(line);
    std::string verb, problem, rest;
    int threads = 0;
    words >> verb >> problem >> threads >> rest;
    if (threads < 1) throw std::invalid_argument("threads must be > 0");
    set_libtorch_threads(threads);
    if (verb == "memory") return memory(problem);
    if (problem != name_) {
      task_.reset();
      task_ = std::make_unique<Task>(parse_problem(problem));
      name_ = problem;
      task_->call();
    }
    if (verb == "run") return run(std::max(1, std::atoi(rest.c_str())));
    if (verb == "check") return check(rest);
    throw std::invalid_argument("unknown verb; there are run, check, memory");
  }

 private:
  std::string run(int calls) {
    double seconds = 0;
    for (int i = 0; i < calls; ++i) seconds += task_->call();
    return "{\"seconds\": " + number(seconds / calls) + "}";
  }

  std::string check(const std::string& path) {
    task_->call();
    std::ofstream file(path, std::ios::binary);
    std::string list;
    for (const auto& [tensor, values] : task_->witness()) {
      file.write(static_cast<const char*>(values.data_ptr()),
                 static_cast<std::streamsize>(values.nbytes()));
      list += (list.empty() ? "" : ", ") + ("[\"" + tensor + "\", ") +
              std::to_string(values.numel()) + "]";
    }
    if (!file.flush()) throw std::runtime_error("cannot write " + path);
    return "{\"tensors\": [" + list + "]}";
  }

  std::string memory(const std::string& problem) {
    Task task(parse_problem(problem));
    double seconds = 0;
    const std::int64_t peak = peak_beyond([&] { seconds = task.call(); });
    const std::int64_t extra =
        peak < 0 ? -1 : std::max<std::int64_t>(0, peak - task.output_bytes());
    return "{\"seconds\": " + number(seconds) + ", \"extra_bytes\": " + std::to_string(extra) +
           "}";
  }

  std::string name_;
  std::unique_ptr<Task> task_;
};

}  // namespace
}  // namespace attn::bench

int main() {
  attn::bench::Server server;
  for (std::string line; std::getline(std::cin, line);) {
    try {
      std::cout << server.answer(line) << std::endl;
    } catch (const std::exception& failure) {
      std::string text = failure.what();
      for (char& c : text) c = c == '"' || c == '\\' || c < ' ' ? ' ' : c;
      std::cout << "{\"error\": \"" << text << "\"}" << std::endl;
    }
  }
}
