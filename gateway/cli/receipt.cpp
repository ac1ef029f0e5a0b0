#include "gateway/cli/receipt.hpp"

#include <boost/json.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>

#include "gateway/cli/admin_call.hpp"
#include "gateway/cli/files.hpp"
#include "gateway/receipts/chain.hpp"
#include "gateway/receipts/envelope.hpp"
#include "gateway/receipts/statement.hpp"

namespace idem::gateway::cli {

namespace json = boost::json;

namespace {

int complain(const std::string& why) {
    std::cerr << "idem: " << why << "\n";
    return 1;
}

std::optional<std::string> read_or_complain(const std::string& path) {
    std::string error;
    auto text = read_file(path, error);
    if (!text) complain(error);
    return text;
}

std::optional<receipts::key_ring> keys_of(const receipt_action& a) {
    std::string path = a.public_key;
    if (path.empty()) path = config::load_from(a.where.from).result.value.data + "/receipts/public-keys.pem";
    const auto pem = read_or_complain(path);
    if (!pem) return std::nullopt;
    std::string error;
    auto ring = receipts::key_ring::from_pem(*pem, error);
    if (!ring) complain(path + ": " + error);
    return ring;
}

int say(const receipt_action& a, const json::object& as_json, const std::string& as_text, bool good) {
    if (a.output == form::json)
        std::cout << json::serialize(as_json) << "\n";
    else if (good)
        std::cout << as_text;
    else
        std::cerr << as_text;
    std::cout << std::flush;
    return good && std::cout ? 0 : 1;
}

int show(const receipt_action& a) {
    std::string target = "/admin/v1/entries/" + escaped(a.file) + "/receipt";
    if (!a.fill.empty()) target += "?fill=" + escaped(a.fill);
    const admin_answer got = call_admin(a.where, "GET", target);
    if (!got.trouble.empty()) return complain(got.trouble);
    if (got.status != 200) return complain(got.problem());
    // Nothing is added: a file made of this verifies.
    std::cout << got.body << std::flush;
    return std::cout ? 0 : 1;
}

std::string entry_fault(const receipt_action& a, std::string_view statement) {
    using receipts::entry_check;
    const auto body = read_or_complain(a.entry);
    if (!body) return "the entry cannot be read";
    switch (receipts::check_entry(statement, *body)) {
        case entry_check::same:
            return {};
        case entry_check::same_output:
            return a.normalised ? std::string()
                                : "the entry's bytes are not those that were signed, though its output is the same: "
                                  "another form, or without usage; --normalised takes that";
        case entry_check::unreadable:
            return "the statement does not say what its entry is";
        case entry_check::differs:
            break;
    }
    return "the entry is not the one that was signed";
}

int verify(const receipt_action& a) {
    const auto ring = keys_of(a);
    if (!ring) return 1;
    auto text = read_or_complain(a.file);
    if (!text) return 1;
    if (text->ends_with('\n')) text->pop_back();  // a line end that a shell or an editor put there
    const receipts::opened o = receipts::unseal(*text, receipts::receipt_type, *ring);
    std::string fault = o.error;
    if (fault.empty()) fault = receipts::check_statement(o.statement);
    if (fault.empty() && !a.entry.empty()) fault = entry_fault(a, o.statement);
    const bool good = fault.empty();
    json::object told{{"file", a.file}, {"good", good}, {"signer", o.signer}};
    if (!good) told["fault"] = fault;
    const std::string detail = a.entry.empty() ? "" : ", and of this entry";
    return say(a, told,
               good ? a.file + ": good, signed by key " + o.signer + detail + "\n" : a.file + ": " + fault + "\n",
               good);
}

int audit(const receipt_action& a) {
    const auto ring = keys_of(a);
    if (!ring) return 1;
    const auto heads = read_or_complain(a.head);
    if (!heads) return 1;
    std::ifstream file(a.file, std::ios::binary);
    if (!file) return complain("cannot read " + a.file + ": " + std::strerror(errno));
    receipts::auditor of(*ring);
    of.heads(*heads);
    std::size_t torn = 0;
    for (std::string line; std::getline(file, line);) {
        if (file.eof())
            torn = line.size();  // what a process was writing when it ended
        else
            of.line(line);
    }
    const receipts::audit found = of.finish(torn);
    const bool good = found.faults.empty();
    const auto list = [](const std::vector<std::string>& lines) { return json::array(lines.begin(), lines.end()); };
    const json::object told{{"file", a.file},
                            {"good", good},
                            {"chain", found.chain},
                            {"lines", found.lines},
                            {"covered", found.covered},
                            {"faults", list(found.faults)},
                            {"notes", list(found.notes)}};
    std::string text;
    for (const std::string& fault : found.faults) text += a.file + ": " + fault + "\n";
    if (good)
        text += a.file + ": good, " + std::to_string(found.lines) + " lines, " + std::to_string(found.covered) +
                " of them covered by a signed head\n";
    for (const std::string& note : found.notes) text += "note: " + note + "\n";
    return say(a, told, text, good);
}

int create_key(const receipt_action& a) {
    std::string error;
    const auto key = receipts::create_key(a.file, error);
    if (!key) return complain(error);
    std::cerr << "key " << key->id() << " was written to " << a.file << "; its public half:\n";
    std::cout << key->public_pem() << std::flush;
    return std::cout ? 0 : 1;
}

int public_key(const receipt_action& a) {
    const auto pem = read_or_complain(a.file);
    if (!pem) return 1;
    std::string error;
    const auto key = receipts::signing_key::from_pem(*pem, error);
    if (!key) return complain(a.file + ": " + error);
    std::cout << key->public_pem() << std::flush;
    return std::cout ? 0 : 1;
}

}  // namespace

int run_receipt(const receipt_action& a) {
    using what = receipt_action::what;
    switch (a.which) {
        case what::show:
            return show(a);
        case what::verify:
            return verify(a);
        case what::audit:
            return audit(a);
        case what::create_key:
            return create_key(a);
        case what::public_key:
            return public_key(a);
    }
    return 1;
}

}  // namespace idem::gateway::cli
