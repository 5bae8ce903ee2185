/// lane.hpp on one instruction set, against the scalars.

#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cstdint>

#include "attn/kernels/cpu/lane.hpp"
#include "lane_report.hpp"

namespace attn::cpu::inline ATTN_TARGET {
namespace {

/// Deterministic words (splitmix64).
struct Words {
  std::uint64_t state = 20260415;

  unsigned next() {
    std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return static_cast<unsigned>((z ^ (z >> 31)) >> 32);
  }
};

bool is_nan(float x) {
  return x != x;
}
/// The same float; any NaN equals any other.
bool same(float a, float b) {
  return std::bit_cast<unsigned>(a) == std::bit_cast<unsigned>(b) || (is_nan(a) && is_nan(b));
}

constexpr unsigned kAllBits = kLanes == 32 ? ~0u : (1u << kLanes) - 1u;
constexpr float kNan = __builtin_nanf("");

void check_masks(LaneReport& report) {
  int wrong = 0;
  for (unsigned word = 0; word <= kAllBits; ++word) {
    const LaneMask m = from_bits(word);
    wrong += bits(m) != word || bits(!m) != (~word & kAllBits);
    wrong += any(m) != (word != 0) || none(m) != (word == 0) || all(m) != (word == kAllBits);
    const unsigned other = (word * 40503u) & kAllBits;
    wrong += bits(m & from_bits(other)) != (word & other);
    wrong += bits(m | from_bits(other)) != (word | other);
  }
  report.none("masks are their bits", wrong);
  wrong = bits(LaneMask(true)) != kAllBits || bits(LaneMask(false)) != 0;
  wrong += bits(from_bits(~0u)) != kAllBits;
  for (int count = 0; count <= kLanes; ++count)
    wrong += bits(first_lanes(count)) != (count == 0 ? 0u : kAllBits >> (kLanes - count));
  report.none("first_lanes(count) holds in count lanes", wrong);
}

void check_floats(LaneReport& report) {
  float a[kLanes], b[kLanes], y[kLanes];
  Words words;
  int wrong = 0;
  const auto agree = [&](Lane got, auto want) {
    got.store(y);
    for (int i = 0; i < kLanes; ++i) wrong += !same(y[i], want(a[i], b[i]));
  };
  const auto agree_mask = [&](LaneMask got, auto want) {
    for (int i = 0; i < kLanes; ++i) wrong += ((bits(got) >> i) & 1u) != want(a[i], b[i]);
  };
  for (int round = 0; round < 1000; ++round) {
    for (int i = 0; i < kLanes; ++i) {
      a[i] = static_cast<float>(static_cast<int>(words.next() % 41) - 20) * 0.25f;
      b[i] = static_cast<float>(static_cast<int>(words.next() % 41) - 20) * 0.25f;
    }
    const Lane x = Lane::load(a);
    const Lane z = Lane::load(b);
    agree(x + z, [](float p, float q) { return p + q; });
    agree(x - z, [](float p, float q) { return p - q; });
    agree(x * z, [](float p, float q) { return p * q; });
    agree(x / z, [](float p, float q) { return p / q; });
    agree(-x, [](float p, float) { return -p; });
    agree(2.0f - x, [](float p, float) { return 2.0f - p; });
    agree(multiply_add(x, z, x), [](float p, float q) { return p * q + p; });
    agree(negative_multiply_add(x, z, x), [](float p, float q) { return p - p * q; });
    agree(abs(x), [](float p, float) { return __builtin_fabsf(p); });
    agree(floor(x), [](float p, float) { return __builtin_floorf(p); });
    agree(sqrt(abs(x)), [](float p, float) { return __builtin_sqrtf(__builtin_fabsf(p)); });
    agree(select(x < z, x, z), [](float p, float q) { return p < q ? p : q; });
    agree(select(x < z, x, 7.0f), [](float p, float q) { return p < q ? p : 7.0f; });
    agree_mask(x < z, [](float p, float q) { return p < q; });
    agree_mask(x <= z, [](float p, float q) { return p <= q; });
    agree_mask(x > z, [](float p, float q) { return p > q; });
    agree_mask(x >= z, [](float p, float q) { return p >= q; });
    agree_mask(x == z, [](float p, float q) { return p == q; });
    agree_mask(x != z, [](float p, float q) { return p != q; });
    float sum = 0.0f, most = a[0];
    for (int i = 0; i < kLanes; ++i) {
      sum += a[i];  // quarters: exact in any order
      most = a[i] > most ? a[i] : most;
    }
    wrong += reduce_sum(x) != sum || reduce_max(x) != most;
    wrong += first(x) != a[0];
  }
  report.none("lanes agree with scalars", wrong);
  wrong = none(is_nan(max(0.0f, Lane(kNan)))) || none(is_nan(min(0.0f, Lane(kNan))));
  wrong += !all(is_nan(Lane(kNan))) || any(is_nan(Lane(kInfinity)));
  wrong += any(is_nan(select(false, Lane(kNan), Lane(1.0f))));
  report.none("max(constant, x) keeps NaN and select drops it", wrong);
}

void check_indices(LaneReport& report) {
  int a[kLanes], b[kLanes], y[kLanes];
  Words words;
  int wrong = 0;
  const auto agree = [&](LaneIndex got, auto want) {
    got.store(y);
    for (int i = 0; i < kLanes; ++i) wrong += y[i] != static_cast<int>(want(a[i], b[i]));
  };
  for (int round = 0; round < 1000; ++round) {
    for (int i = 0; i < kLanes; ++i) {
      a[i] = static_cast<int>(words.next()) >> (round % 32);
      b[i] = static_cast<int>(words.next()) >> (round % 29);
    }
    const LaneIndex x = LaneIndex::load(a);
    const LaneIndex z = LaneIndex::load(b);
    using U = unsigned;
    agree(x + z, [](int p, int q) { return U(p) + U(q); });
    agree(x - z, [](int p, int q) { return U(p) - U(q); });
    agree(x - 3, [](int p, int) { return U(p) - 3u; });
    agree(multiply_low(x, z), [](int p, int q) { return U(p) * U(q); });
    agree(multiply_high(x, z), [](int p, int q) { return std::uint64_t{U(p)} * U(q) >> 32; });
    agree(x ^ z, [](int p, int q) { return p ^ q; });
    agree(x & z, [](int p, int q) { return p & q; });
    agree(x | z, [](int p, int q) { return p | q; });
    agree(x >> 5, [](int p, int) { return p >> 5; });
    agree(x << 5, [](int p, int) { return U(p) << 5; });
    agree(min(x, z), [](int p, int q) { return p < q ? p : q; });
    agree(max(x, z), [](int p, int q) { return p > q ? p : q; });
    agree(abs(x >> 1), [](int p, int) { return (p >> 1) < 0 ? -(p >> 1) : p >> 1; });
    agree(select(x <= z, x, z), [](int p, int q) { return p <= q ? p : q; });
    agree(select(x == z, x, 4), [](int p, int q) { return p == q ? p : 4; });
    for (int i = 0; i < kLanes; ++i) {
      wrong += ((bits(x < z) >> i) & 1u) != (a[i] < b[i]);
      wrong += ((bits(x >= z) >> i) & 1u) != (a[i] >= b[i]);
      wrong += ((bits(x > 0) >> i) & 1u) != (a[i] > 0);
      wrong += ((bits(x != z) >> i) & 1u) != (a[i] != b[i]);
    }
  }
  LaneIndex::ramp(-3).store(y);
  for (int i = 0; i < kLanes; ++i) wrong += y[i] != i - 3;
  float numbers[kLanes];
  real<Lane>(LaneIndex::ramp(-3)).store(numbers);
  for (int i = 0; i < kLanes; ++i) wrong += numbers[i] != static_cast<float>(i - 3);
  report.none("indices agree with scalars", wrong);

  const unsigned char flags[] = {0, 1, 0, 2, 255, 0, 0, 9};
  const int numbers_of[] = {5, -4, 3, 0, 2, 8, 1, 6};
  wrong = 0;
  for (const long stride : {0L, 1L, 2L}) {
    for (int i = 0; i < kLanes; ++i) a[i] = (i * 7) % 4;
    const unsigned got = bits(load_flag(flags, stride, LaneIndex::load(a)));
    load_int(numbers_of, stride, LaneIndex::load(a)).store(y);
    for (int i = 0; i < kLanes; ++i) {
      wrong += ((got >> i) & 1u) != (flags[a[i] * stride] != 0);
      wrong += y[i] != numbers_of[a[i] * stride];
    }
  }
  report.none("load_flag and load_int agree with scalars", wrong);
}

template <class T>
void check_half(LaneReport& report, const char* widening, const char* narrowing) {
  int wrong = 0;
  for (unsigned word = 0; word < 65536;) {
    T in[kLanes], back[kLanes];
    float out[kLanes];
    for (int i = 0; i < kLanes; ++i) in[i].bits = static_cast<std::uint16_t>(word++);
    Lane::load(in).store(out);
    Lane::load(in).store(back);
    for (int i = 0; i < kLanes; ++i) {
      const auto want = static_cast<float>(in[i]);
      wrong += !same(out[i], want);
      wrong += is_nan(want) ? !is_nan(static_cast<float>(back[i])) : back[i].bits != in[i].bits;
    }
  }
  report.none(widening, wrong);

  wrong = 0;
  double where = 0.0;
  Words words;
  const auto narrow = [&](const float* in) {
    T out[kLanes];
    Lane::load(in).store(out);
    for (int i = 0; i < kLanes; ++i) {
      const T want(in[i]);
      const bool agrees =
          is_nan(in[i]) ? is_nan(static_cast<float>(out[i])) : out[i].bits == want.bits;
      if (!agrees) where = in[i];
      wrong += !agrees;
    }
  };
  float in[kLanes];
  for (int round = 0; round < 1 << 18; ++round) {
    for (int i = 0; i < kLanes; ++i) in[i] = std::bit_cast<float>(words.next());
    narrow(in);
  }
  // Every 16-bit value, the middle to its neighbour and one float to either side: the ties.
  for (unsigned word = 0; word < 65536; ++word) {
    for (int step = 0; step < 3; step += 1) {
      T low, high;
      low.bits = static_cast<std::uint16_t>(word);
      high.bits = static_cast<std::uint16_t>(word + 1);
      const float middle = 0.5f * static_cast<float>(low) + 0.5f * static_cast<float>(high);
      const unsigned near = std::bit_cast<unsigned>(middle) + static_cast<unsigned>(step) - 1u;
      for (int i = 0; i < kLanes; ++i) in[i] = std::bit_cast<float>(near);
      narrow(in);
    }
  }
  report.none(narrowing, wrong, where);
}

/// Memory that ends where its page ends, before one that must not be touched.
struct Guarded {
  unsigned char* pages;
  long size = sysconf(_SC_PAGESIZE);

  Guarded() {
    void* got = mmap(nullptr, static_cast<std::size_t>(2 * size), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pages = got == MAP_FAILED ? nullptr : static_cast<unsigned char*>(got);
    if (pages != nullptr) mprotect(pages + size, static_cast<std::size_t>(size), PROT_NONE);
  }
  ~Guarded() {
    if (pages != nullptr) munmap(pages, static_cast<std::size_t>(2 * size));
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  template <class T>
  T* last(int count) const {
    return reinterpret_cast<T*>(pages + size) - count;
  }
};

template <class T>
void check_partial(LaneReport& report, const char* law) {
  const Guarded memory;
  if (memory.pages == nullptr) return report.none("two pages of memory", 1);
  int wrong = 0;
  for (int count = 0; count <= kLanes; ++count) {
    T* row = memory.last<T>(count);
    for (int i = -2; i < count; ++i) row[i] = T(static_cast<float>(i + 1));
    float seen[kLanes];
    const Lane x = Lane::load(row, count);
    x.store(seen);
    for (int i = 0; i < kLanes; ++i)
      wrong += seen[i] != (i < count ? static_cast<float>(i + 1) : 0.0f);
    (x + 1.0f).store(row, count);
    for (int i = -2; i < count; ++i)
      wrong += static_cast<float>(row[i]) != static_cast<float>(i < 0 ? i + 1 : i + 2);

    T inside[kLanes + 1];
    for (T& each : inside) each = T(-5.0f);
    Lane(3.0f).store(inside, count);
    for (int i = 0; i <= kLanes; ++i)
      wrong += static_cast<float>(inside[i]) != (i < count ? 3.0f : -5.0f);
  }
  report.none(law, wrong);
}

}  // namespace

void check_lane(LaneReport& report) {
  check_masks(report);
  check_floats(report);
  check_indices(report);
  check_half<BFloat16>(report, "bf16 widens as the scalar does",
                       "bf16 rounds as the scalar does");
  check_half<Float16>(report, "f16 widens as the scalar does", "f16 rounds as the scalar does");
  check_partial<float>(report, "partial f32 touches only its elements");
  check_partial<BFloat16>(report, "partial bf16 touches only its elements");
  check_partial<Float16>(report, "partial f16 touches only its elements");
}

}  // namespace attn::cpu::inline ATTN_TARGET
