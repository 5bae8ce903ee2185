// What somebody asks of the reference's weights.

#include "attn/kernels/inspect.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/kernels/reference/attention.hpp"
#include "kernels/row_reader.hpp"

namespace attn::reference {

void inspect(const ForwardArgs<double>& given, const Recipe& recipe,
             const Inspection<double>& wanted) {
  const auto& [batch, heads, queries, channels] = given.q.shape;
  const std::int64_t keys = given.k.shape[2];
  // Forward's output plays no part; it has a shape that agrees.
  ForwardArgs<double> args = given;
  double nothing = 0.0;
  args.out = {&nothing, {batch, heads, queries, args.v.shape[3]}, {}};
  args.stat = {};
  std::vector<double> all(static_cast<std::size_t>(batch * heads * queries * keys));
  weights(args, recipe,
          {all.data(),
           {batch, heads, queries, keys},
           {heads * queries * keys, queries * keys, keys, 1}});
  RowReader<double>::clear_sums(wanted);
  RowReader<double> reader(wanted, keys);
  const double* row = all.data();
  for (int b = 0; b < batch; ++b)
    for (int h = 0; h < heads; ++h)
      for (int i = 0; i < queries; ++i, row += keys)
        reader.read({b, h, i, 0, 1, static_cast<int>(keys)}, 0, row);
}

}  // namespace attn::reference
