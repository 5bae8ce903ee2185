#include "tasks/begin_with.hpp"

#include <cstddef>
#include <span>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/nn/module.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::tasks {
namespace {

Tensor weights_of(const Beginning& other, const nn::NamedTensor& own) {
  const Tensor from = nn::find_tensor(other.model->named_parameters(), own.name);
  if (!from.defined() || !(from.shape() == own.tensor.shape()))
    fail("the model in ", files::path_text(other.folder), " has other sizes: ", own.name,
         " is ", from.defined() ? from.text() : "not there", ", not ", own.tensor.text());
  return from;
}

}  // namespace

void begin_with(nn::Module& model, std::span<const Beginning> others) {
  const NoGrad off_the_tape;
  const auto ours = model.named_parameters();
  std::vector<Tensor> means;
  means.reserve(ours.size());
  for (const nn::NamedTensor& own : ours) {
    Tensor sum = weights_of(others.front(), own);
    for (const Beginning& other : others.subspan(1)) sum = sum + weights_of(other, own);
    means.push_back(sum / static_cast<double>(others.size()));
  }
  for (std::size_t i = 0; i < ours.size(); ++i) Tensor(ours[i].tensor).copy_from(means[i]);
}

}  // namespace attn::tasks
