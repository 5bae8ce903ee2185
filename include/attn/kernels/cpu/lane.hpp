/// Lane, LaneIndex and LaneMask: a vector of floats, of positions and of conditions. They are
/// classes, so that a functor's unqualified calls find the functions beside them.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <concepts>
#include <cstdint>
#include <cstring>

#include "attn/core/dtype.hpp"
#include "attn/core/dual.hpp"
#include "attn/core/macros.hpp"
#include "attn/core/math.hpp"
#include "attn/core/site.hpp"
#include "attn/kernels/cpu/target.hpp"  // IWYU pragma: export

namespace attn::cpu::inline ATTN_TARGET {

// The scalars' functions stay in sight of kernels, and the dual numbers' of functors that live
// outside namespace attn.
using attn::abs;
using attn::floor;
using attn::load_flag;
using attn::load_int;
using attn::max;
using attn::min;
using attn::real;
using attn::select;
using attn::sqrt;

// One line a function, so that the whole interface can be read as a table.
// clang-format off

/// kLanes conditions.
class LaneMask {
 public:
  using Raw = simd::Mask<FloatTag>;

  LaneMask() = default;
  ATTN_FN explicit LaneMask(Raw m) : raw(m) {}
  /// The same condition in every lane.
  ATTN_FN LaneMask(bool condition)  // NOLINT(google-explicit-constructor)
      : raw(simd::RebindMask(FloatTag(), simd::MaskFromVec(simd::Set(IntTag(), condition ? -1 : 0)))) {}

  Raw raw;
};

ATTN_FN LaneMask operator&(LaneMask a, LaneMask b) { return LaneMask(simd::And(a.raw, b.raw)); }
ATTN_FN LaneMask operator|(LaneMask a, LaneMask b) { return LaneMask(simd::Or(a.raw, b.raw)); }
ATTN_FN LaneMask operator!(LaneMask a) { return LaneMask(simd::Not(a.raw)); }
/// Both sides are always evaluated; these let one source serve bool and LaneMask.
ATTN_FN LaneMask operator&&(LaneMask a, LaneMask b) { return a & b; }
ATTN_FN LaneMask operator||(LaneMask a, LaneMask b) { return a | b; }

ATTN_FN bool any(LaneMask m) { return !simd::AllFalse(FloatTag(), m.raw); }
ATTN_FN bool all(LaneMask m) { return simd::AllTrue(FloatTag(), m.raw); }
ATTN_FN bool none(LaneMask m) { return simd::AllFalse(FloatTag(), m.raw); }

/// Lane i as bit i.
ATTN_FN unsigned bits(LaneMask m) {
  alignas(8) std::uint8_t bytes[8] = {};
  simd::StoreMaskBits(FloatTag(), m.raw, bytes);
  unsigned result;
  std::memcpy(&result, bytes, sizeof(result));
  return result;
}
/// Bit i as lane i; bits from kLanes on are ignored.
ATTN_FN LaneMask from_bits(unsigned word) {
  alignas(8) std::uint8_t bytes[8] = {};
  std::memcpy(bytes, &word, sizeof(word));
  return LaneMask(simd::LoadMaskBits(FloatTag(), bytes));
}
/// Holds in lanes 0 .. count - 1; 0 <= count <= kLanes.
ATTN_FN LaneMask first_lanes(int count) {
  return LaneMask(simd::FirstN(FloatTag(), static_cast<std::size_t>(count)));
}

/// kLanes floats.
class Lane {
 public:
  using Raw = simd::Vec<FloatTag>;

  Lane() = default;
  ATTN_FN explicit Lane(Raw v) : raw(v) {}
  ATTN_FN Lane(float value) : raw(simd::Set(FloatTag(), value)) {}  // NOLINT(google-explicit-constructor)

  /// kLanes elements from any address.
  ATTN_FN static Lane load(const float* from) { return Lane(simd::LoadU(FloatTag(), from)); }
  ATTN_FN static Lane load(const BFloat16* from);
  ATTN_FN static Lane load(const Float16* from);
  /// The first `count` elements, then zeros; memory beyond them is not touched.
  template <class T> ATTN_FN static Lane load(const T* from, int count);

  /// 16-bit elements are rounded to nearest even; NaN stays NaN.
  ATTN_FN void store(float* to) const { simd::StoreU(raw, FloatTag(), to); }
  ATTN_FN void store(BFloat16* to) const;
  ATTN_FN void store(Float16* to) const;
  /// The first `count` lanes; memory beyond them is not touched.
  template <class T> ATTN_FN void store(T* to, int count) const;

  ATTN_FN Lane& operator+=(Lane other) { raw = raw + other.raw; return *this; }
  ATTN_FN Lane& operator-=(Lane other) { raw = raw - other.raw; return *this; }
  ATTN_FN Lane& operator*=(Lane other) { raw = raw * other.raw; return *this; }
  ATTN_FN Lane& operator/=(Lane other) { raw = raw / other.raw; return *this; }

  Raw raw;
};

ATTN_FN Lane operator-(Lane a) { return Lane(simd::Neg(a.raw)); }
ATTN_FN Lane operator+(Lane a, Lane b) { return Lane(a.raw + b.raw); }
ATTN_FN Lane operator-(Lane a, Lane b) { return Lane(a.raw - b.raw); }
ATTN_FN Lane operator*(Lane a, Lane b) { return Lane(a.raw * b.raw); }
ATTN_FN Lane operator/(Lane a, Lane b) { return Lane(a.raw / b.raw); }
ATTN_FN LaneMask operator<(Lane a, Lane b) { return LaneMask(simd::Lt(a.raw, b.raw)); }
ATTN_FN LaneMask operator<=(Lane a, Lane b) { return LaneMask(simd::Le(a.raw, b.raw)); }
ATTN_FN LaneMask operator>(Lane a, Lane b) { return LaneMask(simd::Gt(a.raw, b.raw)); }
ATTN_FN LaneMask operator>=(Lane a, Lane b) { return LaneMask(simd::Ge(a.raw, b.raw)); }
ATTN_FN LaneMask operator==(Lane a, Lane b) { return LaneMask(simd::Eq(a.raw, b.raw)); }
ATTN_FN LaneMask operator!=(Lane a, Lane b) { return LaneMask(simd::Ne(a.raw, b.raw)); }

/// a * b + c and c - a * b; rounded once where kFusedMultiplyAdd.
ATTN_FN Lane multiply_add(Lane a, Lane b, Lane c) { return Lane(simd::MulAdd(a.raw, b.raw, c.raw)); }
ATTN_FN Lane negative_multiply_add(Lane a, Lane b, Lane c) { return Lane(simd::NegMulAdd(a.raw, b.raw, c.raw)); }

/// A NaN in b is the result, on every instruction set; a NaN in a is lost on x86 (b is the
/// result) and kept on NEON. So max(constant, x) keeps a NaN in x.
ATTN_FN Lane min(Lane a, Lane b) { return Lane(simd::Min(a.raw, b.raw)); }
ATTN_FN Lane max(Lane a, Lane b) { return Lane(simd::Max(a.raw, b.raw)); }
ATTN_FN Lane abs(Lane a) { return Lane(simd::Abs(a.raw)); }
ATTN_FN Lane sqrt(Lane a) { return Lane(simd::Sqrt(a.raw)); }
ATTN_FN Lane floor(Lane a) { return Lane(simd::Floor(a.raw)); }
ATTN_FN LaneMask is_nan(Lane a) { return LaneMask(simd::IsNaN(a.raw)); }

/// a where the condition holds, else b; the other side is lost, NaN or not.
ATTN_FN Lane select(LaneMask m, Lane a, Lane b) { return Lane(simd::IfThenElse(m.raw, a.raw, b.raw)); }

/// Over all lanes, in an order that only kLanes decides. With a NaN, reduce_max
/// may or may not be NaN.
ATTN_FN float reduce_sum(Lane a) { return simd::GetLane(simd::SumOfLanes(FloatTag(), a.raw)); }
ATTN_FN float reduce_max(Lane a) { return simd::GetLane(simd::MaxOfLanes(FloatTag(), a.raw)); }
ATTN_FN float first(Lane a) { return simd::GetLane(a.raw); }

namespace detail {
/// Highway 1.0.3 stores lane by lane to make these, and then waits for its own stores.
inline constexpr int kSteps[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
static_assert(kLanes <= 16);
}  // namespace detail

/// kLanes whole numbers, also read as 32-bit words.
class LaneIndex {
 public:
  using Raw = simd::Vec<IntTag>;

  LaneIndex() = default;
  ATTN_FN explicit LaneIndex(Raw v) : raw(v) {}
  ATTN_FN LaneIndex(int value) : raw(simd::Set(IntTag(), value)) {}  // NOLINT(google-explicit-constructor)

  /// start, start + 1, ...
  ATTN_FN static LaneIndex ramp(int start) { return LaneIndex(simd::LoadU(IntTag(), detail::kSteps) + simd::Set(IntTag(), start)); }
  ATTN_FN static LaneIndex load(const int* from) { return LaneIndex(simd::LoadU(IntTag(), from)); }
  ATTN_FN void store(int* to) const { simd::StoreU(raw, IntTag(), to); }

  ATTN_FN LaneIndex& operator+=(LaneIndex other) { raw = raw + other.raw; return *this; }
  ATTN_FN LaneIndex& operator-=(LaneIndex other) { raw = raw - other.raw; return *this; }

  Raw raw;
};

namespace detail {
ATTN_FN LaneMask float_mask(simd::Mask<IntTag> m) { return LaneMask(simd::RebindMask(FloatTag(), m)); }
ATTN_FN simd::Vec<WordTag> words(LaneIndex a) { return simd::BitCast(WordTag(), a.raw); }
ATTN_FN LaneIndex index_of(simd::Vec<WordTag> v) { return LaneIndex(simd::BitCast(IntTag(), v)); }
}  // namespace detail

ATTN_FN LaneIndex operator-(LaneIndex a) { return LaneIndex(simd::Neg(a.raw)); }
ATTN_FN LaneIndex operator+(LaneIndex a, LaneIndex b) { return LaneIndex(a.raw + b.raw); }
ATTN_FN LaneIndex operator-(LaneIndex a, LaneIndex b) { return LaneIndex(a.raw - b.raw); }
ATTN_FN LaneIndex operator*(LaneIndex a, LaneIndex b) { return LaneIndex(a.raw * b.raw); }
ATTN_FN LaneIndex operator&(LaneIndex a, LaneIndex b) { return LaneIndex(simd::And(a.raw, b.raw)); }
ATTN_FN LaneIndex operator|(LaneIndex a, LaneIndex b) { return LaneIndex(simd::Or(a.raw, b.raw)); }
ATTN_FN LaneIndex operator^(LaneIndex a, LaneIndex b) { return LaneIndex(simd::Xor(a.raw, b.raw)); }
/// The sign is shifted in from the left by >>.
ATTN_FN LaneIndex operator<<(LaneIndex a, int count) { return LaneIndex(simd::ShiftLeftSame(a.raw, count)); }
ATTN_FN LaneIndex operator>>(LaneIndex a, int count) { return LaneIndex(simd::ShiftRightSame(a.raw, count)); }
ATTN_FN LaneMask operator<(LaneIndex a, LaneIndex b) { return detail::float_mask(simd::Lt(a.raw, b.raw)); }
ATTN_FN LaneMask operator>(LaneIndex a, LaneIndex b) { return detail::float_mask(simd::Gt(a.raw, b.raw)); }
ATTN_FN LaneMask operator<=(LaneIndex a, LaneIndex b) { return !(a > b); }
ATTN_FN LaneMask operator>=(LaneIndex a, LaneIndex b) { return !(a < b); }
ATTN_FN LaneMask operator==(LaneIndex a, LaneIndex b) { return detail::float_mask(simd::Eq(a.raw, b.raw)); }
ATTN_FN LaneMask operator!=(LaneIndex a, LaneIndex b) { return !(a == b); }
ATTN_FN LaneIndex min(LaneIndex a, LaneIndex b) { return LaneIndex(simd::Min(a.raw, b.raw)); }
ATTN_FN LaneIndex max(LaneIndex a, LaneIndex b) { return LaneIndex(simd::Max(a.raw, b.raw)); }
ATTN_FN LaneIndex abs(LaneIndex a) { return LaneIndex(simd::Abs(a.raw)); }
ATTN_FN LaneIndex select(LaneMask m, LaneIndex a, LaneIndex b) {
  return LaneIndex(simd::IfThenElse(simd::RebindMask(IntTag(), m.raw), a.raw, b.raw));
}
ATTN_FN int first(LaneIndex a) { return simd::GetLane(a.raw); }

/// The upper and the lower word of the product of two unsigned words.
ATTN_FN LaneIndex multiply_high(LaneIndex a, LaneIndex b) {
#if HWY_TARGET == HWY_SCALAR
  const std::uint64_t product = std::uint64_t{detail::words(a).raw} * detail::words(b).raw;
  return LaneIndex(static_cast<int>(product >> 32));
#else
  const auto even = simd::MulEven(detail::words(a), detail::words(b));
  const auto odd = simd::MulEven(simd::Shuffle2301(detail::words(a)), simd::Shuffle2301(detail::words(b)));
  return detail::index_of(simd::OddEven(simd::BitCast(WordTag(), odd),
                                        simd::Shuffle2301(simd::BitCast(WordTag(), even))));
#endif
}
ATTN_FN LaneIndex multiply_low(LaneIndex a, LaneIndex b) { return a * b; }

/// real<Lane>(at.k - at.q).
template <class V>
  requires std::same_as<V, Lane>
ATTN_FN V real(LaneIndex index) {
  return Lane(simd::ConvertTo(FloatTag(), index.raw));
}
// clang-format on

namespace detail {

// The 16-bit classes are their bits, so a vector of them moves as one of uint16.
static_assert(sizeof(BFloat16) == 2 && sizeof(Float16) == 2);
ATTN_FN simd::Vec<WordTag> load_half_words(const void* from) {
  std::uint16_t buffer[kLanes];
  std::memcpy(buffer, from, sizeof(buffer));
  return simd::PromoteTo(WordTag(), simd::LoadU(HalfTag(), buffer));
}
/// Where words below 2^31 exceed a bound.
ATTN_FN simd::Mask<WordTag> above(simd::Vec<WordTag> words, int bound) {
  return simd::RebindMask(WordTag(),
                          simd::Gt(simd::BitCast(IntTag(), words), simd::Set(IntTag(), bound)));
}
/// Words up to 0xffff.
ATTN_FN void store_half_words(simd::Vec<WordTag> words, void* to) {
  std::uint16_t buffer[kLanes];
  simd::StoreU(simd::DemoteTo(HalfTag(), simd::BitCast(IntTag(), words)), HalfTag(), buffer);
  std::memcpy(to, buffer, sizeof(buffer));
}

}  // namespace detail

template <class T>
ATTN_FN Lane Lane::load(const T* from, int count) {
  if constexpr (kMaskedMemory && std::same_as<T, float>) {
    return Lane(simd::MaskedLoad(first_lanes(count).raw, FloatTag(), from));
  } else {
    T buffer[kLanes] = {};
    for (int i = 0; i < count; ++i) buffer[i] = from[i];
    return load(buffer);
  }
}
template <class T>
ATTN_FN void Lane::store(T* to, int count) const {
  if constexpr (kMaskedMemory && std::same_as<T, float>) {
    simd::BlendedStore(raw, first_lanes(count).raw, FloatTag(), to);
  } else {
    T buffer[kLanes];
    store(buffer);
    for (int i = 0; i < count; ++i) to[i] = buffer[i];
  }
}

ATTN_FN Lane Lane::load(const BFloat16* from) {
  return Lane(simd::BitCast(FloatTag(), simd::ShiftLeft<16>(detail::load_half_words(from))));
}
ATTN_FN void Lane::store(BFloat16* to) const {
  const WordTag tag;
  const auto word = simd::BitCast(tag, raw);
  const auto upper = simd::ShiftRight<16>(word);
  const auto odd = simd::And(upper, simd::Set(tag, 1u));
  const auto rounded = simd::ShiftRight<16>(word + simd::Set(tag, 0x7fffu) + odd);
  const auto quiet = simd::Or(upper, simd::Set(tag, 0x40u));
  const auto nan = simd::RebindMask(tag, simd::IsNaN(raw));
  detail::store_half_words(simd::IfThenElse(nan, quiet, rounded), to);
}

ATTN_FN Lane Lane::load(const Float16* from) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  const simd::Rebind<hwy::float16_t, FloatTag> tag;
  return Lane(simd::PromoteTo(FloatTag(),
                              simd::LoadU(tag, reinterpret_cast<const hwy::float16_t*>(from))));
#else
  const WordTag tag;
  const auto word = detail::load_half_words(from);
  const auto sign = simd::ShiftLeft<16>(simd::And(word, simd::Set(tag, 0x8000u)));
  const auto magnitude = simd::And(word, simd::Set(tag, 0x7fffu));
  const auto normal = simd::ShiftLeft<13>(magnitude) + simd::Set(tag, 0x38000000u);
  const auto special = simd::Or(normal, simd::Set(tag, 0x7f800000u));
  // 2^-24 is the unit of subnormals.
  const auto subnormal =
      simd::BitCast(tag, simd::ConvertTo(FloatTag(), simd::BitCast(IntTag(), magnitude)) *
                             simd::Set(FloatTag(), 0x1p-24f));
  const auto finite = simd::IfThenElse(detail::above(magnitude, 0x3ff), normal, subnormal);
  const auto result =
      simd::Or(sign, simd::IfThenElse(detail::above(magnitude, 0x7bff), special, finite));
  return Lane(simd::BitCast(FloatTag(), result));
#endif
}
ATTN_FN void Lane::store(Float16* to) const {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  const simd::Rebind<hwy::float16_t, FloatTag> tag;
  simd::StoreU(simd::DemoteTo(tag, raw), tag, reinterpret_cast<hwy::float16_t*>(to));
#else
  // The steps of the scalar class, each for all lanes.
  const WordTag tag;
  const auto word = simd::BitCast(tag, raw);
  const auto sign = simd::And(simd::ShiftRight<16>(word), simd::Set(tag, 0x8000u));
  const auto magnitude = simd::And(word, simd::Set(tag, 0x7fffffffu));
  const auto odd = simd::And(simd::ShiftRight<13>(magnitude), simd::Set(tag, 1u));
  const auto normal =
      simd::ShiftRight<13>(magnitude + odd - simd::Set(tag, 0x38000000u - 0xfffu));
  const auto half = simd::Set(FloatTag(), 0.5f);
  const auto subnormal = simd::BitCast(tag, simd::BitCast(FloatTag(), magnitude) + half) -
                         simd::BitCast(tag, half);
  auto result = simd::IfThenElse(detail::above(magnitude, 0x387fffff), normal, subnormal);
  result =
      simd::IfThenElse(detail::above(magnitude, 0x477fefff), simd::Set(tag, 0x7c00u), result);
  result =
      simd::IfThenElse(detail::above(magnitude, 0x7f800000), simd::Set(tag, 0x7e00u), result);
  detail::store_half_words(simd::Or(sign, result), to);
#endif
}

/// row[index * stride] != 0 in each lane.
ATTN_FN LaneMask load_flag(const unsigned char* row, long stride, LaneIndex index) {
  int entries[kLanes];
  index.store(entries);
  for (int i = 0; i < kLanes; ++i) entries[i] = load_flag(row, stride, entries[i]);
  return LaneIndex::load(entries) != 0;
}
/// row[index * stride] in each lane.
ATTN_FN LaneIndex load_int(const int* row, long stride, LaneIndex index) {
  int entries[kLanes];
  index.store(entries);
  for (int i = 0; i < kLanes; ++i) entries[i] = load_int(row, stride, entries[i]);
  return LaneIndex::load(entries);
}

}  // namespace attn::cpu::inline ATTN_TARGET

template <>
struct attn::IndexOf<attn::cpu::Lane> {
  using type = attn::cpu::LaneIndex;
};
