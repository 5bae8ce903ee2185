#include "tasks/parse/parser.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"
#include "attn/maps/map.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/mechanisms/pointer/biaffine_attention.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/network.hpp"
#include "attn/tasks/value.hpp"
#include "attn/tensor/ops/loss.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/text/tokeniser.hpp"
#include "attn/text/unicode.hpp"
#include "tasks/parse/conllu.hpp"
#include "tasks/parse/layers.hpp"
#include "tasks/parse/map.hpp"
#include "tasks/parse/sentence.hpp"
#include "tasks/parse/split.hpp"
#include "tasks/parse/tree.hpp"

namespace attn::tasks::parse {
namespace {

using Json = nlohmann::json;

/// Of a word; more are cut out of its middle.
constexpr std::size_t kMostLetters = 24;
constexpr std::int64_t kMostCharacters = 400;
constexpr std::size_t kMostNames = 400;  ///< of tags, and of relations
constexpr std::size_t kPlacesAtOnce = 4096;
constexpr double kMostlyUnknown = 0.5;
/// Of an arc: less than the probability of any that counts, and finite.
constexpr float kLeastProbability = 1e-30f;
constexpr const char* kRoot = "root";

/// Small letters, and all digits alike, as the table of words has them.
std::string table_form(const std::string& form) {
  std::string low = text::lower(form);
  for (char& c : low)
    if (c >= '0' && c <= '9') c = '0';
  return low;
}

std::vector<std::string> names_in(const Json& facts, const char* member,
                                  const std::string& where) {
  const Json& list = files::member(facts, member, where);
  if (!list.is_array() || list.empty() || list.size() > kMostNames)
    fail<FileError>(where, ": ", member, " is no list of 1 to ", kMostNames, " names");
  std::vector<std::string> names;
  for (const Json& name : list) names.push_back(files::to_text(name, where));
  return names;
}

std::int64_t place_in(const std::vector<std::string>& names, const std::string& name) {
  const auto at = std::find(names.begin(), names.end(), name);
  return at == names.end() ? -1 : at - names.begin();
}

ParserOptions options_of(const Json& model, const Lexicon& lexicon, std::size_t tags,
                         std::size_t relations) {
  const auto whole = [&](const char* name) { return model.at(name).get<std::int64_t>(); };
  return {.words = lexicon.vocabularies.at("words").size(),
          .characters = lexicon.vocabularies.at("characters").size(),
          .tags = static_cast<std::int64_t>(tags),
          .relations = static_cast<std::int64_t>(relations),
          .word_size = whole("word_size"),
          .character_size = whole("character_size"),
          .spelling_size = whole("spelling_size"),
          .tag_size = whole("tag_size"),
          .state = whole("state"),
          .layers = whole("layers"),
          .arc_size = whole("arc_size"),
          .relation_size = whole("relation_size"),
          .drop = model.at("drop").get<double>(),
          .arcs = model.at("arcs") == "offsets" ? Arcs::offsets : Arcs::biaffine};
}

class Parser final : public Network {
 public:
  Parser(const Json& model, Lexicon lexicon, const std::string& where)
      : lexicon_(std::move(lexicon)),
        tags_(names_in(lexicon_.facts, "tags", where)),
        relations_(names_in(lexicon_.facts, "relations", where)),
        options_(options_of(model, lexicon_, tags_.size(), relations_.size())),
        word_drop_(model.at("word_drop").get<double>()),
        root_(place_in(relations_, kRoot)),
        encoder_(add("encoder", WordEncoder(options_))),
        arcs_(add("arcs", ArcScores(options_))),
        labels_(add("labels", nn::BiaffineLabels({.dependent_dim = 2 * options_.state,
                                                  .head_dim = 2 * options_.state,
                                                  .hidden = options_.relation_size,
                                                  .labels = options_.relations,
                                                  .dropout = options_.drop}))) {}

  std::string kind() const override {
    return options_.arcs == Arcs::biaffine ? "biaffine" : "offsets";
  }

  Learner::Lesson loss(std::span<const Example* const> batch) const override {
    std::vector<Sentence> sentences;
    for (const Example* example : batch) sentences.push_back(sentence_of(*example));
    const Coded coded = code(sentences);
    std::vector<std::int64_t> heads(coded.rows * coded.words, -1);
    std::vector<std::int64_t> chosen(coded.rows * coded.words, 0);
    std::vector<std::int64_t> tags(coded.rows * (coded.words + 1), -1);
    std::vector<std::int64_t> relations(coded.rows * coded.words, -1);
    std::int64_t count = 0;
    for (std::size_t row = 0; row < sentences.size(); ++row) {
      const std::vector<Word>& words = sentences[row].words;
      for (std::size_t i = 0; i < words.size(); ++i) {
        heads[row * coded.words + i] = chosen[row * coded.words + i] = words[i].head;
        tags[row * (coded.words + 1) + i + 1] = place_in(tags_, words[i].tag);
        relations[row * coded.words + i] = place_in(relations_, words[i].relation);
      }
      count += static_cast<std::int64_t>(words.size());
    }
    const Shape shape{static_cast<std::int64_t>(coded.rows),
                      static_cast<std::int64_t>(coded.words)};
    const WordStates seen = encoder_.forward(coded.batch);
    const nn::Biaffine arcs =
        arcs_.forward(coded.batch, seen.states, Tensor::from(heads, shape));
    const Tensor labels = labels_.forward(seen.states.slice(1, 1, shape[1] + 1), seen.states,
                                          Tensor::from(chosen, shape));
    const Tensor arc_loss = sum(arcs.log_prob) * (-1.0 / static_cast<double>(count));
    return {arc_loss + cross_entropy(labels, on_device(relations, shape)) +
                cross_entropy(seen.tag_logits, on_device(tags, {shape[0], shape[1] + 1})),
            count};
  }

  std::int64_t cost(const Example& example) const override {
    return std::count(example.source.begin(), example.source.end(), ' ') + 2;
  }

  std::string refusal(const Input& input) const override {
    if (const auto* words = input.find<std::string>("words"))
      return words->empty() ? "has no words" : "";
    const std::string& text = input.text();
    if (!files::is_utf8(text)) return "is not UTF-8";
    if (text.find('\0') != std::string::npos) return "has a NUL byte";
    if (text.find_first_not_of(" \t\r\n") == std::string::npos)
      return "is empty; there is nothing to parse";
    std::vector<Sentence> sentences;
    try {
      sentences = read(input);
    } catch (const FileError& error) {
      return std::string("looks like CoNLL-U and is not: ") + error.what();
    }
    std::size_t words = 0;
    for (const Sentence& sentence : sentences) words += sentence.words.size();
    if (words == 0) return "has no words";
    if (words > kMostOfText)
      return "has " + std::to_string(words) + " words; at most " + std::to_string(kMostOfText) +
             " are read at a time";
    return "";
  }

  std::vector<Reply> answer(std::span<const Input> inputs,
                            const Choices& choices) const override {
    std::vector<Sentence> sentences;
    std::vector<std::size_t> ends;
    for (const Input& input : inputs) {
      for (Sentence& one : read(input)) sentences.push_back(std::move(one));
      ends.push_back(sentences.size());
    }
    std::vector<Parsed> parsed = parse(sentences, choices.weights);
    std::vector<Reply> replies;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const std::span<Parsed> own = std::span(parsed).subspan(begin, ends[i] - begin);
      const std::span<const Sentence> trees = std::span(sentences).subspan(begin, own.size());
      replies.push_back(reply_of(trees, own));
      begin = ends[i];
    }
    return replies;
  }

  maps::Map map(const Input&, const Piece& piece, std::string_view heads) const override {
    const Answer& answer = piece.answers.front();
    const auto* table = answer.output ? std::get_if<Table>(&*answer.output) : nullptr;
    if (table == nullptr) fail("attn::tasks::parse: the answer has no words");
    const Sentence sentence = sentences_of(*table).front();
    return heads.empty() ? arcs_map(sentence, answer.weights)
                         : heads_map(sentence, answer.weights);
  }

 private:
  /// Sentences as numbers, on the device.
  struct Coded {
    WordBatch batch;
    std::size_t rows = 0;
    std::size_t words = 0;  ///< of the longest sentence
  };

  /// What is told of a sentence beside its tree.
  struct Parsed {
    std::vector<float> probabilities;  ///< of each arc
    std::vector<float> weights;        ///< [words, words + 1], if wanted
    double log_probability = 0.0;
  };

  Tensor on_device(const std::vector<std::int64_t>& numbers, const Shape& shape) const {
    return Tensor::from(numbers, shape).to(device());
  }

  std::vector<Sentence> read(const Input& input) const {
    if (const auto* words = input.find<std::string>("words")) {
      Sentence sentence;
      for (const std::string_view form : text::split_words(*words)) {
        sentence.words.push_back({.form = std::string(form)});
      }
      return {sentence};
    }
    const std::string& text = input.text();
    return is_conllu(text) ? read_conllu(text, Columns::words, "CoNLL-U", kMostWords)
                           : split_text(text, kMostWords);
  }

  std::int64_t word_number(const std::string& form) const {
    const auto numbers = lexicon_.vocabularies.at("words").encode(table_form(form));
    return numbers.size() == 1 ? numbers.front() : text::Mark::unknown;
  }

  /// The characters between the marks of a beginning and an end.
  std::vector<std::int64_t> letters_of(const std::string& form) const {
    std::vector<std::int64_t> numbers = lexicon_.vocabularies.at("characters").encode(form);
    if (numbers.size() > kMostLetters)
      numbers.erase(numbers.begin() + kMostLetters / 2,
                    numbers.end() - static_cast<std::ptrdiff_t>(kMostLetters / 2));
    numbers.insert(numbers.begin(), text::Mark::bos);
    numbers.push_back(text::Mark::eos);
    return numbers;
  }

  bool is_dropped() const {
    return training() && word_drop_ > 0.0 &&
           static_cast<double>(nn::random().next() >> 11) * 0x1p-53 < word_drop_;
  }

  Coded code(std::span<const Sentence> sentences) const {
    Coded coded{.batch = {}, .rows = sentences.size()};
    for (const Sentence& one : sentences) coded.words = std::max(coded.words, one.words.size());
    const std::size_t places = coded.words + 1;
    std::vector<std::int64_t> words(coded.rows * places, text::Mark::pad);
    std::vector<std::int64_t> spellings(coded.rows * places, 0);
    std::vector<std::int64_t> lengths;
    // The root is spelt by its marks alone.
    std::vector<std::vector<std::int64_t>> letters{letters_of("")};
    struct Known {
      std::int64_t word;
      std::int64_t spelling;
    };
    std::unordered_map<std::string, Known> known;
    for (std::size_t row = 0; row < coded.rows; ++row) {
      words[row * places] = text::Mark::bos;
      for (std::size_t i = 0; i < sentences[row].words.size(); ++i) {
        const std::string& form = sentences[row].words[i].form;
        auto at = known.find(form);
        if (at == known.end()) {
          at = known
                   .emplace(form,
                            Known{word_number(form), static_cast<std::int64_t>(letters.size())})
                   .first;
          letters.push_back(letters_of(form));
        }
        words[row * places + i + 1] = is_dropped() ? text::Mark::unknown : at->second.word;
        spellings[row * places + i + 1] = at->second.spelling;
      }
      lengths.push_back(static_cast<std::int64_t>(sentences[row].words.size()) + 1);
    }
    std::size_t longest = 0;
    for (const auto& one : letters) longest = std::max(longest, one.size());
    std::vector<std::int64_t> spelt(letters.size() * longest, text::Mark::pad);
    std::vector<std::int64_t> letter_lengths;
    for (std::size_t i = 0; i < letters.size(); ++i) {
      std::copy(letters[i].begin(), letters[i].end(),
                spelt.begin() + static_cast<std::ptrdiff_t>(i * longest));
      letter_lengths.push_back(static_cast<std::int64_t>(letters[i].size()));
    }
    const Shape shape{static_cast<std::int64_t>(coded.rows), static_cast<std::int64_t>(places)};
    const auto count = static_cast<std::int64_t>(letters.size());
    coded.batch = {.words = on_device(words, shape),
                   .spellings = on_device(spellings, shape),
                   .letters = on_device(spelt, {count, static_cast<std::int64_t>(longest)}),
                   .letter_lengths = on_device(letter_lengths, {count}),
                   .lengths = on_device(lengths, {shape[0]})};
    return coded;
  }

  /// Fills in tags, heads and relations. Sentences of like length go together.
  std::vector<Parsed> parse(std::vector<Sentence>& sentences, bool weights) const {
    std::vector<std::size_t> order(sentences.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return sentences[a].words.size() < sentences[b].words.size();
    });
    std::vector<Parsed> parsed(sentences.size());
    for (std::size_t begin = 0; begin < order.size();) {
      std::size_t end = begin;
      while (end < order.size() &&
             (end == begin ||
              (end + 1 - begin) * (sentences[order[end]].words.size() + 1) <= kPlacesAtOnce))
        ++end;
      const std::span<const std::size_t> rows(order.data() + begin, end - begin);
      parse_batch(rows, sentences, parsed, weights);
      begin = end;
    }
    return parsed;
  }

  void parse_batch(std::span<const std::size_t> rows, std::vector<Sentence>& sentences,
                   std::vector<Parsed>& parsed, bool weights) const {
    std::vector<Sentence> own;
    for (const std::size_t row : rows) own.push_back(sentences[row]);
    const Coded coded = code(own);
    const Shape shape{static_cast<std::int64_t>(coded.rows),
                      static_cast<std::int64_t>(coded.words)};
    const WordStates seen = encoder_.forward(coded.batch);
    const std::vector<float> arcs =
        arcs_.forward(coded.batch, seen.states).weights.to_vector<float>();
    const std::vector<float> tags = seen.tag_logits.to_vector<float>();
    std::vector<std::int64_t> heads(coded.rows * coded.words, 0);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      Sentence& sentence = sentences[rows[i]];
      choose_arcs(std::span(arcs).subspan(i * coded.words * (coded.words + 1)), coded.words,
                  sentence, parsed[rows[i]], weights);
      for (std::size_t word = 0; word < sentence.words.size(); ++word) {
        heads[i * coded.words + word] = sentence.words[word].head;
        const float* logits = tags.data() + (i * (coded.words + 1) + word + 1) * tags_.size();
        sentence.words[word].tag = tags_[static_cast<std::size_t>(
            std::max_element(logits, logits + tags_.size()) - logits)];
      }
    }
    const std::vector<float> labels = labels_
                                          .forward(seen.states.slice(1, 1, shape[1] + 1),
                                                   seen.states, Tensor::from(heads, shape))
                                          .to_vector<float>();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::vector<Word>& words = sentences[rows[i]].words;
      for (std::size_t word = 0; word < words.size(); ++word)
        words[word].relation =
            relation_of(labels.data() + (i * coded.words + word) * relations_.size(),
                        words[word].head == 0);
    }
  }

  /// `arcs` are rows of `width` + 1 probabilities.
  static void choose_arcs(std::span<const float> arcs, std::size_t width, Sentence& sentence,
                          Parsed& parsed, bool weights) {
    const std::size_t count = sentence.words.size();
    std::vector<float> own;
    std::vector<float> scores;
    for (std::size_t word = 0; word < count; ++word)
      for (std::size_t head = 0; head <= count; ++head) {
        own.push_back(arcs[word * (width + 1) + head]);
        scores.push_back(std::log(std::max(own.back(), kLeastProbability)));
      }
    const std::vector<std::int64_t> heads = best_tree(scores, static_cast<std::int64_t>(count));
    for (std::size_t word = 0; word < count; ++word) {
      const std::size_t at = word * (count + 1) + static_cast<std::size_t>(heads[word]);
      sentence.words[word].head = heads[word];
      parsed.probabilities.push_back(own[at]);
      parsed.log_probability += double{scores[at]};
    }
    if (weights) parsed.weights = std::move(own);
  }

  /// The root's dependent is called so, and no other word.
  std::string relation_of(const float* logits, bool root) const {
    if (root && root_ >= 0) return kRoot;
    std::int64_t best = -1;
    for (std::int64_t i = 0; i < options_.relations; ++i)
      if ((i != root_ || options_.relations == 1) && (best < 0 || logits[i] > logits[best]))
        best = i;
    return relations_[static_cast<std::size_t>(best)];
  }

  double unknown_share(std::span<const Sentence> sentences) const {
    const text::Tokeniser& characters = lexicon_.vocabularies.at("characters");
    std::size_t unknown = 0;
    std::size_t all = 0;
    for (const Sentence& sentence : sentences)
      for (const Word& word : sentence.words) {
        const auto numbers = characters.encode(word.form);
        unknown += static_cast<std::size_t>(
            std::count(numbers.begin(), numbers.end(), text::Mark::unknown));
        all += numbers.size();
      }
    return static_cast<double>(unknown) / static_cast<double>(std::max<std::size_t>(1, all));
  }

  Reply reply_of(std::span<const Sentence> trees, std::span<Parsed> parsed) const {
    Reply reply;
    Answer& whole = reply.answers.emplace_back();
    whole.text = to_conllu(trees);
    whole.output = table_of(trees);
    whole.finished = true;
    bool cut = false;
    for (std::size_t i = 0; i < trees.size(); ++i) {
      Answer one;
      one.text = to_conllu(trees.subspan(i, 1));
      one.output = table_of(trees.subspan(i, 1));
      one.log_probability = one.score = parsed[i].log_probability;
      one.finished = true;
      one.weights = std::move(parsed[i].weights);
      whole.log_probability += one.log_probability;
      std::vector<float>& all = whole.numbers["probabilities"];
      all.insert(all.end(), parsed[i].probabilities.begin(), parsed[i].probabilities.end());
      cut = cut || trees[i].words.size() + 1 >= kMostWords;
      reply.pieces.push_back({.source = text_of(trees[i]), .answers = {std::move(one)}});
    }
    whole.score = whole.log_probability;
    if (unknown_share(trees) > kMostlyUnknown) {
      reply.unfamiliar = true;
      reply.notes.emplace_back(
          "most characters are none that the model learnt from; the trees are guesses");
    }
    if (cut)
      reply.notes.push_back("a sentence has no end within " + std::to_string(kMostWords) +
                            " words; its parts were parsed one by one");
    return reply;
  }

  Lexicon lexicon_;
  std::vector<std::string> tags_;
  std::vector<std::string> relations_;
  ParserOptions options_;
  double word_drop_;
  std::int64_t root_;
  WordEncoder encoder_;
  ArcScores arcs_;
  nn::BiaffineLabels labels_;
};

}  // namespace

Lexicon learn_lexicon(std::span<const Example> train, std::int64_t most_words,
                      std::int64_t rarest) {
  std::map<std::string, std::int64_t> counts;
  std::vector<std::string> lines;
  std::set<std::string> tags;
  std::set<std::string> relations;
  for (const Example& example : train) {
    lines.push_back(example.source);
    for (const Word& word : sentence_of(example).words) {
      ++counts[table_form(word.form)];
      tags.insert(word.tag);
      relations.insert(word.relation);
    }
  }
  if (tags.size() > kMostNames || relations.size() > kMostNames)
    fail("the training part has ", tags.size(), " tags and ", relations.size(),
         " relations; at most ", kMostNames, " of each are accepted");
  std::vector<std::string> common;
  for (const auto& [form, count] : counts)
    if (count >= rarest) common.insert(common.end(), static_cast<std::size_t>(count), form);
  Lexicon lexicon;
  lexicon.vocabularies.emplace("words",
                               text::Tokeniser::learn(text::Units::words, common, most_words));
  lexicon.vocabularies.emplace(
      "characters", text::Tokeniser::learn(text::Units::characters, lines, kMostCharacters));
  lexicon.facts = {{"tags", tags}, {"relations", relations}};
  return lexicon;
}

std::shared_ptr<Network> make_parser(const Json& model, Lexicon lexicon,
                                     const std::string& where) {
  for (const char* name : {"words", "characters"})
    if (!lexicon.vocabularies.contains(name))
      fail<FileError>(where, ": the vocabulary \"", name, "\" is missing");
  return std::make_shared<Parser>(model, std::move(lexicon), where);
}

}  // namespace attn::tasks::parse
