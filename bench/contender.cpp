// SPDX-License-Identifier: Apache-2.0

#include "contender.hpp"

#include <chrono>
#include <utility>

namespace attn::bench {

LocalContender::LocalContender(std::function<void()> call, std::function<Witness()> witness)
    : call_(std::move(call)), witness_(std::move(witness)) {}

double LocalContender::seconds(int calls) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) call_();
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  return spent.count() / calls;
}

std::vector<float> last_head(const Buffer& buffer, std::int64_t heads) {
  const float* end = buffer.data() + buffer.size();
  return {end - buffer.size() / heads, end};
}

}  // namespace attn::bench
