// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/embed/sentence_encoder.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::tasks {
namespace {

bool better(const Match& a, const Match& b) {
  return a.score > b.score || (a.score == b.score && a.place < b.place);
}

/// Keeps `best` sorted and no longer than `most`.
void offer(std::vector<Match>& best, std::size_t most, const Match& match) {
  if (best.size() == most && !better(match, best.back())) return;
  if (best.size() == most) best.pop_back();
  best.insert(std::upper_bound(best.begin(), best.end(), match, better), match);
}

}  // namespace

Nearest::Nearest(const Tensor& queries, std::int64_t most)
    : queries_(queries), most_(most), matches_(static_cast<std::size_t>(queries.size(0))) {
  if (queries.rank() != 2 || most < 1)
    fail("attn::tasks::Nearest: queries ", queries.text(), " and ", most,
         " matches; accepted: [queries, width], 1 or more");
}

void Nearest::add(const Tensor& vectors) {
  if (vectors.rank() != 2 || vectors.size(1) != queries_.size(1))
    fail("attn::tasks::Nearest::add: vectors ", vectors.text(), "; accepted: [count, ",
         queries_.size(1), "]");
  const NoGrad off_tape;
  const Tensor scores = linear(queries_, vectors);
  const float* score = scores.data<float>();
  for (std::vector<Match>& best : matches_)
    for (std::int64_t i = 0; i < vectors.size(0); ++i)
      offer(best, static_cast<std::size_t>(most_), {seen_ + i, *score++});
  seen_ += vectors.size(0);
}

}  // namespace attn::tasks
