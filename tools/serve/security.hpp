/// Who may ask: the Host a request names, the page it comes from, and what a browser is told.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string_view>

#include "tools/serve/message.hpp"
#include "tools/serve/options.hpp"

namespace attn::serve {

/// Whether the server goes by the name in a Host header. A page of another name whose address
/// was turned to this machine (DNS rebinding) comes with its own name. Addresses cannot be
/// turned: behind a loopback address loopback ones are accepted, else all.
bool is_own_name(std::string_view host_header, const Options& options);

/// Whether a page of `origin` may ask: the server's own, or one that was allowed.
bool may_ask(std::string_view origin, std::string_view host_header, const Options& options);

/// Puts in what every response says to a browser, and the headers of allowed origins.
void add_security_headers(const Request& request, const Options& options, Response& response);

}  // namespace attn::serve
