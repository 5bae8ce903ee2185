/// Files of a test, gone when it ends.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "attn/tasks/fetch/cache.hpp"

namespace attn::tasks {

class Scratch {
 public:
  std::filesystem::path write(const std::string& name, std::string_view text) const {
    const std::filesystem::path path = folder_.path() / name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  ScratchFolder folder_{std::filesystem::temp_directory_path()};
};

/// What a call throws, as text; "" when it throws nothing.
template <class E, class F>
std::string message_of(F call) {
  try {
    call();
  } catch (const E& error) {
    return error.what();
  }
  return "";
}

}  // namespace attn::tasks
