// Languages of a translation: their names, marks, scripts, and which model a text goes to.

#include "attn/tasks/languages.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/task.hpp"

namespace attn::tasks {
namespace {

TEST(Languages, AreReadFromTheirName) {
  EXPECT_EQ(languages_of("it").from, "en");
  EXPECT_EQ(languages_of("it").to, std::vector<std::string>{"it"});
  EXPECT_EQ(languages_of("zh-en").from, "zh");
  EXPECT_EQ(languages_of("zh-en").to, std::vector<std::string>{"en"});
  const Languages three = languages_of("fr+de+es");
  EXPECT_EQ(three.to, (std::vector<std::string>{"fr", "de", "es"}));
  EXPECT_TRUE(three.chooses());
  EXPECT_TRUE(three.has("de"));
  EXPECT_FALSE(three.has("it"));
  EXPECT_FALSE(languages_of("it").chooses());
  EXPECT_TRUE(languages_of("").to.empty());
}

TEST(Languages, AMarkComesOffAsItWasPutOn) {
  const std::string text = mark_of("fr") + "What time is it?";
  std::string_view rest = text;
  EXPECT_EQ(take_mark(rest), "fr");
  EXPECT_EQ(rest, "What time is it?");
  for (const char* plain :
       {"", "no mark", ">>", ">><<", ">>french<< a", "a >>fr<< b", ">>fr"}) {
    std::string_view same = plain;
    EXPECT_EQ(take_mark(same), "") << plain;
    EXPECT_EQ(same, plain);
  }
}

TEST(Languages, ChineseIsToldByItsScript) {
  for (const char* chinese :
       {"\u4ecb\u7ecd\u4e00\u4e0b\u897f\u5b89", "\u6211\u7231Tom\u3002", "\u4f60\u597d\uff01"})
    EXPECT_TRUE(is_chinese(chinese)) << chinese;
  for (const char* other : {"", "I love you.", "42", "the font \u6c49\u5b57 of texts",
                            "\u043f\u0440\u0438\u0432\u0435\u0442", "\xff\xfe"})
    EXPECT_FALSE(is_chinese(other)) << other;
}

std::string model_for(const WantedLanguages& wanted, const std::string& text) {
  return direction_of(task_named("translate").card(), wanted, text).model;
}

TEST(Directions, AreChosenByScriptWhereNothingIsSaid) {
  EXPECT_EQ(model_for({}, "I love you."), "translate");
  EXPECT_EQ(model_for({}, "\u4f60\u597d"), "translate-zh-en");
  EXPECT_EQ(model_for({.to = "de"}, "I love you."), "translate-fr-de-es");
  EXPECT_EQ(model_for({.from = "zh"}, "ok"), "translate-zh-en");
}

TEST(Directions, ThatThereAreNotAreErrorsThatListTheOthers) {
  const auto complaint = [](const WantedLanguages& wanted, const char* text) -> std::string {
    try {
      model_for(wanted, text);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(complaint({"en", "en"}, "a").find("into itself"), std::string::npos);
  EXPECT_NE(complaint({"", "en"}, "I love you.").find("script"), std::string::npos);
  const std::string unknown = complaint({"zh", "fr"}, "a");
  EXPECT_NE(unknown.find("there are en-it, en-fr, en-de, en-es, zh-en"), std::string::npos)
      << unknown;
  EXPECT_NE(complaint({"tlh", ""}, "a").find("\"tlh\""), std::string::npos);
}

}  // namespace
}  // namespace attn::tasks
