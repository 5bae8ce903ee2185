/// Task: one job that a model learns, whatever it reads and writes, and Model, which has learnt
/// it. Commands, the server, the page, `explain` and `eval` know tasks by these two alone.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/maps/map.hpp"
#include "attn/models/search.hpp"
#include "attn/nn/module.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/prepared.hpp"
#include "attn/tasks/languages.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/tensor/storage.hpp"
#include "attn/text/tokeniser.hpp"

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
  /// What POST /api/TASK answers: text, output, notes and, unless detail is none, the map.
  virtual nlohmann::json json_of(const Input& input, const Reply& reply, Detail detail) const;
  /// What `attn TASK --json` prints; `name` is the file, where the input came from one.
  virtual nlohmann::json line_of(const std::string& name, const Input& input,
                                 const Reply& reply, Detail detail) const;
  /// Whether it computes on that device.
  virtual bool runs_on(Device) const { return true; }

  /// Of a model that translates; without targets where it does not, or does not know.
  virtual Languages languages() const { return {.from = "", .to = {}}; }

  /// A model of text pairs has more to look into: tokens, heads, steps. Null for others.
  virtual const PairModel* pairs() const { return nullptr; }
};

/// Models that others trained, which a command fetches as one package.
class ModelPackage {
 public:
  virtual ~ModelPackage() = default;

  struct Item {
    std::string name;   ///< --model takes it
    std::string about;  ///< "Moonshine base, ..."
    std::string score;
    std::string kind;
    std::int64_t parameters = 0;
  };
  /// The first answers where none is named.
  virtual const std::vector<Item>& items() const = 0;
  /// How large it is, and what fetches it: stands behind "the models are not here: ".
  virtual std::string how() const = 0;
  /// A file of docs/gallery; "": there is none.
  virtual std::string figure() const { return ""; }

  virtual bool has(const std::string& item) const = 0;
  /// The folder that holds them, fetched where they are missing or damaged; the size is told
  /// before.
  virtual std::filesystem::path fetch(const Say& say) const = 0;
  /// FileError, which says how to get it, where it is not there.
  virtual std::unique_ptr<Model> load(const std::string& item) const = 0;
};

/// What a task tells of itself.
struct TaskCard {
  std::string name;       ///< the command's, and of the model that ships
  std::string about;      ///< what becomes what, for a list
  std::string title;      ///< the same for the list of commands
  std::string help;       ///< more of it, and examples that run
  std::string metric;     ///< what models are judged by, in a list
  std::string score{};    ///< the name of the first score, which chooses between models
  std::string example{};  ///< a text to begin with, which the model that ships answers well
  /// Models of several kinds ship, NAME-VARIANT each; the first is taken where none is named.
  /// The command and the server have a flag and a field of that name.
  std::string variant_flag{};
  std::vector<std::string> variants{};
  /// From one language into another, and the model that ships for it. The command then has
  /// --from and --to, the server fields of those names; the first is taken where none is named.
  struct Direction {
    std::string from;
    std::string to;
    std::string model;
  };
  std::vector<Direction> directions{};
  /// The language that a text is in, by its script; of a task with directions.
  std::string (*language_of)(const std::string& text) = nullptr;
  bool ships = true;                    ///< whether a model does
  std::string one_example = "example";  ///< of the data: "canvas"
  std::string examples = "examples";

  /// What the command is given.
  enum class Reads {
    texts,     ///< texts, or - for a line each
    files,     ///< text files, or a text in quotes, or -
    pictures,  ///< PNG, JPEG or GIF files; --sample takes test examples
    parts,     ///< the parts of one input, a word each; or - for a line each, with tabs
    turns,     ///< those of one dialogue, a word each, joined to a text of a turn a line; or -
               ///< for a dialogue a line, with tabs; without words a dialogue that goes on
    sounds     ///< sound files, one after another; text comes as it is heard
  };
  Reads reads = Reads::texts;
  std::string argument = "text";  ///< the name of those words in the help text
  std::string argument_type = "TEXT";
  std::string argument_help = "A text, or - for one a line";
  bool echo = false;  ///< a line of the output begins with the text
  /// Of Reads::files: a word that is no name of a file is a text, too.
  bool takes_words = false;
  /// What --heads all draws, for the help text of a task that does not search; "": it has no
  /// such flag.
  std::string heads_help{};
  /// Of a task that searches: its models have heads to draw, and attention that can be steered.
  bool steers = true;
  /// Of Reads::pictures: it answers without one, too.
  bool from_nothing = false;
  /// Its answers hold a picture, which the command can write.
  bool paints = false;
  /// The program has a command for it that is more than words in and answers out.
  bool own_command = false;
  /// One of the words of Reads::parts.
  struct Part {
    std::string name;  ///< of the input's part and of a request's field
    std::string help;
    bool file = false;      ///< a text file, or the text itself
    std::string example{};  ///< to begin with, as TaskCard::example
    bool picture = false;   ///< a PNG, JPEG or GIF file
  };
  std::vector<Part> parts{};
  /// Further parts that an input may have, texts: a flag of the command each, a field of a
  /// request.
  std::vector<Part> wishes{};
  /// What an answer can be written as beside text and JSON: --srt FILE.srt.
  struct Form {
    std::string name;  ///< of the flag, and the ending of the file
    std::string help;
  };
  std::vector<Form> forms{};
  /// Bytes of the input that a request to the path of the task may hold, in base64; 0: what
  /// the server takes of any request.
  std::size_t input_bytes = 0;

  /// What an input is called in a message.
  std::string noun() const {
    return reads == Reads::pictures ? "picture"
           : reads == Reads::parts  ? "input"
           : reads == Reads::turns  ? "dialogue"
           : reads == Reads::sounds ? "sound"
                                    : "text";
  }
  /// The folder of the model that is taken where none is named, of this variant.
  std::string shipped(const std::string& variant = {}) const {
    if (variants.empty()) return name;
    return name + "-" + (variant.empty() ? variants.front() : variant);
  }
};

/// What the caller says of a text's languages; "": nothing.
struct WantedLanguages {
  std::string from{};
  std::string to{};

  bool said() const { return !from.empty() || !to.empty(); }
};

/// The direction of a text in a task that has directions. InvalidArgument for a language into
/// itself, and for a pair that there is not, which lists those there are.
const TaskCard::Direction& direction_of(const TaskCard& card, const WantedLanguages& wanted,
                                        const std::string& text);

/// One thing that a training can be told: a flag, and a member of training.json.
struct Setting {
  /// What it is about; commands take flags by that.
  enum class About { data, tokens, model, loss };
  enum class Kind { text, name, path, whole, real };

  std::string flag;    ///< "source-tokens", without dashes
  std::string member;  ///< "limits.source"
  About about;
  std::string group;  ///< of the help text
  std::string help;
  Kind kind = Kind::text;
  std::vector<std::string> values{};  ///< those that are accepted; empty: any
  double least = 0.0;                 ///< of a number
  double most = std::numeric_limits<double>::infinity();
};

/// How a text is written on.
struct Writing {
  std::int64_t tokens = 200;
  std::int64_t most_tokens = 20000;
  double temperature = 0.8;
  double top_p = 0.95;
};

/// What a training needs of the program that runs it.
struct TrainingTools {
  Say say;
  /// Trains a subword vocabulary of a size; the program attn-vocabulary does it.
  std::function<text::Tokeniser(std::span<const std::string> lines, std::int64_t size)>
      learn_subwords;
};

/// What a corpus gives away without a model: scores that a model has to beat.
struct Baseline {
  std::string name;
  Scores scores;
};

/// One kind of model of a comparison: settings on top of the task's own.
struct Contender {
  std::string name;
  std::string about;
  nlohmann::json settings;
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

  /// The members of a request that hold the input, and the input they hold. InvalidArgument,
  /// which begins with "the field ", where they do not.
  virtual std::vector<std::string> fields() const;
  virtual Input input_of(const nlohmann::json& request) const;

  // Learning. `what` is TrainingRun::what.

  /// The training that the task itself would make, where `asked` is the part of training.json
  /// that the caller decides. Defaults may follow from that, and from the data, once it is
  /// read.
  virtual TrainingRun defaults(const nlohmann::json& asked, const Corpus* corpus) const = 0;
  /// Sets members of `what` to those of an object; FileError, which begins with `where`, for
  /// values that do not fit.
  virtual void read(const nlohmann::json& object, const std::string& where,
                    nlohmann::json& what) const = 0;
  /// Members that every training.json of the task has.
  virtual std::vector<std::string> required() const = 0;
  virtual std::vector<Setting> settings() const = 0;
  /// What is wrong with the settings together, before data are read; "": nothing.
  virtual std::string misfit(const TrainingRun&) const { return ""; }

  /// What its corpora are read from where no package has it; `attn data TASK --from` takes
  /// these.
  virtual std::vector<PreparedFile> prepared() const { return {}; }
  virtual Corpus corpus(const nlohmann::json& what, const Say& say) const = 0;
  /// Sets those members of `what` that tell which data a model in a folder learnt from; what is
  /// `asked` for will stand on top of them.
  virtual void read_data_of(const Model&, const std::filesystem::path&, const nlohmann::json&,
                            nlohmann::json&) const {}
  virtual std::unique_ptr<Learner> learner(const TrainingRun& run, const Corpus& corpus,
                                           const TrainingTools& tools) const = 0;

  /// Replies to examples, judged; the first score is the one that chooses between models.
  virtual Scores score(std::span<const Example> examples,
                       std::span<const Reply> replies) const = 0;
  /// As trainings judge their model: the likeliest answer of each step.
  virtual Scores evaluate(const Model& model, std::span<const Example> examples) const;

  // Data, for those who look at it.

  virtual std::vector<Baseline> baselines(const Corpus&) const { return {}; }
  virtual std::vector<Contender> contenders() const { return {}; }
  /// Facts of a corpus and samples of it, where the usual report, on texts, tells nothing;
  /// null: it does.
  virtual nlohmann::json facts(const Corpus&, std::span<const Example>) const {
    return nullptr;
  }
  virtual std::string facts_text(const Corpus&) const { return ""; }
  /// For a first training on texts alone; none where the task has no use for it.
  virtual std::vector<Example> gaps(const Corpus&) const { return {}; }
  /// A new list of what is held out, for data/splits; "" where the task has none.
  virtual std::string make_split(const nlohmann::json&, const Say&) const { return ""; }

  /// What commands and the server choose, unless told, of a task that writes on from what it is
  /// given, token by token; null for others.
  virtual const Writing* writing() const { return nullptr; }
  /// Variants whose models do not ship: taken() has them.
  virtual std::vector<std::string> taken_variants() const { return {}; }
  /// The model of such a variant, which `attn data TASK --from` took into the cache; null: a
  /// folder holds it. FileError, which says how to get it, where it is not there.
  virtual std::unique_ptr<Model> taken(const std::string& variant) const;
  /// A reply in one of the card's forms: captions for players of videos.
  virtual std::string form_of(std::string_view form, const Reply& reply) const;
  /// Models that others trained and --model takes by name; null: there are none.
  virtual const ModelPackage* package() const { return nullptr; }
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
