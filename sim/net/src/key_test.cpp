// One key, one row: what the rows say is what files, options and checks do.
#include "ww/sim/net/key.hpp"

#include <gtest/gtest.h>

#include <set>

#include "ww/sim/net/factory.hpp"
#include "ww/sim/net/vc_router_config.hpp"

namespace ww::sim::net {
namespace {

TEST(Keys, HaveOneRowEach) {
  NetworkConfig config;
  std::set<std::string_view> names;
  for (const BoundKey& key : keys_of(config)) {
    EXPECT_TRUE(names.insert(key.name).second) << key.name << " has two rows";
    EXPECT_FALSE(key.help.empty()) << key.name;
  }
  EXPECT_GT(names.size(), 70U);
}

TEST(Keys, HaveDefaultsThatTheirRowsAllow) {
  NetworkConfig config;
  const Status checked = check(keys_of(config));
  EXPECT_TRUE(checked) << checked.error().text();
}

TEST(Keys, AreSetByTheTextThatTheyAreWrittenAs) {
  NetworkConfig config;
  for (const BoundKey& key : keys_of(config)) {
    const std::string text = value_text(key.field);
    if (text.empty()) continue;  // an optional without a value, a list without entries
    const Status set = set_value(key, text);
    EXPECT_TRUE(set) << key.name << ": " << set.error().text();
    EXPECT_EQ(value_text(key.field), text) << key.name;
  }
  ASSERT_TRUE(set_key(config, "memory_nodes", "1, 7,8"));
  EXPECT_EQ(config.memory_nodes, (NodeList{1, 7, 8}));
  ASSERT_TRUE(set_key(config, "error_threshold", "0.25"));
  EXPECT_EQ(config.error_threshold, 0.25);
  ASSERT_TRUE(set_key(config, "vc_allocator", "separable"));
  EXPECT_EQ(config.own<VcRouterConfig>().vc_allocator, Allocator::separable_input_first);
}

struct Refused {
  const char* key;
  const char* text;
  ErrorCode code;
};

TEST(Keys, RefuseTextsThatAreNoValuesByName) {
  NetworkConfig config;
  for (const auto& [key, text, code] :
       {Refused{"vcs", "0", ErrorCode::out_of_range},
        Refused{"vcs", "4x", ErrorCode::invalid_argument},
        Refused{"vcs", "", ErrorCode::invalid_argument},
        Refused{"vcs", "1.5", ErrorCode::invalid_argument},
        Refused{"die_mm2", "nan", ErrorCode::out_of_range},
        Refused{"planes", "maybe", ErrorCode::invalid_argument},
        Refused{"memory_nodes", "1,-2", ErrorCode::invalid_argument},
        Refused{"scheme", "zip", ErrorCode::invalid_argument}}) {
    const Status set = set_key(config, key, text);
    ASSERT_FALSE(set) << key << " = " << text;
    EXPECT_EQ(set.error().context, key);
    EXPECT_EQ(set.error().code, code) << key << " = " << text;
  }
  const Status unknown = set_key(config, "vc_bufer", "4");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("vc_buffer"), std::string::npos);
  EXPECT_NE(set_key(config, "predictor", "oracle").error().message.find("restr or perfect"),
            std::string::npos);
}

TEST(Keys, OfACopyAreItsOwn) {
  NetworkConfig config;
  ASSERT_TRUE(set_key(config, "deflection", "bless"));
  NetworkConfig copy = config;
  ASSERT_TRUE(set_key(copy, "deflection", "chipper"));
  const BoundKeys keys = keys_of(config);
  EXPECT_EQ(value_text(find_key(keys, "deflection")->field), "bless");
}

TEST(Keys, HelpNamesTheUnitAndOwnsUpToAssumptions) {
  NetworkConfig config;
  const BoundKeys keys = keys_of(config);
  EXPECT_EQ(help_text(*find_key(keys, "link_delay")), "Time to cross a link [cycles]");
  EXPECT_EQ(help_text(*find_key(keys, "grab_cycles")),
            "Time from a token to the first bit [optical cycles] (assumed)");
  EXPECT_EQ(option_name("vc_buffer"), "--vc-buffer");
}

TEST(Kinds, HaveNamesOfTheirOwnAndVariantsThatAreKeys) {
  NetworkConfig config;
  const BoundKeys keys = keys_of(config);
  std::set<std::string_view> names;
  for (const NetworkKind* kind : network_kinds()) {
    EXPECT_TRUE(names.insert(kind->name).second) << kind->name;
    EXPECT_EQ(find_network(kind->name), kind);
    if (!kind->variant_key.empty()) {
      EXPECT_NE(find_key(keys, kind->variant_key), nullptr) << kind->name;
    }
    if (kind->paper != nullptr) {
      EXPECT_EQ(kind->paper().network, kind->name);
      EXPECT_TRUE(make_network(kind->paper())) << kind->name;
    }
  }
}

}  // namespace
}  // namespace ww::sim::net
