#include "tools/serve/steering_field.hpp"

#include <cstddef>

#include "attn/models/steering.hpp"
#include "tools/serve/fields.hpp"

namespace attn::serve {
namespace {

/// More positions than any model reads.
constexpr std::size_t kMostPositions = 4096;
/// Of attention; past these everything is one word, or all alike, and numbers run over.
constexpr double kColdest = 0.001;
constexpr double kHottest = 1000.0;

}  // namespace

models::Steering steering_of(const Fields& fields) {
  models::Steering steering;
  // Older pages say "temperature", which elsewhere is that of sampling.
  const char* name = fields.has("temperature") ? "temperature" : "attention_temperature";
  steering.temperature = fields.number(name, 1.0, kColdest, kHottest);
  steering.forbid = fields.positions("forbid", kMostPositions);
  for (const auto& [step, position] : fields.pairs("force", "step", "position", kMostPositions))
    steering.force.push_back({step, position});
  return steering;
}

}  // namespace attn::serve
