/// A decoding job: what a model reads, in batches, and how it is searched; the same for all
/// contenders.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "attn/models/search.hpp"
#include "attn/tasks/pair_model.hpp"

namespace attn::bench {

using Tokens = std::vector<std::int64_t>;

struct Job {
  std::filesystem::path folder;
  tasks::PairModel model;
  std::vector<std::vector<Tokens>> batches;  ///< sources, shortest first
  models::SearchOptions search;
};

/// The model of a folder, reading texts in batches of a size.
Job job_of(const std::filesystem::path& folder, std::span<const std::string> texts,
           std::size_t batch);

/// The best answer to every source, in order.
std::vector<Tokens> answers_of(const Job& job);

/// For programs that cannot read text: {"model", "batches", "beam", "length_penalty",
/// "max_length", "answers"}.
void write_job(const std::filesystem::path& file, const Job& job,
               const std::vector<Tokens>& answers);

/// Where the model of a task lies: in $ATTN_MODELS, installed, or above this program. Empty
/// where there is none, and then `looked` tells where it might be.
std::filesystem::path shipped_model(const std::string& task, std::string& looked);

}  // namespace attn::bench
