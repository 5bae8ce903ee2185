/// Network: a module that learns the examples of a task and answers its inputs, whatever they
/// are; NetworkTask puts it behind Task, Model and Learner.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/maps/map.hpp"
#include "attn/nn/module.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/text/tokeniser.hpp"

namespace attn::tasks {

/// What a network took over from its data beside its weights.
struct Lexicon {
  /// By name; each is a file NAME.vocab of the model folder.
  std::map<std::string, text::Tokeniser> vocabularies;
  /// Labels, counts, thresholds: an object, lexicon.json of the model folder.
  nlohmann::json facts = nlohmann::json::object();
  /// Of a fresh training alone, by name: numbers that parameters begin with in the place of
  /// draws. No folder holds them.
  std::map<std::string, Tensor> start{};
};

class Network : public nn::Module {
 public:
  virtual ~Network() = default;

  virtual std::string kind() const = 0;  ///< "hierarchical", "memory_network"
  /// Which of its task's variants it is; "" where the task has none.
  virtual std::string variant() const { return ""; }

  /// The mean loss of some examples, and how many answers it is of. Tensors are made on the CPU
  /// and moved to device(). Draws come from nn::random() alone.
  virtual Learner::Lesson loss(std::span<const Example* const> batch) const = 0;
  /// What an example costs; those of like cost share a batch of TrainingOptions::batch_tokens,
  /// padding included.
  virtual std::int64_t cost(const Example& example) const = 0;

  /// Why it does not answer, to stand behind "the text " (TaskCard::noun); "": it does.
  virtual std::string refusal(const Input& input) const = 0;
  /// A reply for each input, none of which is refused. It is in eval(), off the tape.
  virtual std::vector<Reply> answer(std::span<const Input> inputs,
                                    const Choices& choices) const = 0;
  /// What the first answer of a piece looked at; `heads` as Model::map has it.
  virtual maps::Map map(const Input& input, const Piece& piece,
                        std::string_view heads) const = 0;
};

/// A task whose models are networks. Its settings are one JSON object with a member "model",
/// the options of the network; Settings name the members that flags change and bound them, in
/// training.json as in the config.json of a folder.
class NetworkTask : public Task {
 public:
  std::unique_ptr<Model> load(const std::filesystem::path& folder) const override;
  std::unique_ptr<Model> taken(const std::string& variant) const final;
  TrainingRun defaults(const nlohmann::json& asked, const Corpus* corpus) const final;
  void read(const nlohmann::json& object, const std::string& where,
            nlohmann::json& what) const final;
  std::vector<std::string> required() const final { return {"model"}; }
  void read_data_of(const Model& model, const std::filesystem::path& folder,
                    const nlohmann::json& asked, nlohmann::json& what) const final;
  std::unique_ptr<Learner> learner(const TrainingRun& run, const Corpus& corpus,
                                   const TrainingTools& tools) const final;

 protected:
  /// All settings with what the task itself would choose, where `asked` is what the caller
  /// chose. "data" and "data_sha256", a user's own file, are among them where it takes one.
  virtual nlohmann::json initial(const nlohmann::json& asked) const = 0;
  /// How it is trained, by those settings.
  virtual TrainingOptions training(const nlohmann::json& what) const = 0;
  virtual Lexicon lexicon(const nlohmann::json& what, const Corpus& corpus,
                          const TrainingTools& tools) const = 0;
  /// A network with fresh weights. FileError, which begins with `where`, where the options and
  /// the lexicon do not fit together.
  virtual std::shared_ptr<Network> network(const nlohmann::json& model, Lexicon lexicon,
                                           const std::string& where) const = 0;
  /// The network in a file of another program's, and that of a variant in the cache. Null: the
  /// task knows no such files, no such variant.
  virtual std::shared_ptr<Network> network_of_file(const std::filesystem::path&) const {
    return nullptr;
  }
  virtual std::shared_ptr<Network> network_taken(const std::string&) const { return nullptr; }

 private:
  void check_settings(const nlohmann::json& what, const std::string& where) const;
};

}  // namespace attn::tasks
