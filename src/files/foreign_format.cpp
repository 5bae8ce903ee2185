// SPDX-License-Identifier: Apache-2.0

#include "files/foreign_format.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace attn::files {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kFromTorch =
    "; convert it in Python: safetensors.torch.save_file(torch.load(FILE, "
    "map_location=\"cpu\", "
    "weights_only=True), \"model.safetensors\"), where torch.load gives a state dict";

/// The name of a zip archive's first member: its length is at byte 26, the name at 30.
std::string_view first_member(std::string_view head) {
  constexpr std::size_t kLength = 26, kName = 30;
  if (head.size() < kName) return {};
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(head[i]); };
  const std::size_t length = byte(kLength) + 256u * byte(kLength + 1);
  return head.substr(kName, std::min(length, head.size() - kName));
}

}  // namespace

std::string foreign_format(std::span<const std::byte> head) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  if (text.starts_with("PK\3\4"sv)) {
    const std::string_view member = first_member(text);
    if (member.ends_with(".npy"))
      return "a NumPy archive (.npz); convert it in Python: "
             "safetensors.numpy.save_file(dict(numpy.load(FILE)), \"model.safetensors\")";
    if (member.ends_with(".pkl"))
      return "a PyTorch file (a zip archive with a pickle inside)" + std::string(kFromTorch);
    return "a zip archive; files of PyTorch (.pt, .pth, .bin) are such" +
           std::string(kFromTorch);
  }
  // Protocols 2 to 5 of pickle; older PyTorch files begin so too.
  if (text.size() > 1 && text[0] == '\x80' && text[1] >= 2 && text[1] <= 5)
    return "a Python pickle, as older versions of PyTorch write" + std::string(kFromTorch);
  if (text.starts_with("\x93NUMPY"sv))
    return "a NumPy array (.npy); safetensors holds arrays with names";
  if (text.starts_with("\x89HDF"sv)) return "an HDF5 file, as Keras writes";
  if (text.starts_with("GGUF"sv)) return "a GGUF file, as llama.cpp reads";
  if (text.starts_with("\x1f\x8b"sv)) return "compressed by gzip; gunzip comes first";
  if (text.starts_with("version https://git-lfs"sv))
    return "a pointer of Git LFS in place of the file; `git lfs pull` gets the file itself";
  return {};
}

}  // namespace attn::files
