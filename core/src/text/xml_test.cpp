#include "ww/core/xml.hpp"

#include <gtest/gtest.h>

namespace ww {
namespace {

TEST(EscapeXml, LeavesNoMarkupNorCharactersThatXmlForbids) {
  EXPECT_EQ(escape_xml("a<b> & \"c\" 'd'"), "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
  EXPECT_EQ(escape_xml(std::string_view("a\x1b\0b\n\t", 6)), "a  b\n\t");
}

TEST(EscapeXml, KeepsUtf8) {
  EXPECT_EQ(escape_xml("µJ"), "µJ");
}

}  // namespace
}  // namespace ww
