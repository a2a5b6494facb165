#include "analyzer/report/escape.h"

#include <gtest/gtest.h>

namespace reprobe::report {
namespace {

TEST(Printable, TextStaysAndWhatDeceivesShows) {
  EXPECT_EQ(printable("größer 漢字 \xf0\x9f\x98\x80"), "größer 漢字 \xf0\x9f\x98\x80");
  EXPECT_EQ(printable("a\033[31m\n\t\x7f"), "a\\x1b[31m\\x0a\\x09\\x7f");
  EXPECT_EQ(printable(std::string("nul\0", 4)), "nul\\x00");
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\xe2\\x80\\xae") << "right-to-left override";
  EXPECT_EQ(printable("\xe2\x81\xa6"), "\\xe2\\x81\\xa6") << "left-to-right isolate";
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b") << "a control sequence introducer of one character";
  EXPECT_EQ(printable("\xe2\x80\xa8"), "\\xe2\\x80\\xa8") << "line separator";
  EXPECT_EQ(printable("\xef\xbf\xbf"), "\\xef\\xbf\\xbf") << "no character";
}

TEST(Printable, InvalidUtf8ShowsItsBytes) {
  EXPECT_EQ(printable("a\xff\xfe"), "a\\xff\\xfe");
  EXPECT_EQ(printable("\xc3"), "\\xc3") << "cut short";
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf") << "overlong";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "surrogate";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond Unicode";
}

TEST(PrintableLines, KeepsLineBreaksAndTabs) { EXPECT_EQ(printable_lines("a\n\tb\r\033"), "a\n\tb\\x0d\\x1b"); }

TEST(CharactersBefore, CountsCharactersNotBytes) {
  EXPECT_EQ(characters_before("größer", 4), 3u);
  EXPECT_EQ(characters_before("a\xff" "b", 3), 3u);
  EXPECT_EQ(characters_before("ab", 9), 2u);
}

TEST(EscapeMarkup, LeavesNoMarkup) {
  EXPECT_EQ(escape_markup("<a href=\"x\">'&'</a>]]>\x01"),
            "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;]]&gt;\\x01");
}

TEST(UriOf, EncodesAllButPlainCharacters) {
  EXPECT_EQ(uri_of("src/a b%.cu"), "src/a%20b%25.cu");
  EXPECT_EQ(uri_of("/usr/x#?:.h"), "file:///usr/x%23%3F%3A.h");
  EXPECT_EQ(uri_of("\xff\xc3\xbc"), "%FF%C3%BC");
}

} // namespace
} // namespace reprobe::report
