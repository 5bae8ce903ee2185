#include "tasks/write/kneser_ney.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "attn/core/error.hpp"

namespace attn::tasks {
namespace {

constexpr unsigned kBits = 12;

std::uint64_t key_of(std::span<const std::int64_t> tokens) {
  std::uint64_t key = 0;
  for (const std::int64_t token : tokens)
    key = key << kBits | static_cast<std::uint64_t>(token);
  return key;
}

/// All but the first of `length` tokens.
std::uint64_t without_first(std::uint64_t key, std::size_t length) {
  return key & ((std::uint64_t{1} << (kBits * (length - 1))) - 1);
}

}  // namespace

KneserNey::KneserNey(std::span<const std::vector<std::int64_t>> texts, std::int64_t vocabulary,
                     int order)
    : vocabulary_(vocabulary) {
  if (order < 1 || order > kMostOrder || vocabulary < 1 || vocabulary > kMostTokens)
    fail("attn::tasks::KneserNey: order ", order, " of ", vocabulary, " tokens; 1 to ",
         kMostOrder, " of at most ", kMostTokens, " are accepted");
  orders_.resize(static_cast<std::size_t>(order));
  // The highest order counts what it sees; so do n-grams that begin a text, before which
  // nothing stands.
  for (const auto& text : texts)
    for (std::size_t end = 1; end <= text.size(); ++end) {
      const std::size_t length = std::min(end, orders_.size());
      const std::span<const std::int64_t> gram(text.data() + end - length, length);
      ++orders_[length - 1].grams[key_of(gram)];
    }
  for (std::size_t length = orders_.size(); length > 1; --length)
    for (const auto& [key, count] : orders_[length - 1].grams)
      ++orders_[length - 2].grams[without_first(key, length)];
  for (Order& each : orders_) {
    double once = 0.0;
    double twice = 0.0;
    for (const auto& [key, count] : each.grams) {
      Context& context = each.contexts[key >> kBits];
      context.count += count;
      context.followers += 1.0;
      once += count == 1 ? 1.0 : 0.0;
      twice += count == 2 ? 1.0 : 0.0;
    }
    // A text too short to tell gets the usual one.
    constexpr double kUsual = 0.75;
    each.discount = once > 0.0 && twice > 0.0 ? once / (once + 2.0 * twice) : kUsual;
  }
}

double KneserNey::probability(std::span<const std::int64_t> context, std::int64_t token,
                              std::size_t order) const {
  if (order == 0) return 1.0 / static_cast<double>(vocabulary_);
  const Order& own = orders_[order - 1];
  const std::uint64_t key = key_of(context.last(order - 1));
  const double lower = probability(context, token, order - 1);
  const auto at = own.contexts.find(key);
  if (at == own.contexts.end()) return lower;
  const auto gram = own.grams.find(key << kBits | static_cast<std::uint64_t>(token));
  const double count = gram == own.grams.end() ? 0.0 : static_cast<double>(gram->second);
  const auto& [total, followers] = at->second;
  return (std::max(0.0, count - own.discount) + own.discount * followers * lower) / total;
}

double KneserNey::probability(std::span<const std::int64_t> before, std::int64_t token) const {
  const std::size_t order = std::min(orders_.size(), before.size() + 1);
  return probability(before, token, order);
}

double KneserNey::bits(std::span<const std::int64_t> text) const {
  double bits = 0.0;
  for (std::size_t i = 1; i < text.size(); ++i)
    bits -= std::log2(probability(text.first(i), text[i]));
  return bits;
}

}  // namespace attn::tasks
