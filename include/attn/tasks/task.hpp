/// Task: one job that a model learns, whatever it reads and writes, and Model, which has learnt
/// it. Commands, the server, the page, `explain` and `eval` know tasks by these two alone.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/maps/map.hpp"
#include "attn/models/search.hpp"
#include "attn/nn/module.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"

namespace attn::tasks {

class Task;
struct PairModel;

/// What of an answer is told beside its text and its scores.
enum class Detail {
  none,
  weights,  ///< tokens, and where each looked
  heads,    ///< what every head looked at, too
};

/// A trained model as a folder holds it. Constant once made: any number of threads may ask it.
class Model {
 public:
  virtual ~Model() = default;

  virtual const Task& task() const = 0;
  virtual nn::Module& module() const = 0;
  virtual std::string kind() const = 0;  ///< "transformer", "captioner"
  /// Which of its task's variants it is; "" where the task has none.
  virtual std::string variant() const { return ""; }

  /// Why the model does not answer, to stand behind "the text " or "the picture "; "": it does.
  virtual std::string refusal(const Input& input) const = 0;
  /// A reply for each input, in batches; none of them is refused.
  virtual std::vector<Reply> answer(std::span<const Input> inputs, const Choices& choices,
                                    const Done& done) const = 0;

  /// What the first answer of a piece looked at. `heads`: "" for where each step looked, or
  /// every head of "all" parts, of "encoder", "decoder" or "cross".
  virtual maps::Map map(const Input& input, const Piece& piece,
                        std::string_view heads = {}) const = 0;
  /// What POST /api/TASK answers.
  virtual nlohmann::json json_of(const Input& input, const Reply& reply,
                                 Detail detail) const = 0;
  /// What `attn TASK --json` prints; `name` is the file, where the input came from one.
  virtual nlohmann::json line_of(const std::string& name, const Input& input,
                                 const Reply& reply, Detail detail) const = 0;

  /// A model of text pairs has more to look into: tokens, heads, steps. Null for others.
  virtual const PairModel* pairs() const { return nullptr; }
};

/// What a task tells of itself.
struct TaskCard {
  std::string name;       ///< the command's, and of the model that ships
  std::string about;      ///< what becomes what, for a list
  std::string title;      ///< the same for the list of commands
  std::string help;       ///< more of it, and examples that run
  std::string metric;     ///< what models are judged by
  std::string example{};  ///< a text to begin with, which the model that ships answers well
  /// Models of several kinds ship, NAME-VARIANT each; the first is taken where none is named.
  /// The command and the server have a flag and a field of that name.
  std::string variant_flag{};
  std::vector<std::string> variants{};
  bool ships = true;  ///< whether a model does

  /// What the command is given.
  enum class Reads {
    texts,    ///< texts, or - for a line each
    files,    ///< text files, or a text in quotes, or -
    pictures  ///< PNG files; --sample takes test examples
  };
  Reads reads = Reads::texts;
  std::string argument = "text";  ///< the name of those words in the help text
  std::string argument_type = "TEXT";
  std::string argument_help = "A text, or - for one a line";
  bool echo = false;  ///< a line of the output begins with the text

  /// What an input is called in a message.
  std::string noun() const { return reads == Reads::pictures ? "picture" : "text"; }
  /// The folder of the model that is taken where none is named, of this variant.
  std::string shipped(const std::string& variant = {}) const {
    if (variants.empty()) return name;
    return name + "-" + (variant.empty() ? variants.front() : variant);
  }
};

class Task {
 public:
  virtual ~Task() = default;

  virtual const TaskCard& card() const = 0;
  const std::string& name() const { return card().name; }

  /// Everything is checked before it is used; what is wrong is a FileError that names the file.
  virtual std::unique_ptr<Model> load(const std::filesystem::path& folder) const = 0;

  /// How answers are searched for unless the caller chooses; null: the task does not search, so
  /// there is nothing to choose.
  virtual const models::SearchOptions* search() const { return nullptr; }

  /// Test examples to show what the task does; none where it has no data of its own.
  virtual std::vector<Example> samples(std::int64_t, const Say&) const { return {}; }

  /// The members of a request that hold the input, and the input they hold. InvalidArgument,
  /// which begins with "the field ", where they do not.
  virtual std::vector<std::string> fields() const { return {"text"}; }
  virtual Input input_of(const nlohmann::json& request) const;
};

/// In the order that lists show them.
std::vector<const Task*> all_tasks();
/// InvalidArgument that lists the tasks when there is none of that name.
const Task& task_named(std::string_view name);

/// A task of a program's own: it is among all_tasks() while this lives. Not beside threads that
/// ask for tasks.
class TaskRegistration {
 public:
  explicit TaskRegistration(std::unique_ptr<const Task> task);
  ~TaskRegistration();
  TaskRegistration(const TaskRegistration&) = delete;
  TaskRegistration& operator=(const TaskRegistration&) = delete;

 private:
  std::unique_ptr<const Task> task_;
};

/// The model in a folder, whose config.json names its task.
std::unique_ptr<Model> load(const std::filesystem::path& folder);

}  // namespace attn::tasks
