// Versions of LibTorch against the rows that speak of them.
#include "analyzer/scan/judge/versions.h"

#include <gtest/gtest.h>

namespace reprobe::scan {
namespace {

TranslationUnit unit_with(const std::string& version, bool inferred = false) {
  TranslationUnit unit;
  unit.libtorch_version = version;
  unit.inferred_flags = inferred;
  return unit;
}

TEST(Versions, RowsWithoutBoundsAlwaysApply) {
  EXPECT_EQ(version_applies(unit_with(""), "", ""), Applies::yes);
  EXPECT_EQ(version_applies(unit_with("1.13.1"), "", ""), Applies::yes);
}

TEST(Versions, BoundsIncludeTheVersionsTheyName) {
  EXPECT_EQ(version_applies(unit_with("2.9.1"), "", "2.9"), Applies::yes);
  EXPECT_EQ(version_applies(unit_with("2.10.0"), "", "2.9"), Applies::no);
  EXPECT_EQ(version_applies(unit_with("2.9.0"), "2.9", ""), Applies::yes);
  EXPECT_EQ(version_applies(unit_with("2.8.0"), "2.9", ""), Applies::no);
  EXPECT_EQ(version_applies(unit_with("2.4.1"), "2.2", "2.4"), Applies::yes);
}

TEST(Versions, PartsAreNumbersNotText) {
  EXPECT_EQ(version_applies(unit_with("2.11.0"), "2.9", ""), Applies::yes);
  EXPECT_EQ(version_applies(unit_with("2.2.0"), "2.11", ""), Applies::no);
  EXPECT_EQ(version_applies(unit_with("2.10.0+cu130"), "", "2.10"), Applies::yes);
}

TEST(Versions, WhatIsNotKnownIsUnsure) {
  EXPECT_EQ(version_applies(unit_with(""), "", "2.9"), Applies::unsure);
  EXPECT_EQ(version_applies(unit_with("declarations"), "2.9", ""), Applies::unsure);
  EXPECT_EQ(version_applies(unit_with("2.11.0", /*inferred=*/true), "", "2.9"), Applies::unsure);
  EXPECT_EQ(version_applies(unit_with("2.8.0", /*inferred=*/true), "", "2.9"), Applies::yes);
}

} // namespace
} // namespace reprobe::scan
