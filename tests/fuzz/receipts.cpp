// Receipts, heads, chains and lines of the ledger as they may come from anywhere: nothing crashes, and what is taken as
// good is in its one canonical form.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "cache/ledger/record.hpp"
#include "gateway/receipts/chain.hpp"
#include "gateway/receipts/envelope.hpp"
#include "gateway/receipts/statement.hpp"
#include "tests/support/sample_receipt.hpp"

namespace {

using namespace idem::gateway::receipts;

void check(bool holds) {
    if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const key_ring keys = idem::test::ring_of(idem::test::rfc8032_key());
    const std::string_view text(reinterpret_cast<const char*>(data), size);

    const opened o = unseal(text, receipt_type, keys);
    if (o.error.empty()) {
        check(canonical(text) == text);
        check(o.signer == idem::test::rfc8032_key().id());
    }
    static_cast<void>(check_statement(text));
    static_cast<void>(check_entry(text, text));
    static_cast<void>(prompt_token_digest(text));
    std::string error;
    static_cast<void>(signing_key::from_pem(text, error));
    static_cast<void>(key_ring::from_pem(text, error));

    // The first line is a head, the others are a chain.
    auditor a(keys);
    std::string_view rest = text;
    for (bool first = true; !rest.empty(); first = false) {
        const auto end = rest.find('\n');
        const std::string_view line = rest.substr(0, end);
        rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
        if (first)
            a.heads(line);
        else
            a.line(line);
        if (const auto r = idem::cache::decode_ledger_line({}, line)) check(encode_ledger_line(*r) == line);
    }
    const audit told = a.finish(0);
    check(told.covered <= told.lines);
    check(!told.faults.empty() || told.covered > 0);
    return 0;
}
