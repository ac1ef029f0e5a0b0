#pragma once
// A call and its receipt: what is handed to the book when an answer was stored or given, and what a caller gets who
// asks for the receipt (`Idem-Receipt: request`). Without a book (no policy has `receipts`) each costs one comparison.
#include <string>

#include "gateway/pipeline/fill.hpp"
#include "gateway/pipeline/record.hpp"
#include "gateway/receipts/book.hpp"

namespace idem::gateway::pipeline {

/// Longest value of the field Idem-Receipt; a receipt that is longer is had from the admin API alone.
inline constexpr std::size_t longest_receipt_field = 16 * 1024;

/// The book, where the caller asks for a receipt and the policy issues them; else null.
[[nodiscard]] receipts::book* receipt_wanted(const shared& common, const route_plan& route,
                                             const upstream::http::fields& headers) noexcept;
/// The value of Idem-Receipt: the receipt of this very answer in Base64 (RFC 4648 section 4). Empty: there is none.
[[nodiscard]] net::task<std::string> receipt_field(receipts::book& from, cache::entry_ptr answer);

/// `answer` was stored as what `order` is answered with.
void issue_receipt(services& at, const asked& order, const cache::entry_ptr& answer);
/// An answer was given.
void record_serving(services& at, const finished& f);

}  // namespace idem::gateway::pipeline
