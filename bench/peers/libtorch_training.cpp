// The training rows by libtorch, in a program of its own. One request a line, `run ROW THREADS
// CALLS`, one JSON object a line back: {"seconds": s}, the mean of the calls.

// SPDX-License-Identifier: Apache-2.0

#include <torch/torch.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "peers/libtorch_threads.hpp"
#include "stopwatch.hpp"

namespace attn::bench {
namespace {

using ::torch::Tensor;
namespace t = ::torch::nn;

constexpr std::int64_t kVocabulary = 10'000;
constexpr std::int64_t kHidden = 256;

/// The decoder of the text books: additive attention over the encoder, a step at a time.
struct Seq2SeqImpl : t::Module {
  Seq2SeqImpl() {
    const auto gru = [](std::int64_t in) {
      return t::GRU(t::GRUOptions(in, kHidden).num_layers(2));
    };
    source = register_module("source", t::Embedding(kVocabulary, kHidden));
    target = register_module("target", t::Embedding(kVocabulary, kHidden));
    encoder = register_module("encoder", gru(kHidden));
    decoder = register_module("decoder", gru(2 * kHidden));
    const auto plain = [](std::int64_t out) {
      return t::Linear(t::LinearOptions(kHidden, out).bias(false));
    };
    query = register_module("query", plain(kHidden));
    key = register_module("key", plain(kHidden));
    score = register_module("score", plain(1));
    dense = register_module("dense", t::Linear(kHidden, kVocabulary));
  }

  Tensor forward(const Tensor& from, const Tensor& to) {
    auto [read, state] = encoder(source(from).transpose(0, 1));
    const Tensor values = read.transpose(0, 1);  // [batch, words, hidden]
    const Tensor keys = key(values);
    const Tensor words = target(to).transpose(0, 1);
    std::vector<Tensor> outputs;
    for (std::int64_t step = 0; step < words.size(0); ++step) {
      const Tensor q = query(state[-1]).unsqueeze(1);
      const Tensor weights = ::torch::softmax(score(::torch::tanh(q + keys)), 1);
      const Tensor context = (weights * values).sum(1);
      const Tensor in = ::torch::cat({context, words[step]}, 1).unsqueeze(0);
      auto [out, next] = decoder(in, state);
      state = next;
      outputs.push_back(out[0]);
    }
    return dense(::torch::stack(outputs, 1));
  }

  t::Embedding source{nullptr}, target{nullptr};
  t::GRU encoder{nullptr}, decoder{nullptr};
  t::Linear query{nullptr}, key{nullptr}, score{nullptr}, dense{nullptr};
};
TORCH_MODULE(Seq2Seq);

/// What is repeated.
using Step = std::function<void()>;

Step seq2seq_step() {
  auto model = std::make_shared<Seq2Seq>();
  auto adam = std::make_shared<::torch::optim::Adam>((*model)->parameters());
  const auto ids = [] { return ::torch::randint(kVocabulary, {64, 10}); };
  return [=, from = ids(), to = ids(), labels = ids()] {
    adam->zero_grad();
    const Tensor logits = (*model)->forward(from, to);
    ::torch::nn::functional::cross_entropy(logits.flatten(0, 1), labels.flatten()).backward();
    t::utils::clip_grad_norm_((*model)->parameters(), 1.0);
    adam->step();
  };
}

Step transformer_step() {
  auto layer = std::make_shared<t::TransformerEncoderLayer>(
      t::TransformerEncoderLayerOptions(512, 8).dim_feedforward(2048).dropout(0.1));
  auto adam = std::make_shared<::torch::optim::Adam>((*layer)->parameters());
  auto x = ::torch::randn({256, 8, 512}).requires_grad_();
  return [=]() mutable {
    adam->zero_grad();
    x.mutable_grad() = Tensor();
    (*layer)(x).square().mean().backward();
    adam->step();
  };
}

Step product_step() {
  return [a = ::torch::rand({1024, 1024}), b = ::torch::rand({1024, 1024})] {
    const ::torch::NoGradGuard off;
    ::torch::matmul(a, b);
  };
}

class Server {
 public:
  std::string answer(const std::string& line) {
    std::istringstream words(line);
    std::string verb, row;
    int threads = 0, calls = 0;
    words >> verb >> row >> threads >> calls;
    if (verb != "run" || threads < 1 || calls < 1)
      throw std::invalid_argument("expected: run ROW THREADS CALLS");
    set_libtorch_threads(threads);
    const Step& step = prepared(row);
    const Stopwatch watch(threads);
    for (int call = 0; call < calls; ++call) step();
    std::ostringstream out;
    out.precision(9);
    out << "{\"seconds\": " << watch.seconds() / calls << "}";
    return out.str();
  }

 private:
  const Step& prepared(const std::string& row) {
    const auto place = steps_.find(row);
    if (place != steps_.end()) return place->second;
    ::torch::manual_seed(1);
    const Step step = row == "C10"   ? seq2seq_step()
                      : row == "C11" ? transformer_step()
                      : row == "C12" ? product_step()
                                     : throw std::invalid_argument("no row " + row);
    step();
    return steps_[row] = step;
  }

  std::map<std::string, Step> steps_;
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
