// Greedy search of captions: the likeliest word at each step, with its weights.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/models/captioner.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "models/captioner_parts.hpp"

namespace attn::models {
namespace {

std::vector<float> floats(const Tensor& x) {
  return x.to(DType::f32).to_vector<float>();
}

/// The likeliest word that may be said; the first of equals.
std::int64_t best_word(const float* log_probabilities, std::int64_t vocabulary) {
  std::int64_t best = kEos;
  for (std::int64_t word = kEos + 1; word < vocabulary; ++word)
    if (log_probabilities[word] > log_probabilities[best]) best = word;
  return best;
}

}  // namespace

std::vector<Described> Captioner::describe(const Tensor& canvases, std::int64_t longest) const {
  if (longest < 1)
    fail("attn::models::Captioner::describe: captions of ", longest, " words; 1 or more");
  const NoGrad off_the_tape;
  State state;
  const Source source = begin(canvases, state);
  const auto rows = static_cast<std::size_t>(canvases.size(0));
  const auto places = static_cast<std::size_t>(grid() * grid());
  const auto vocabulary = static_cast<std::size_t>(options_.vocabulary);
  std::vector<Described> made(rows);
  std::vector<std::int64_t> tokens(rows, kBos);
  std::vector<bool> ended(rows, false);
  std::size_t open = rows;
  // One step more than words: the last may still be kEos.
  for (std::int64_t t = 0; t <= longest && open > 0; ++t) {
    const Tensor read = Tensor::from(tokens, {canvases.size(0)}).to(device());
    const Step step = this->step(source, state, read, Choice::best, {}, {});
    const std::vector<float> believed = floats(log_softmax(step.logits));
    const std::vector<float> alpha = floats(step.alpha);
    const std::vector<float> gates = floats(step.gate);
    const auto looked = step.places.defined() ? step.places.to_vector<std::int64_t>()
                                              : std::vector<std::int64_t>();
    for (std::size_t row = 0; row < rows; ++row) {
      Described& one = made[row];
      if (ended[row]) continue;
      const float* of_row = believed.data() + row * vocabulary;
      const std::int64_t word = best_word(of_row, options_.vocabulary);
      one.finished = word == kEos;
      ended[row] = one.finished || t == longest;
      if (ended[row]) --open;
      one.log_probability += static_cast<double>(of_row[ended[row] ? kEos : word]);
      one.gates.push_back(gates[row]);
      if (looked.empty()) {
        const auto* first = alpha.data() + row * places;
        one.weights.insert(one.weights.end(), first, first + places);
      } else {
        one.weights.resize(one.weights.size() + places, 0.0f);
        one.weights[one.weights.size() - places + static_cast<std::size_t>(looked[row])] = 1.0f;
      }
      if (!ended[row]) one.words.push_back(word);
      tokens[row] = word;
    }
  }
  return made;
}

}  // namespace attn::models
