/// Writing into a cache of keys or values, in place.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/core/view.hpp"

namespace attn {

/// Where rows past the end go.
enum class CacheMode {
  linear,    ///< nowhere: they are an error
  circular,  ///< to the beginning: row (start + i) % rows
};

/// cache[b, h, start_b + i, c] = update[b, h, i, c].
template <class T>
struct CacheArgs {
  View<T, 4> cache;                      ///< [batch, heads, rows, channels]
  View<const T, 4> update;               ///< [batch, heads, new rows <= rows, channels]
  const std::int64_t* starts = nullptr;  ///< [batch]; without them all are 0
  CacheMode mode = CacheMode::linear;
};

/// Throws InvalidArgument unless sizes agree, starts are not negative and, in linear mode, the
/// update ends within the cache; validate_shapes() does not look at the starts, which may lie
/// on the GPU.
template <class T>
void validate(const CacheArgs<T>& args);
template <class T>
void validate_shapes(const CacheArgs<T>& args);

/// Only the rows named are written. For the float types and for std::uint8_t to std::uint64_t,
/// which stand for elements of any kind of their size.
template <class T>
void write_cache(const CacheArgs<T>& args);

}  // namespace attn
