#include "tools/serve/look_field.hpp"

#include <cstddef>

#include "attn/models/look.hpp"
#include "tools/serve/fields.hpp"

namespace attn::serve {
namespace {

/// More positions than any model reads.
constexpr std::size_t kMostPositions = 4096;
/// Of attention; past these everything is one word, or all alike, and numbers run over.
constexpr double kColdest = 0.001;
constexpr double kHottest = 1000.0;

}  // namespace

models::Look look_of(const Fields& fields) {
  models::Look look;
  look.temperature = fields.number("temperature", 1.0, kColdest, kHottest);
  look.forbid = fields.positions("forbid", kMostPositions);
  for (const auto& [step, position] : fields.pairs("force", "step", "position", kMostPositions))
    look.force.push_back({step, position});
  return look;
}

}  // namespace attn::serve
