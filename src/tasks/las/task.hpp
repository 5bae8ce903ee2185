/// The taught half of transcribe: a listener, an attention that knows where it was, a speller,
/// and the alignments of CTC beside them.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/prepared.hpp"
#include "attn/tasks/network.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/training_run.hpp"

namespace attn::tasks::las {

/// All of transcribe but its card, and the models that others trained.
class LasTask : public NetworkTask {
 public:
  std::vector<Setting> settings() const override;
  std::string misfit(const TrainingRun& run) const override;
  std::vector<PreparedFile> prepared() const override;
  Corpus corpus(const nlohmann::json& what, const Say& say) const override;
  Scores score(std::span<const Example> examples,
               std::span<const Reply> replies) const override;
  std::vector<Baseline> baselines(const Corpus& corpus) const override;
  std::vector<Contender> contenders() const override;
  std::string facts_text(const Corpus& corpus) const override;

 protected:
  /// The same with targets in the units that are asked for, and with the frames of the sounds
  /// that are learnt from.
  static Corpus written_in(const nlohmann::json& what, Corpus corpus, const Say& say);
  nlohmann::json initial(const nlohmann::json& asked) const override;
  TrainingOptions training(const nlohmann::json& what) const override;
  Lexicon lexicon(const nlohmann::json& what, const Corpus& corpus,
                  const TrainingTools& tools) const override;
  std::shared_ptr<Network> network(const nlohmann::json& model, Lexicon lexicon,
                                   const std::string& where) const override;
};

}  // namespace attn::tasks::las
