/// nlohmann's event parser behind a door that knows where it is and what JSON text may hold.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"

namespace attn::files {

/// Base of handlers for JSON from outside. Derived ones throw through `reject`, which adds the
/// place reached in the text. The parser keeps its own stack, so depth costs no call stack.
class SaxHandler : public nlohmann::json_sax<nlohmann::json> {
 public:
  SaxHandler(std::string_view text, std::string_view where)
      : text_(text), where_(where), reached_(text.data()) {}

  /// Parses the whole text; FileError unless it is exactly one JSON value in UTF-8.
  void run() {
    // The lexer takes a zero byte for the end of the text and would not look behind it.
    const auto zero = text_.find('\0');
    if (zero != std::string_view::npos) {
      reached_ = text_.data() + zero;
      reject("a zero byte; accepted: JSON text");
    }
    // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): the end is given beside it
    nlohmann::json::sax_parse(Cursor{text_.data(), this},
                              Cursor{text_.data() + text_.size(), this}, this);
  }

  bool binary(binary_t&) final { reject("a binary value"); }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::json::exception& error) final {
    // The lexer has looked one character ahead; the parser knows where the token ended.
    reached_ = text_.data() + std::min(position, text_.size());
    // "[json.exception...] parse error at line 1, column 2: what it is": only the last part.
    std::string_view what = error.what();
    what = what.substr(std::min(what.find("] ") + 2, what.size()));
    if (what.starts_with("parse error at"))
      what = what.substr(std::min(what.find(": ") + 2, what.size()));
    reject("not JSON: ", printable(what));
  }

 protected:
  template <class... Parts>
  [[noreturn]] void reject(const Parts&... parts) const {
    const std::string_view before =
        text_.substr(0, static_cast<std::size_t>(reached_ - text_.data()));
    const auto line = 1 + std::ranges::count(before, '\n');
    const auto column = before.size() - (before.rfind('\n') + 1);
    fail<FileError>(where_, ": line ", line, ", column ", column, ": ", parts...);
  }

 private:
  /// Walks the text and tells the handler how far the lexer has come.
  struct Cursor {
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    const char* at;
    SaxHandler* handler;

    const char& operator*() const { return *at; }
    Cursor& operator++() {
      handler->reached_ = ++at;
      return *this;
    }
    bool operator==(const Cursor& other) const { return at == other.at; }
  };

  std::string_view text_;
  std::string where_;
  const char* reached_;
};

}  // namespace attn::files
