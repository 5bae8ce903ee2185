#include "attn/tensor/spec/normaliser.hpp"

#include <cstdint>

#include "attn/core/error.hpp"
#include "attn/kernels/erase.hpp"
#include "attn/normalise/dropout.hpp"
#include "attn/normalise/hard.hpp"
#include "attn/normalise/identity.hpp"
#include "attn/normalise/local_gaussian.hpp"
#include "attn/normalise/mean.hpp"
#include "attn/normalise/scale_weight.hpp"
#include "attn/normalise/sigmoid.hpp"
#include "attn/normalise/softmax.hpp"
#include "attn/normalise/softmax_sink.hpp"
#include "attn/normalise/sparsemax.hpp"
#include "attn/normalise/summed_sigmoid.hpp"
#include "attn/tensor/spec/stage.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/spec/lower.hpp"

namespace attn::spec {
namespace {

/// A normaliser without tables.
template <class N>
Normaliser plain(const N& functor, bool has_log_sum_exp = false) {
  return {with_tables(normaliser_stage(functor)), {}, has_log_sum_exp};
}

Normaliser with_dropout(const Normaliser& normaliser, const SoftmaxOptions& options) {
  if (options.dropout == 0.0) return normaliser;
  if (!options.key)
    fail("attn::spec::softmax: dropout ", options.dropout,
         " without a key; the key of a draw, random.next(), is needed");
  return normaliser | dropout(options.dropout, *options.key);
}

}  // namespace

Normaliser Normaliser::then(const WeightModifier& next) const {
  Normaliser longer = *this;
  longer.modifiers.push_back(next);
  return longer;
}

Normaliser softmax(const SoftmaxOptions& options) {
  return with_dropout(plain(normalise::Softmax{}, true), options);
}

Normaliser softmax_with_sink(const Tensor& sink, const SoftmaxOptions& options) {
  return with_dropout({with_tables(normaliser_stage(normalise::SoftmaxSink{}), {sink},
                                   &row_table, "attn::spec::softmax_with_sink"),
                       {},
                       true},
                      options);
}

Normaliser identity() {
  return plain(normalise::Identity{});
}
Normaliser mean() {
  return plain(normalise::Mean{});
}
Normaliser sigmoid() {
  return plain(normalise::Sigmoid{});
}
Normaliser summed_sigmoid() {
  return plain(normalise::SummedSigmoid{});
}
Normaliser hard_argmax() {
  return plain(normalise::HardMax{});
}
Normaliser hard_sample(std::uint64_t key) {
  return plain(normalise::HardSample{key});
}
Normaliser sparsemax() {
  return plain(normalise::Sparsemax{});
}

WeightModifier local_gaussian(const Tensor& centre, double sigma) {
  if (!(sigma > 0.0))
    fail("attn::spec::local_gaussian: sigma ", sigma, "; above 0 is accepted");
  return with_tables(weight_stage(normalise::LocalGaussian{static_cast<float>(sigma)}),
                     {centre}, &row_table, "attn::spec::local_gaussian");
}

WeightModifier scale_weight(const Tensor& gate) {
  return with_tables(weight_stage(normalise::ScaleWeight{}), {gate}, &row_table,
                     "attn::spec::scale_weight");
}

WeightModifier dropout(double probability, std::uint64_t key) {
  if (!(probability >= 0.0 && probability <= 1.0))
    fail("attn::spec::dropout: probability ", probability, "; 0..1 is accepted");
  return with_tables(weight_stage(normalise::Dropout{key, static_cast<float>(probability)}));
}

}  // namespace attn::spec
