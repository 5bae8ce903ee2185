// SPDX-License-Identifier: Apache-2.0

#include "tasks/job.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "attn/models/search.hpp"
#include "attn/tasks/batches.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/pair_task.hpp"

namespace attn::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kBeam = 5;
/// A build folder lies at most this deep in the source tree: build/release/bin.
constexpr int kDeepestBuild = 4;

}  // namespace

Job job_of(const fs::path& folder, std::span<const std::string> texts, std::size_t batch) {
  Job job{.folder = folder, .model = tasks::load_model(folder), .batches = {}, .search = {}};
  const tasks::PairTask& task = tasks::pair_task_named(job.model.task);
  job.search = {.beam = kBeam, .length_penalty = 0.6, .max_length = job.model.limits.target};
  std::vector<Tokens> sources;
  for (const std::string& text : texts)
    sources.push_back(tasks::encode_source(
        job.model.source, task.prepare ? task.prepare(text) : text, job.model.limits.source));
  std::sort(sources.begin(), sources.end(), [](const Tokens& a, const Tokens& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  for (std::size_t begin = 0; begin < sources.size(); begin += batch) {
    const auto first = sources.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto count = std::min(batch, sources.size() - begin);
    job.batches.emplace_back(first, first + static_cast<std::ptrdiff_t>(count));
  }
  return job;
}

std::vector<Tokens> answers_of(const Job& job) {
  std::vector<Tokens> answers;
  for (const std::vector<Tokens>& sources : job.batches) {
    const tasks::SourceBatch batch = tasks::collate_sources(sources);
    for (auto& found :
         models::search(*job.model.model, batch.source, batch.lengths, job.search))
      answers.push_back(std::move(found.front().tokens));
  }
  return answers;
}

void write_job(const fs::path& file, const Job& job, const std::vector<Tokens>& answers) {
  std::ofstream out(file);
  out << nlohmann::json{{"model", fs::absolute(job.folder).string()},
                        {"batches", job.batches},
                        {"beam", job.search.beam},
                        {"length_penalty", job.search.length_penalty},
                        {"max_length", job.search.max_length},
                        {"answers", answers}}
             .dump()
      << "\n";
  if (!out.flush()) throw std::runtime_error("cannot write '" + file.string() + "'");
}

fs::path shipped_model(const std::string& task, std::string& looked) {
  std::vector<fs::path> places;
  if (const char* models = std::getenv("ATTN_MODELS"); models != nullptr && *models != '\0')
    places.emplace_back(fs::path(models) / task);
  const fs::path own = fs::read_symlink("/proc/self/exe").parent_path();
  places.push_back(own.parent_path() / "share" / "attn" / "models" / task);
  fs::path above = own;
  for (int i = 0; i < kDeepestBuild && above.has_relative_path(); ++i) {
    above = above.parent_path();
    places.push_back(above / "models" / task);
  }
  looked.clear();
  std::error_code ignored;
  for (const fs::path& place : places) {
    if (fs::exists(place / "config.json", ignored)) return place;
    looked += (looked.empty() ? "" : ", ") + place.string();
  }
  return {};
}

}  // namespace attn::bench
