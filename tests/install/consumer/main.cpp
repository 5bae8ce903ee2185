// The smallest program that uses the installed package.

#include <exception>

#include "attn/core/error.hpp"

int main() {
  try {
    throw attn::Unsupported("app: nothing is built here");
  } catch (const attn::Error&) {
    return 0;
  }
}
