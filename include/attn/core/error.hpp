/// Errors: what the library throws when it cannot do what was asked.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <sstream>
#include <stdexcept>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn {

/// The base of everything attn throws. Messages read
/// `attn::where: what is wrong, the sizes seen, what would be accepted`.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The arguments contradict each other or the documentation.
class InvalidArgument : public Error {
 public:
  using Error::Error;
};

/// The request makes sense, but nothing here was built to serve it.
class Unsupported : public Error {
 public:
  using Error::Error;
};

/// A file is missing, damaged or cannot be written.
class FileError : public Error {
 public:
  using Error::Error;
};

/// Throws an E whose message is the parts joined.
template <class E = InvalidArgument, class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  std::ostringstream message;
  (message << ... << parts);
  throw E(message.str());
}

}  // namespace attn
