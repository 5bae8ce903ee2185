// SPDX-License-Identifier: Apache-2.0

#include "contender.hpp"

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "stopwatch.hpp"

namespace attn::bench {

LocalContender::LocalContender(int threads, std::function<void()> call,
                               std::function<Witness()> witness)
    : threads_(threads), call_(std::move(call)), witness_(std::move(witness)) {}

double LocalContender::seconds(int calls) {
  const Stopwatch watch(threads_);
  for (int i = 0; i < calls; ++i) call_();
  return watch.seconds() / calls;
}

std::vector<float> last_head(const Buffer& buffer, std::int64_t heads) {
  const float* end = buffer.data() + buffer.size();
  return {end - buffer.size() / heads, end};
}

}  // namespace attn::bench
