#include "tasks/begin_with.hpp"

#include <filesystem>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/nn/module.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::tasks {

void begin_with(nn::Module& model, const nn::Module& other,
                const std::filesystem::path& folder) {
  const auto theirs = other.named_parameters();
  const auto ours = model.named_parameters();
  for (const auto& [name, tensor] : ours) {
    const Tensor from = nn::find_tensor(theirs, name);
    if (!from.defined() || !(from.shape() == tensor.shape()))
      fail("the model in ", files::path_text(folder), " has other sizes: ", name, " is ",
           from.defined() ? from.text() : "not there", ", not ", tensor.text());
  }
  const NoGrad off_the_tape;
  for (const auto& [name, tensor] : ours)
    Tensor(tensor).copy_from(nn::find_tensor(theirs, name));
}

}  // namespace attn::tasks
