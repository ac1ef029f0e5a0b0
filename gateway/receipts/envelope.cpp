#include "gateway/receipts/envelope.hpp"

#include <boost/json.hpp>

#include "cache/request/canonical.hpp"
#include "upstream/base/digest.hpp"

namespace idem::gateway::receipts {

namespace json = boost::json;

namespace {

constexpr std::string_view before_signature = R"({"signature":")", before_statement = R"(","statement":)";
constexpr std::size_t signature_digits = 128;

std::string bytes_of_hex(std::string_view hex) {
    const auto first = digest_from_hex(hex.substr(0, 64)), second = digest_from_hex(hex.substr(64));
    if (!first || !second) return {};
    std::string out(view(*first));
    out += view(*second);
    // Upper-case digits mean the same; only one way to write it counts.
    return to_hex(first->bytes) + to_hex(second->bytes) == hex ? out : std::string();
}

std::string text_member(const json::object& o, std::string_view name) {
    const json::value* v = o.if_contains(name);
    return v && v->is_string() ? std::string(v->get_string()) : std::string();
}

}  // namespace

std::string canonical(std::string_view json) {
    cache::canonicalizer c;
    const cache::canonical_form form = c.canonicalize(json, upstream::dialect::body_rules{});
    return form.why == reason::none ? std::string(form.text) : std::string();
}

std::string seal(std::string_view statement, const signing_key& key) {
    const std::string signature = key.sign(statement);
    std::string out(before_signature);
    out += to_hex({reinterpret_cast<const std::uint8_t*>(signature.data()), signature.size()});
    out.append(before_statement).append(statement).append("}");
    return out;
}

opened unseal(std::string_view text, std::string_view type, const key_ring& keys) {
    opened o;
    const std::size_t at = before_signature.size() + signature_digits;
    const bool shaped = text.size() <= longest_signed && text.size() > at + before_statement.size() + 2 &&
                        text.starts_with(before_signature) &&
                        text.substr(at, before_statement.size()) == before_statement && text.back() == '}';
    if (!shaped) {
        o.error = "this is not a signed statement of Idem";
        return o;
    }
    const std::string_view statement =
        text.substr(at + before_statement.size(), text.size() - at - before_statement.size() - 1);
    if (canonical(statement) != statement) {
        o.error = "the statement is not JSON in its canonical form (RFC 8785): it was changed or written anew";
        return o;
    }
    boost::system::error_code ec;
    const json::value parsed = json::parse(statement, ec);
    if (ec || !parsed.is_object()) {
        o.error = "the statement is not a JSON object";
        return o;
    }
    o.statement = statement;
    o.signer = text_member(parsed.get_object(), "signer");
    if (text_member(parsed.get_object(), "type") != type) {
        o.error = "the statement is not of type " + std::string(type);
    } else if (!keys.has(o.signer)) {
        o.error = "it was signed by key " + o.signer + ", which is not among the public keys given";
    } else {
        const std::string signature = bytes_of_hex(text.substr(before_signature.size(), signature_digits));
        if (signature.empty() || !keys.verify(o.signer, statement, signature))
            o.error = "the signature does not fit: a byte of the statement or of the signature was changed";
    }
    return o;
}

}  // namespace idem::gateway::receipts
