// The data of classify.

#include "tasks/classify/corpora.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/debian/index.hpp"
#include "attn/tasks/fetch/prepared.hpp"
#include "attn/tasks/pairs/read_pairs.hpp"
#include "attn/text/unicode.hpp"
#include "tasks/classify/slots.hpp"
#include "tasks/debian/description.hpp"
#include "tasks/loading.hpp"

namespace attn::tasks::classify {
namespace {

/// Sections by purpose. Those by language (perl, python), of libraries, documentation and
/// development, and "misc" tell of a package, not of what it is for.
constexpr std::array<std::string_view, 25> kTopics{
    "admin", "comm",     "database", "editors", "electronics",  "fonts", "games",
    "gnome", "graphics", "hamradio", "httpd",   "interpreters", "kde",   "mail",
    "math",  "net",      "science",  "sound",   "tex",          "text",  "utils",
    "vcs",   "video",    "web",      "x11"};

constexpr double kTestOfPackages = 0.1;
constexpr double kDevelopmentOfPackages = 0.04;
constexpr double kDevelopmentOfTexts = 0.05;
constexpr int kFewestWords = 8;
constexpr std::size_t kLinesNamed = 5;

bool is_topic(std::string_view section) {
  return std::find(kTopics.begin(), kTopics.end(), section) != kTopics.end();
}

std::vector<std::string_view> columns_of(std::string_view line) {
  std::vector<std::string_view> columns;
  for (;;) {
    const std::size_t tab = line.find('\t');
    columns.push_back(line.substr(0, tab));
    if (tab == std::string_view::npos) return columns;
    line.remove_prefix(tab + 1);
  }
}

/// Puts examples into their parts, which share no text; a held-out one wins.
class Parts {
 public:
  explicit Parts(const std::string& name) { corpus_.name = name; }

  void add(Example example, std::string_view part) {
    (part == "test"  ? corpus_.test
     : part == "dev" ? corpus_.development
                     : corpus_.train)
        .push_back(std::move(example));
  }

  Corpus take() {
    if (corpus_.development.empty()) {
      const auto stays = [](const Example& example) {
        return split_place(example.source) >= kDevelopmentOfTexts;
      };
      const auto middle =
          std::stable_partition(corpus_.train.begin(), corpus_.train.end(), stays);
      corpus_.development.assign(middle, corpus_.train.end());
      corpus_.train.erase(middle, corpus_.train.end());
    }
    std::unordered_set<std::string> seen;
    for (std::vector<Example>* part : {&corpus_.test, &corpus_.development, &corpus_.train}) {
      std::erase_if(*part, [&](const Example& example) {
        return seen.contains(text::lower(example.source));
      });
      for (const Example& example : *part) seen.insert(text::lower(example.source));
    }
    return std::move(corpus_);
  }

 private:
  Corpus corpus_;
};

/// Lines of so many columns, the first of which names the part.
Corpus parse_lines(std::string_view text, const std::string& name, std::size_t columns) {
  Parts parts(name);
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto fields = columns_of(take_line(text));
    const std::string id = "line " + std::to_string(number);
    const bool known = fields[0] == "train" || fields[0] == "dev" || fields[0] == "test";
    if (fields.size() != columns || !known)
      fail<FileError>(name, ", ", id, " has ", fields.size(), " columns, ",
                      files::in_quotes(fields[0]), " first; ", columns,
                      " are accepted, and train, dev or test first");
    Example example{id, std::string(fields[2]), {std::string(fields[1])}};
    if (columns == 4) example.targets.emplace_back(fields[3]);
    parts.add(std::move(example), fields[0]);
  }
  return parts.take();
}

std::size_t count_words(std::string_view text) {
  return text::split_words(text).size();
}

/// What is wrong with the tags of an example, to stand behind its line; "": nothing.
std::string fault_of_tags(const Example& example) {
  const std::string& line = example.targets.back();
  const auto tags = text::split_words(line);
  for (const std::string_view tag : tags)
    if (!is_tag(std::string(tag)))
      return "has the tag " + files::in_quotes(tag) + "; O, B-name and I-name are accepted";
  const std::size_t words = count_words(example.source);
  if (tags.size() == words) return "";
  return "has " + std::to_string(words) + " words between spaces and " +
         std::to_string(tags.size()) + " tags";
}

/// "line 3: ..." for the first few.
class Faults {
 public:
  void add(const Example& example, const std::string& fault) {
    if (++count_ <= kLinesNamed) named_ += "\n  " + example.id + " " + fault;
  }
  void report(const std::string& where, const std::string& wanted) const {
    if (count_ == 0) return;
    fail<FileError>(where, ": ", count_, count_ == 1 ? " line is" : " lines are", " not ",
                    wanted, ":", named_, count_ > kLinesNamed ? "\n  ..." : "");
  }

 private:
  std::size_t count_ = 0;
  std::string named_;
};

/// White space around a label, or two spaces inside, make no other label of it.
void tidy_labels(std::vector<Example>& examples) {
  for (Example& example : examples)
    for (std::string& target : example.targets) target = text::normalise(target);
}

std::set<std::string> labels_of(const std::vector<Example>& examples) {
  std::set<std::string> labels;
  for (const Example& example : examples) labels.insert(example.targets.front());
  return labels;
}

/// Names lines with too many or too few columns, and those that give a text another label.
void check_examples(const std::vector<Example>& examples, bool has_slots,
                    const std::string& where) {
  Faults columns;
  Faults conflicts;
  std::map<std::string, const Example*> first;
  const std::size_t wanted = has_slots ? 2 : 1;
  for (const Example& example : examples) {
    if (example.targets.size() != wanted) {
      columns.add(example, "has " + std::to_string(1 + example.targets.size()) + " columns" +
                               (has_slots ? "" : "; tags are read with --about slots"));
      continue;
    }
    if (const std::string fault = has_slots ? fault_of_tags(example) : ""; !fault.empty())
      columns.add(example, fault);
    const auto [at, is_new] = first.emplace(text::normalise(example.source), &example);
    if (!is_new && at->second->targets != example.targets)
      conflicts.add(example, "says " + files::in_quotes(example.targets.front()) + " of " +
                                 files::in_quotes(example.source) + ", of which " +
                                 at->second->id + " says " +
                                 files::in_quotes(at->second->targets.front()));
  }
  columns.report(where, has_slots ? "text<TAB>label<TAB>tags" : "text<TAB>label");
  conflicts.report(where, "what a line before says of the same text");
}

}  // namespace

const std::vector<PreparedFile>& prepared_files() {
  static const std::vector<PreparedFile> kFiles{
      {"clinc150.tsv.xz", "c7919aa9e1c15ab8ce8a5796a893b36bfc165d0da57d947d704fd1be3eef364a",
       "CLINC150 (github clinc/oos-eval, data/data_full.json; CC BY 3.0, Larson et al. 2019; "
       "lines of split, intent, text)"},
      {"banking77.tsv.xz", "b6e47495eabd8d12324f3e867f9b8cbcdb590054f3e2a5ba1049d97818e74c7a",
       "BANKING77 (github PolyAI-LDN/task-specific-datasets, banking_data; CC BY 4.0, "
       "Casanueva et al. 2020; lines of split, intent, text)"},
      {"snips.tsv.xz", "518883f090826956104d92ff39a969c587f9a415dbe33fa1bb661d4996e88f20",
       "Snips custom intents 2017-06 (github sonos/nlu-benchmark; CC0 1.0; lines of split, "
       "intent, words, BIO tags)"}};
  return kFiles;
}

Corpus load_corpus(const std::string& about, const Say& say) {
  if (about == kSections) return sections_corpus(load_debian("", say));
  const auto file = [](std::size_t i) {
    return read_prepared(prepared_files()[i], "classify");
  };
  if (about == kIntents) return parse_intents(file(0), "CLINC150");
  if (about == kBanking) return parse_intents(file(1), "BANKING77");
  if (about == kSlots) return parse_slots(file(2), "Snips");
  fail("classify learns from a file of your own with --data FILE: text, tab, label a line");
}

Corpus sections_corpus(const DebianIndex& index) {
  Parts parts("Debian package descriptions");
  std::unordered_set<std::string_view> done;
  for (const Description& description : index.english) {
    if (!is_topic(description.section) || is_boilerplate(description) ||
        !done.insert(description.md5).second)
      continue;
    std::string text = one_line(description.synopsis) + ".";
    for (const Paragraph& paragraph : paragraphs_of(description.body))
      for (const std::string& unit : paragraph) text += ' ' + unit;
    if (word_count(text) < kFewestWords || !files::is_utf8(text)) continue;
    const double place = split_place(description.source);
    parts.add(
        {std::string(description.md5), std::move(text), {std::string(description.section)}},
        place < kTestOfPackages                            ? "test"
        : place < kTestOfPackages + kDevelopmentOfPackages ? "dev"
                                                           : "train");
  }
  return parts.take();
}

Corpus parse_intents(std::string_view text, const std::string& name) {
  return parse_lines(text, name, 3);
}

Corpus parse_slots(std::string_view text, const std::string& name) {
  Corpus corpus = parse_lines(text, name, 4);
  for (const auto* part : {&corpus.train, &corpus.development, &corpus.test})
    for (const Example& example : *part)
      if (const std::string fault = fault_of_tags(example); !fault.empty())
        fail<FileError>(name, ", ", example.id, " ", fault);
  return corpus;
}

Corpus read_own(const std::filesystem::path& path, const PairOptions& options, bool has_slots,
                const Say& say) {
  const std::string where = files::path_text(path);
  // All lines as they are; parts put equal texts together.
  PairOptions whole = options;
  whole.development = whole.test = 0.0;
  std::vector<Example> lines = read_pairs(path, whole, {}).train;
  tidy_labels(lines);
  check_examples(lines, has_slots, where);
  const std::set<std::string> all = labels_of(lines);
  if (all.size() < 2)
    fail<FileError>(where, ": ", lines.size(), " texts, and all have the label ",
                    files::in_quotes(*all.begin()), "; two labels are needed at least");

  Corpus corpus = read_pairs(path, options, say);
  for (std::vector<Example>* part : {&corpus.train, &corpus.development, &corpus.test})
    tidy_labels(*part);
  const std::set<std::string> learnt = labels_of(corpus.train);
  if (learnt.size() < 2)
    fail<FileError>(where, ": what remains for training has the label ",
                    files::in_quotes(*learnt.begin()), " alone; give each label more texts");
  std::string missing;
  for (const std::string& label : all)
    if (!learnt.contains(label)) missing += (missing.empty() ? "" : ", ") + label;
  if (!missing.empty())
    corpus.notes.push_back("held-out texts alone have the labels " + files::printable(missing) +
                           ", which cannot be learnt; give them more texts");
  return corpus;
}

}  // namespace attn::tasks::classify
