// attn info: what this machine and this build can do.

// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/thread_pool.hpp"
#include "attn/files/printable.hpp"
#include "attn/kernels/gpu/device.hpp"
#include "attn/kernels/target.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/machine.hpp"
#include "tools/attn/version.hpp"

namespace attn::tools {
namespace {

struct Facts {
  Machine machine;
  std::vector<std::string> built;
  std::vector<std::string> runs;
  std::optional<std::string> best;
  int threads = 1;
  std::optional<std::string> asked;  ///< ATTN_THREADS
  bool heeded = false;               ///< whether it is a number of threads
  std::string flags;                 ///< what files compiled without attn_kernel_sources get
};

/// The instruction set of this program's own flags, which a functor compiled like it gets.
std::string own_flags() {
#if defined(__AVX512F__)
  return "avx512";
#elif defined(__AVX2__)
  return "avx2";
#elif defined(__SSE4_2__)
  return "sse4";
#elif defined(__aarch64__)
  return "neon";
#else
  return "sse2";
#endif
}

/// As the library reads ATTN_THREADS, which never tells of what it does not use.
bool is_heeded(const std::string& asked) {
  int threads = 0;
  std::from_chars(asked.data(), asked.data() + asked.size(), threads);
  return threads > 0;
}

std::string threads_note(const Facts& facts) {
  if (!facts.asked) return "set ATTN_THREADS to change it";
  if (facts.heeded) return "ATTN_THREADS";
  return "ATTN_THREADS=" + files::printable(*facts.asked, 40) +
         " is not used; a whole number of 1 or more is accepted";
}

Facts facts() {
  Facts result;
  result.machine = machine();
  for (const Target target : cpu::kBuiltTargets) {
    result.built.emplace_back(name_of(target));
    if (cpu::available(target)) result.runs.emplace_back(name_of(target));
  }
  try {
    result.best = std::string(name_of(cpu::best_target()));
  } catch (const Unsupported&) {
    result.best.reset();  // reported as "none"
  }
  result.threads = ThreadPool::default_threads();
  if (const char* asked = std::getenv("ATTN_THREADS")) {
    result.asked = asked;
    result.heeded = is_heeded(*result.asked);
  }
  result.flags = own_flags();
  return result;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text.empty() ? "none" : text;
}

nlohmann::json facts_json(const Facts& facts) {
  auto caches = nlohmann::json::object();
  for (const CacheLevel& cache : facts.machine.caches) caches[cache.name] = cache.bytes;
  return {{"version", ATTN_VERSION},
          {"commit", commit()},
          {"compiler", compiler()},
          {"cpu", facts.machine.cpu},
          {"processors", facts.machine.processors},
          {"cache_bytes", caches},
          {"targets_built", facts.built},
          {"targets_available", facts.runs},
          {"target", facts.best ? nlohmann::json(*facts.best) : nlohmann::json()},
          {"threads", facts.threads},
          {"threads_note", threads_note(facts)},
          {"own_flags", facts.flags},
          {"gpu", gpu::describe()},
          {"gpu_available", gpu::available()}};
}

void print_text(const Facts& facts, std::FILE* out) {
  std::vector<std::string> caches;
  caches.reserve(facts.machine.caches.size());
  for (const CacheLevel& cache : facts.machine.caches)
    caches.push_back(cache.name + " " + size_text(cache.bytes));
  fmt::print(out, "{}\n\n", version_text());
  fmt::print(out, "CPU            {}\n",
             facts.machine.cpu.empty() ? "unknown" : facts.machine.cpu);
  fmt::print(out, "processors     {}\n", facts.machine.processors);
  fmt::print(out, "caches         {}\n", caches.empty() ? "unknown" : joined(caches));
  fmt::print(out, "kernels built  {}\n", joined(facts.built));
  fmt::print(out, "machine runs   {}\n", joined(facts.runs));
  fmt::print(out, "a call takes   {}\n",
             facts.best.value_or("nothing: this machine runs none of the kernels"));
  fmt::print(out, "threads        {} ({})\n", facts.threads, threads_note(facts));
  fmt::print(out, "pool           one a process{}\n",
             facts.threads == 1 ? ", without workers"
                                : fmt::format("; its workers ({}) start when first needed",
                                              facts.threads - 1));
  fmt::print(out,
             "your functors  for every set above through attn_kernel_sources(); compiled any\n"
             "               other way they get their own flags, as this program has: {}\n",
             facts.flags);
  fmt::print(out, "GPU            {}\n", gpu::describe());
}

}  // namespace

int info(InfoFormat format, const Streams& streams) {
  const Facts all = facts();
  if (format == InfoFormat::json) {
    fmt::print(streams.out, "{}\n",
               facts_json(all).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    print_text(all, streams.out);
  }
  return success;
}

}  // namespace attn::tools
