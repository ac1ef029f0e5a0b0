#pragma once
// The book of receipts that the configuration asks for.
#include <memory>
#include <string>

#include "cache/store/coordination.hpp"
#include "gateway/config/config.hpp"
#include "gateway/receipts/book.hpp"

namespace idem::gateway::app {

/// Null without an error where no policy has receipts. `control`: the executor of a thread that runs until the book is
/// closed, and that is not the book's; heads for Redis are written there. `store` outlives the book.
[[nodiscard]] std::unique_ptr<receipts::book> open_book(const config::configuration& c, upstream::net::executor control,
                                                        cache::coordination* store, std::string& error);

}  // namespace idem::gateway::app
