/// What the conformance tests share: the stored cases, and copies of them with something wrong.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/files/array.hpp"
#include "attn/files/safetensors.hpp"

namespace attn::test {

inline std::filesystem::path onnx_cases() {
  return std::filesystem::path(ATTN_TEST_DATA) / "onnx";
}

/// A new empty folder, removed with everything in it at the end.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "attn-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// A stored case that can be changed and written.
class EditedCase {
 public:
  explicit EditedCase(const std::string& name)
      : file_(files::read_safetensors(onnx_cases() / (name + ".safetensors"))),
        text_(file_.metadata().at("case")),
        tensors_(file_.tensors().begin(), file_.tensors().end()) {}

  /// Replaces a part of the case's text, which must be there.
  EditedCase& replace(std::string_view from, std::string_view to) {
    const auto at = text_.find(from);
    if (at == std::string::npos)
      throw std::runtime_error("the case lacks " + std::string(from));
    text_.replace(at, from.size(), to);
    return *this;
  }
  EditedCase& text(std::string text) {
    text_ = std::move(text);
    return *this;
  }
  EditedCase& drop(const std::string& tensor) {
    std::erase_if(tensors_, [&](const auto& t) { return t.name == tensor; });
    return *this;
  }
  /// Other elements for a tensor; they must outlive the case.
  template <class T>
  EditedCase& put(const std::string& tensor, std::vector<std::int64_t> shape,
                  const std::vector<T>& values) {
    drop(tensor);
    tensors_.push_back(files::array_view(tensor, std::move(shape), values));
    return *this;
  }
  files::ArrayView& tensor(const std::string& name) {
    for (auto& t : tensors_)
      if (t.name == name) return t;
    throw std::runtime_error("the case lacks " + name);
  }

  std::filesystem::path write(const Folder& folder) const {
    const auto path = folder.path() / "edited.safetensors";
    files::write_safetensors(path, tensors_, {{"case", text_}});
    return path;
  }

 private:
  files::Safetensors file_;
  std::string text_;
  std::vector<files::ArrayView> tensors_;
};

}  // namespace attn::test
