// A stand-in for rocprofv3 in tests: a shell script that runs the program and leaves a table of
// counters where its options say.
#pragma once

namespace ww::e2e {

// The table is the file that the variable WW_PROFILE of the environment names.
inline constexpr const char* kFakeProfiler = R"(#!/bin/sh
while [ "$1" != -- ]; do
  [ "$1" = -d ] && folder=$2
  shift
done
shift
"$@"
mkdir -p "$folder"
cp "$WW_PROFILE" "$folder/out_counter_collection.csv"
)";

}  // namespace ww::e2e
