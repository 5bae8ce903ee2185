// A module of the installed package learns: its loss falls.
#include "attn/nn/init.hpp"
#include "attn/nn/optimiser.hpp"
#include "attn/nn/score/general.hpp"
#include "attn/tensor/ops.hpp"
#include "attn/tensor/random.hpp"

int main() {
  using namespace attn;
  nn::seed(1);
  const nn::GeneralAttention attention({.query_dim = 4, .key_dim = 4});
  nn::Adam adam(attention);
  const Tensor keys = normal({1, 8, 4}, 0.0, 1.0, nn::random());
  const Tensor values = normal({1, 8, 2}, 0.0, 1.0, nn::random());
  double first = 0.0;
  double last = 0.0;
  for (int step = 0; step < 200; ++step) {
    const Tensor loss =
        mean_squared_error(attention.forward(keys, keys, values).output, values);
    adam.zero_grad();
    loss.backward();
    adam.step(0.05);
    last = loss.item();
    if (step == 0) first = last;
  }
  return last < 0.2 * first ? 0 : 1;
}
