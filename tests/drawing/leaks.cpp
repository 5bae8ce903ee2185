// fontconfig keeps its tables for the life of a process; the leak sanitizer should not count
// them. SPDX-License-Identifier: Apache-2.0

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the sanitizer's name
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libfontconfig";
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
