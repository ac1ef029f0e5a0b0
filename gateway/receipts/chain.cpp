#include "gateway/receipts/chain.hpp"

#include <algorithm>
#include <boost/json.hpp>

#include "gateway/receipts/envelope.hpp"

namespace idem::gateway::receipts {

namespace json = boost::json;

namespace {

std::string text_in(const json::object& o, std::string_view name) {
    const json::value* v = o.if_contains(name);
    return v && v->is_string() ? std::string(v->get_string()) : std::string();
}

std::optional<std::int64_t> number_in(const json::object& o, std::string_view name) {
    const json::value* v = o.if_contains(name);
    return v && v->is_int64() ? std::optional(v->get_int64()) : std::nullopt;
}

std::string line_text(std::uint64_t n) {
    return "line " + std::to_string(n);
}

}  // namespace

std::string next_line(chain_end& end, std::string_view body) {
    std::string raw = R"({"body":)";
    raw.append(body).append(R"(,"n":)").append(std::to_string(end.n + 1)).append(R"(,"prev":")");
    raw.append(to_hex(end.last.bytes)).append("\"}");
    std::string line = canonical(raw);
    ++end.n;
    end.last = sha256(line);
    return line;
}

std::string head_of(const chain_end& end, std::int64_t unix_ms, const signing_key& key) {
    const json::object o{{"type", head_type},
                         {"signer", key.id()},
                         {"chain", end.chain},
                         {"lines", end.n},
                         {"last", to_hex(end.last.bytes)},
                         {"time", unix_ms}};
    return seal(canonical(json::serialize(o)), key);
}

bool chain_reader::fail(std::string why) {
    error_ = line_text(end_.n + 1) + ": " + std::move(why);
    return false;
}

bool chain_reader::take(std::string_view line) {
    if (line.size() > longest_line || canonical(line) != line) return fail("it is not JSON in its canonical form");
    boost::system::error_code ec;
    const json::value parsed = json::parse(line, ec);
    const json::object* o = ec ? nullptr : parsed.if_object();
    const json::value* body = o ? o->if_contains("body") : nullptr;
    const json::object* what = body ? body->if_object() : nullptr;
    if (!what) return fail("it is no record of a chain");
    const auto n = number_in(*o, "n");
    if (!n || static_cast<std::uint64_t>(*n) != end_.n + 1)
        return fail("it is numbered " + (n ? std::to_string(*n) : "nothing") + ": lines are missing or were moved");
    if (text_in(*o, "prev") != to_hex(end_.last.bytes))
        return fail(end_.n == 0 ? "it is not the first of a chain"
                                : "it does not follow the line before: one of the two was changed");
    type_ = text_in(*what, "type");
    if (end_.n == 0) {
        end_.chain = text_in(*what, "chain");
        if (type_ != "begin" || !id128_from_hex(end_.chain)) return fail("a chain begins with its id");
    }
    if (type_ == "gap")
        lost_ += static_cast<std::uint64_t>(std::max<std::int64_t>(0, number_in(*what, "records").value_or(0)));
    ++counts_[counts_.size() < 64 ? type_ : std::string("other")];
    ++end_.n;
    end_.last = sha256(line);
    return true;
}

std::optional<head> read_head(std::string_view text, const key_ring& keys, std::string& error) {
    const opened o = unseal(text, head_type, keys);
    error = o.error;
    if (!error.empty()) return std::nullopt;
    const json::value parsed = json::parse(o.statement);
    const json::object& of = parsed.get_object();
    const auto lines = number_in(of, "lines"), time = number_in(of, "time");
    const auto last = digest_from_hex(text_in(of, "last"));
    if (!lines || *lines < 0 || !time || !last) {
        error = "the head lacks a member";
        return std::nullopt;
    }
    return head{{text_in(of, "chain"), static_cast<std::uint64_t>(*lines), *last}, *time, o.signer};
}

void auditor::heads(std::string_view text) {
    for (std::size_t number = 1; !text.empty(); ++number) {
        const auto end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
        if (line.empty()) continue;
        std::string error;
        if (auto h = read_head(line, keys_, error)) {
            by_length_.emplace(h->at.n, heads_.size());
            heads_.push_back(std::move(*h));
        } else {
            bad_heads_.push_back("head " + std::to_string(number) + ": " + error);
        }
    }
}

void auditor::line(std::string_view text) {
    if (broken_) return;
    if (!reader_.take(text)) {
        faults_.push_back(reader_.error());
        broken_ = true;
        return;
    }
    const auto [from, to] = by_length_.equal_range(reader_.end().n);
    for (auto i = from; i != to; ++i) {
        const head& h = heads_[i->second];
        if (h.at.chain == reader_.end().chain && h.at.last != reader_.end().last)
            faults_.push_back(line_text(reader_.end().n) +
                              ": it is not the line that was there when the head was signed");
    }
}

audit auditor::finish(std::size_t torn) {
    audit a;
    a.chain = reader_.end().chain;
    a.lines = reader_.end().n;
    a.faults = std::move(bad_heads_);
    a.faults.insert(a.faults.end(), faults_.begin(), faults_.end());
    std::size_t others = 0;
    std::uint64_t longest = 0;
    for (const head& h : heads_) {
        if (h.at.chain != a.chain) {
            ++others;
            continue;
        }
        longest = std::max(longest, h.at.n);
        if (h.at.n <= a.lines) a.covered = std::max(a.covered, h.at.n);
    }
    if (longest > a.lines && !broken_)
        a.faults.push_back("the chain ends after " + line_text(a.lines) + ", but a head was signed for " +
                           std::to_string(longest) + " lines: lines at its end are missing");
    if (a.lines == 0 && !broken_) a.faults.push_back("the file holds no chain");
    if (longest == 0 && a.faults.empty())
        a.faults.push_back("no head is one of this chain: nothing proves where it ended");
    if (others > 0) a.notes.push_back(std::to_string(others) + " heads are of other chains");
    if (!broken_ && a.lines > a.covered && a.covered > 0)
        a.notes.push_back(std::to_string(a.lines - a.covered) +
                          " lines at the end are younger than the last head, which says nothing about them");
    if (torn > 0)
        a.notes.push_back("behind the last line stand " + std::to_string(torn) +
                          " bytes of one that was never finished");
    const auto& counts = reader_.counts();
    const auto resumed = counts.find("resumed");
    if (resumed != counts.end())
        a.notes.push_back("a process ended without closing the chain " + std::to_string(resumed->second) +
                          " times: what it had not written by then is not in it");
    if (reader_.lost() > 0)
        a.notes.push_back(std::to_string(reader_.lost()) +
                          " records were lost to a full queue or disk, as the chain itself says");
    return a;
}

}  // namespace idem::gateway::receipts
