#include "tools/conformance/run.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/safetensors.hpp"
#include "attn/kernels/target.hpp"
#include "attn/tensor/storage.hpp"
#include "tools/conformance/array.hpp"
#include "tools/conformance/case.hpp"
#include "tools/conformance/compare.hpp"
#include "tools/conformance/mechanism.hpp"
#include "tools/conformance/operators.hpp"
#include "tools/conformance/softmax_precision.hpp"
#include "tools/conformance/tolerance.hpp"

namespace attn::conformance {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExtension = ".safetensors";

std::vector<Path> paths_of(const Options& options) {
  std::vector<Path> paths;
  if (options.device == Device::gpu) {
    for (const auto kind : {Path::Kind::gpu, Path::Kind::gpu_decode, Path::Kind::gpu_rows})
      paths.push_back({kind, {}});
    return paths;
  }
  for (const Target target : cpu::kBuiltTargets) {
    const bool wanted = options.targets == Targets::all || target == cpu::best_target();
    if (wanted && cpu::available(target))
      paths.push_back({Path::Kind::cpu, {options.threads, target}});
  }
  paths.push_back({Path::Kind::reference, {}});
  return paths;
}

/// All values of a case, by name.
std::map<std::string, Array> run_nodes(const Case& what, const Path& path) {
  std::map<std::string, Array> values = what.inputs;
  for (const Node& node : what.nodes) {
    Call call{node, {}, 0, path};
    for (const std::string& name : node.inputs) {
      const auto at = values.find(name);
      if (!name.empty() && at == values.end())
        fail<FileError>(files::printable(node.operation), " reads ", files::in_quotes(name),
                        ", which nobody writes");
      call.inputs.push_back(name.empty() ? nullptr : &at->second);
    }
    Results results = run_node(call, what);
    for (std::size_t i = 0; i < node.outputs.size() && i < results.size(); ++i)
      if (!node.outputs[i].empty())
        values.insert_or_assign(node.outputs[i], std::move(results[i]));
  }
  return values;
}

/// The coarser of an output's own type and what the case takes its softmax in.
Tolerance tolerance_for(const Case& what, DType dtype) {
  Tolerance result = tolerance_of(dtype);
  for (const Node& node : what.nodes) {
    const auto precision = node.attributes.find("softmax_precision");
    if (precision == node.attributes.end() || !precision->is_number_integer()) continue;
    if (const auto coarse = float_dtype_of(precision->get<std::int64_t>())) {
      result.relative = std::max(result.relative, tolerance_of(*coarse).relative);
      result.absolute = std::max(result.absolute, tolerance_of(*coarse).absolute);
    }
  }
  return result;
}

/// The output that is furthest off.
std::optional<Difference> check(const Case& what, const Path& path) {
  const std::map<std::string, Array> values = run_nodes(what, path);
  std::optional<Difference> worst;
  for (const auto& [name, want] : what.outputs) {
    const auto got = values.find(name);
    if (got == values.end()) fail<FileError>("no node writes ", files::in_quotes(name));
    auto difference = compare(name, got->second, want, tolerance_for(what, want.dtype));
    if (difference && (!worst || difference->excess > worst->excess)) worst = difference;
  }
  return worst;
}

}  // namespace

std::vector<fs::path> find_cases(const fs::path& folder) {
  std::error_code error;
  if (folder.extension() == kExtension && fs::is_regular_file(folder, error)) return {folder};
  fs::directory_iterator entries(folder, error);
  if (error)
    fail<FileError>(files::path_text(folder), ": ", error.message(), "; expected a folder of ",
                    kExtension, " files");
  std::vector<fs::path> cases;
  for (; entries != fs::directory_iterator(); entries.increment(error)) {
    if (error) break;
    if (entries->path().extension() == kExtension) cases.push_back(entries->path());
  }
  if (error) fail<FileError>(files::path_text(folder), ": ", error.message());
  if (cases.empty())
    fail<FileError>(files::path_text(folder), ": there is no ", kExtension, " file in it");
  std::sort(cases.begin(), cases.end());
  return cases;
}

Outcome run_case(const fs::path& path, const Options& options) {
  Outcome outcome{files::printable(path.stem().string()), false, {}};
  std::string where;
  double worst = -1.0;
  const auto look = [&](const std::optional<Difference>& difference) {
    if (!difference || difference->excess <= worst) return;
    worst = difference->excess;
    outcome.message = where + difference->text;
  };
  try {
    const files::Safetensors file = files::read_safetensors(path);
    if (is_mechanism(file)) {
      for (const DType dtype : {DType::f32, DType::f64}) {
        where = std::string(name_of(dtype)) + ": ";
        look(check_mechanism(file, dtype, options.device));
      }
    } else {
      const Case what = read_case(file);
      for (const Path& by : paths_of(options)) {
        where = by.name() + ": ";
        look(check(what, by));
      }
    }
  } catch (const std::exception& error) {
    outcome.message = where + files::printable(error.what(), 500);
  }
  outcome.passed = outcome.message.empty();
  return outcome;
}

}  // namespace attn::conformance
