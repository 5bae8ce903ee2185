#include "attn/tasks/calibration.hpp"

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tasks/words_of.hpp"

namespace attn::tasks {

double WordProfile::score(std::string_view text) const {
  const std::vector<std::string> words = words_of(text);
  if (words.empty()) return 0.0;
  double sum = 0.0;
  for (const std::string& word : words)
    if (const auto weight = weights.find(word); weight != weights.end())
      sum += static_cast<double>(weight->second);
  return sum / std::sqrt(static_cast<double>(words.size()));
}

bool Calibration::is_unfamiliar(std::string_view text, double unknown_share,
                                std::optional<double> log_probability_of_token) const {
  return unknown_share > unknown || (words && words->score(text) < words->least) ||
         (log_probability_of_token && *log_probability_of_token < log_probability);
}

}  // namespace attn::tasks
