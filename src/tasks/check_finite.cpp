#include "tasks/check_finite.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/nn/module.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::tasks {

void check_finite(const nn::Module& module, const std::filesystem::path& path) {
  for (const auto& [name, tensor] : module.named_parameters()) {
    const Tensor packed = tensor.detach().contiguous();
    const float* values = packed.data<float>();
    const float* end = values + packed.numel();
    const float* bad = std::find_if(values, end, [](float x) { return !std::isfinite(x); });
    if (bad != end)
      fail<FileError>(files::path_text(path), " is damaged: ", name, " holds ", *bad,
                      "; finite weights are accepted");
  }
}

}  // namespace attn::tasks
