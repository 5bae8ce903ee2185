/// The records of Debian's indexes: fields, one to a line, continued by a leading space.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <optional>
#include <string_view>
#include <vector>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn::tasks {

/// One record. Its texts lie in the index, which must outlive it.
class Record {
 public:
  /// What stands behind `name:` up to the end of the line; the first such field counts, and
  /// capitals do not.
  std::optional<std::string_view> field(std::string_view name) const;
  /// The continued lines below it, each with its leading space, line ends between them.
  std::string_view body(std::string_view name) const;

 private:
  struct Field {
    std::string_view name;
    std::string_view value;
    std::string_view body;
  };
  std::vector<Field> fields_;
  friend class RecordReader;
};

/// Goes through an index. Lines ended by CR LF are read as well; lines that are no field and
/// continue none are passed over.
class RecordReader {
 public:
  explicit RecordReader(std::string_view text) : rest_(text) {}
  /// False at the end.
  bool next(Record& record);

 private:
  std::string_view rest_;
};

}  // namespace attn::tasks
