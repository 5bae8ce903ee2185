// Memory networks, as mechanisms.

#include <string>

#include "attn/core/error.hpp"
#include "attn/nn/mechanisms/composed/key_value_memory.hpp"
#include "attn/nn/mechanisms/composed/memory_network.hpp"
#include "attn/nn/registry.hpp"
#include "attn/tensor/random.hpp"
#include "nn/mechanisms/adapt.hpp"
#include "nn/mechanisms/composed/mechanisms.hpp"

namespace attn::nn::composed {
namespace {

MemoryTying tying_of(const Given& given) {
  const std::string tying = given.options.word("tying", "adjacent");
  if (tying == "adjacent") return MemoryTying::adjacent;
  if (tying == "layerwise") return MemoryTying::layerwise;
  fail("attn::nn: tying '", tying, "'; adjacent and layerwise are accepted");
}

MemoryNetworkOptions memory_options(const Given& given) {
  const Options& options = given.options;
  const MemoryTying tying = tying_of(given);
  const bool adjacent = tying == MemoryTying::adjacent;
  const std::string words = adjacent ? "E.0.weight" : "A.weight";
  const std::string times = adjacent ? "T.0.weight" : "T_A.weight";
  const bool temporal = options.flag("temporal", given.has_parameter(times));
  return {
      .vocab_size = adapt::rows(given, words),
      .dim = adapt::columns(given, words),
      .hops = options.whole("hops", 1),
      .tying = tying,
      .order = options.flag("position_encoding", false) ? WordOrder::position : WordOrder::bag,
      .temporal_rows = temporal ? adapt::rows(given, times) : 0,
      .weights =
          options.flag("linear_start", false) ? MemoryWeights::linear : MemoryWeights::softmax};
}

Made run_memory(const Given& given) {
  const auto module = adapt::loaded(MemoryNetwork(memory_options(given)), given);
  const auto made = module.forward({.memories = given.need("memories"),
                                    .question = given.need("question"),
                                    .memory_word_lens = given.in("memory_word_lens"),
                                    .memory_lens = given.in("memory_lens"),
                                    .question_lens = given.in("question_lens")});
  return {{{"weights", made.weights}, {"u", made.u}, {"logits", made.logits}},
          module.named_parameters()};
}

Given memory_example(Random& random) {
  Given given;
  given.inputs["memories"] = adapt::ids(random, {3, 4, 3}, 6);
  given.inputs["memory_word_lens"] =
      adapt::lengths({3, 2, 1, 0, 3, 3, 2, 1, 1, 1, 1, 1}).reshape({3, 4});
  given.inputs["memory_lens"] = adapt::lengths({4, 2, 0});
  given.inputs["question"] = adapt::ids(random, {3, 4}, 6);
  given.inputs["question_lens"] = adapt::lengths({4, 1, 2});
  for (const char* hop : {"0", "1", "2"}) {
    given.parameters[std::string("E.") + hop + ".weight"] = adapt::real(random, {6, 3});
    given.parameters[std::string("T.") + hop + ".weight"] = adapt::real(random, {5, 3});
  }
  given.options = {{"hops", 2.0},
                   {"tying", std::string("adjacent")},
                   {"position_encoding", true},
                   {"temporal", true}};
  return given;
}

Made run_key_value(const Given& given) {
  const auto module = adapt::loaded(
      KeyValueMemory({.features = adapt::columns(given, "A.weight"),
                      .dim = adapt::rows(given, "A.weight"),
                      .hops = given.options.whole("hops", 1),
                      .answers = given.options.flag("tie_b", !given.has_parameter("B.weight"))
                                     ? AnswerMatrix::tied
                                     : AnswerMatrix::own}),
      given);
  const auto made =
      module.forward(given.need("query"), given.need("keys"), given.need("values"),
                     given.need("candidates"), given.in("valid_lens"));
  return {{{"weights", made.weights}, {"q", made.q}, {"logits", made.logits}},
          module.named_parameters()};
}

Given key_value_example(Random& random) {
  Given given;
  given.inputs["query"] = adapt::real(random, {3, 4});
  given.inputs["keys"] = adapt::real(random, {3, 5, 4});
  given.inputs["values"] = adapt::real(random, {3, 5, 4});
  given.inputs["candidates"] = adapt::real(random, {4, 4});
  given.inputs["valid_lens"] = adapt::lengths({5, 2, 0});
  given.parameters["A.weight"] = adapt::real(random, {3, 4}) * 0.5;
  given.parameters["B.weight"] = adapt::real(random, {3, 4});
  given.parameters["R.0.weight"] = adapt::real(random, {3, 3});
  given.parameters["R.1.weight"] = adapt::real(random, {3, 3});
  given.options = {{"hops", 2.0}, {"tie_b", false}};
  return given;
}

}  // namespace

Mechanism memory_network() {
  return {
      .name = "memory_network",
      .family = "composed",
      .title = "A question looks several times at sentences it remembers",
      .formula =
          "m_i = sum_j l_j * A[x_ij] + T_A[i], c_i likewise with C, p = softmax(u . m_i), "
          "o = sum p_i c_i, u = u + o",
      .paper = "Sukhbaatar, Szlam, Weston, Fergus, 2015, arXiv:1503.08895",
      .made_of =
          "in each hop score dot, mask lengths, normalise softmax (identity in the "
          "linear start), pool weighted sum",
      .options =
          "hops: how often it looks\n"
          "tying: adjacent or layerwise\n"
          "position_encoding: whether the order of words counts\n"
          "temporal: whether each memory has a learnt time\n"
          "linear_start: weights without softmax, for the first epochs",
      .snippet = R"(nn::MemoryNetwork network({.vocab_size = 20, .dim = 8, .hops = 2});
Tensor memories = random_integers({2, 5, 4}, 0, 20, nn::random());
Tensor question = random_integers({2, 3}, 0, 20, nn::random());
Tensor logits = network.forward({.memories = memories, .question = question}).logits;)",
      .header = "attn/nn/mechanisms/composed/memory_network.hpp",
      .run = run_memory,
      .example = memory_example,
  };
}

Mechanism key_value_memory() {
  return {
      .name = "key_value_memory",
      .family = "composed",
      .title = "Facts are found by their keys and read as their values",
      .formula =
          "q_0 = A x; p = softmax(q . A k_i), q = R_h (q + sum p_i A v_i); logits = q . "
          "B y",
      .paper = "Miller et al., 2016, arXiv:1606.03126",
      .made_of = "in each hop score dot, mask lengths, normalise softmax, pool weighted sum",
      .options =
          "hops: how often it looks\n"
          "tie_b: whether answers are read by A",
      .snippet = R"(nn::KeyValueMemory memory({.features = 10, .dim = 8, .hops = 2});
Tensor query = uniform({2, 10}, -1, 1, nn::random());
Tensor keys = uniform({2, 5, 10}, -1, 1, nn::random());
Tensor answers = uniform({4, 10}, -1, 1, nn::random());
Tensor logits = memory.forward(query, keys, keys, answers).logits;)",
      .header = "attn/nn/mechanisms/composed/key_value_memory.hpp",
      .run = run_key_value,
      .example = key_value_example,
  };
}

}  // namespace attn::nn::composed
