#include "attn/nn/mechanisms/vision/non_local_block.hpp"

#include <cstdint>
#include <string>

#include "attn/core/error.hpp"
#include "attn/nn/init.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/conv.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/pointwise.hpp"

namespace attn::nn {

NonLocalBlock::NonLocalBlock(const NonLocalBlockOptions& options) : options_(options) {
  if (options.grid_rank < 1 || options.grid_rank > 3)
    fail("attn::nn::NonLocalBlock: a grid of ", options.grid_rank,
         " axes; 1, 2 and 3 are accepted");
  if (options.mode != NonLocalMode::gaussian) {
    theta_ = add_map("theta", options.inner, options.channels, Start::random);
    phi_ = add_map("phi", options.inner, options.channels, Start::random);
  }
  g_ = add_map("g", options.inner, options.channels, Start::random);
  w_z_ = add_map("W_z", options.channels, options.inner, Start::zero);
  if (options.mode == NonLocalMode::concat)
    w_f_ = add("w_f", fan_in_uniform({2 * options.inner}, 2 * options.inner));
}

NonLocalBlock::Map NonLocalBlock::add_map(const char* name, std::int64_t out, std::int64_t in,
                                          Start start) {
  Shape shape{out, in};
  for (int axis = 0; axis < options_.grid_rank; ++axis) shape.push_back(1);
  const bool zero = start == Start::zero;
  const std::string prefix(name);
  return {add(prefix + ".weight", zero ? Tensor::zeros(shape) : fan_in_uniform(shape, in)),
          add(prefix + ".bias", zero ? Tensor::zeros({out}) : fan_in_uniform({out}, in))};
}

/// cells [batch, in, cells] -> [batch, out, cells].
Tensor NonLocalBlock::apply(const Map& map, const Tensor& cells) {
  const Tensor weight = map.weight.reshape({map.weight.size(0), map.weight.size(1)});
  return matmul(weight, cells) + map.bias.unsqueeze(1);
}

/// [batch, channels, cells'], pooled on the grid of `like` if asked.
Tensor NonLocalBlock::pooled(const Tensor& cells, const Tensor& like) const {
  if (options_.pool == GridPool::none) return cells;
  Shape grid = like.shape();
  grid[1] = cells.size(1);
  const Tensor coarse = max_pool_by_two(cells.reshape(grid), 2);
  return coarse.flatten(2, coarse.rank() - 1);
}

Attended NonLocalBlock::look(const Tensor& cells, const Tensor& x, const Want& want) const {
  const bool gaussian = options_.mode == NonLocalMode::gaussian;
  const Tensor theta = gaussian ? cells : apply(theta_, cells);
  const Tensor phi = pooled(gaussian ? cells : apply(phi_, cells), x);
  const Tensor v = pooled(apply(g_, cells), x).transpose(1, 2);
  if (options_.mode != NonLocalMode::concat) {
    const auto normaliser = options_.mode == NonLocalMode::dot ? spec::mean() : spec::softmax();
    return attend(theta.transpose(1, 2), phi.transpose(1, 2), v, spec::dot(), {}, normaliser,
                  want);
  }
  // w_f . [theta; phi] is a sum of one number a query and one a key.
  const std::int64_t inner = options_.inner;
  const Tensor from_query = matmul(w_f_.slice(0, 0, inner).unsqueeze(0), theta);
  const Tensor from_key = matmul(w_f_.slice(0, inner, 2 * inner).unsqueeze(0), phi);
  const Tensor scores = relu(from_query.transpose(1, 2) + from_key);
  return attend({}, {}, v, spec::given(scores), {}, spec::mean(), want);
}

NonLocalResult NonLocalBlock::forward(const Tensor& x, const Want& want) const {
  if (x.rank() != 2 + options_.grid_rank || x.size(1) != options_.channels)
    fail("attn::nn::NonLocalBlock: x ", x.text(), " for ", options_.channels,
         " channels and a grid of ", options_.grid_rank,
         " axes; [batch, channels, ...] is accepted");
  const Tensor cells = x.flatten(2, x.rank() - 1);
  const Attended looked = look(cells, x, want | Want::output);
  const Tensor y = looked.output.transpose(1, 2);
  return {looked.weights, y, apply(w_z_, y).reshape(x.shape()) + x};
}

}  // namespace attn::nn
