#include "gateway/receipts/chain.hpp"

#include <doctest/doctest.h>

#include "tests/support/sample_receipt.hpp"

using namespace idem;
using namespace idem::gateway::receipts;
using namespace idem::test;

namespace {

const signing_key key = rfc8032_key();
const key_ring ring = ring_of(key);
const std::string id(32, '1');

struct sample {
    std::vector<std::string> lines;
    chain_end end;

    explicit sample(int records = 4) {
        end.chain = id;
        lines.push_back(next_line(end, R"({"type":"begin","time":1,"chain":")" + id + "\"}"));
        for (int i = 0; i < records; ++i)
            lines.push_back(next_line(end, R"({"type":"served","time":)" + std::to_string(i) + "}"));
    }
    [[nodiscard]] std::string head() const { return head_of(end, 42, key); }
};

audit audit_of(const std::vector<std::string>& lines, std::string_view heads, std::size_t torn = 0) {
    auditor a(ring);
    a.heads(heads);
    for (const auto& line : lines) a.line(line);
    return a.finish(torn);
}

}  // namespace

TEST_CASE("the lines of a chain") {
    const sample s(1);
    CHECK(
        s.lines[0] ==
        R"({"body":{"chain":"11111111111111111111111111111111","time":1,"type":"begin"},"n":1,"prev":"0000000000000000000000000000000000000000000000000000000000000000"})");
    CHECK(s.lines[1] ==
          R"({"body":{"time":0,"type":"served"},"n":2,"prev":")" + to_hex(sha256(s.lines[0]).bytes) + "\"}");
    CHECK(s.end.last == sha256(s.lines[1]));
    std::string error;
    const auto h = read_head(s.head(), ring, error);
    REQUIRE(h);
    CHECK(h->at == s.end);
    CHECK(h->time == 42);
    CHECK(h->signer == key.id());
}

TEST_CASE("a whole chain is good, as far as a head covers it") {
    sample s;
    const std::string head = s.head();
    audit a = audit_of(s.lines, head + "\n");
    CHECK(a.faults.empty());
    CHECK(a.notes.empty());
    CHECK(a.lines == 5);
    CHECK(a.covered == 5);
    CHECK(a.chain == id);
    s.lines.push_back(next_line(s.end, R"({"type":"gap","records":3})"));
    a = audit_of(s.lines, head, 7);
    CHECK(a.faults.empty());
    CHECK(a.covered == 5);
    REQUIRE(a.notes.size() == 3);
    CHECK(a.notes[0].find("younger than the last head") != std::string::npos);
    CHECK(a.notes[1].find("7 bytes") != std::string::npos);
    CHECK(a.notes[2].find("3 records were lost") != std::string::npos);
}

TEST_CASE("whatever byte of a chain is changed, it is noticed") {
    const sample s(2);
    const std::string head = s.head();
    for (std::size_t l = 0; l < s.lines.size(); ++l)
        for (std::size_t i = 0; i < s.lines[l].size(); ++i)
            for (unsigned c = 0; c < 256; ++c) {
                auto lines = s.lines;
                lines[l][i] = static_cast<char>(c);
                if (lines != s.lines && audit_of(lines, head).faults.empty())
                    FAIL_CHECK("line " << l << ", byte " << i << " to " << c);
            }
}

TEST_CASE("whatever byte of a head is changed, it is noticed") {
    const sample s(2);
    const std::string head = s.head();
    for (std::size_t i = 0; i < head.size(); ++i)
        for (const int bit : {0x01, 0x20, 0x80, 0xff}) {
            std::string changed = head;
            changed[i] = static_cast<char>(changed[i] ^ bit);
            if (audit_of(s.lines, changed).faults.empty()) FAIL_CHECK("byte " << i);
        }
}

TEST_CASE("a line that is gone, moved or doubled is noticed, the last one too") {
    const sample s;
    for (std::size_t i = 0; i < s.lines.size(); ++i) {
        auto fewer = s.lines;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
        CHECK_FALSE(audit_of(fewer, s.head()).faults.empty());
        auto twice = s.lines;
        twice.insert(twice.begin() + static_cast<std::ptrdiff_t>(i), s.lines[i]);
        CHECK_FALSE(audit_of(twice, s.head()).faults.empty());
        CHECK_FALSE(
            audit_of({s.lines.begin(), s.lines.begin() + static_cast<std::ptrdiff_t>(i)}, s.head()).faults.empty());
        if (i == 0) continue;
        auto moved = s.lines;
        std::swap(moved[i], moved[i - 1]);
        CHECK_FALSE(audit_of(moved, s.head()).faults.empty());
    }
}

TEST_CASE("a chain that was made anew, or has no head, proves nothing") {
    const sample s;
    chain_end end;
    end.chain = id;
    std::vector<std::string> forged{next_line(end, R"({"type":"begin","time":1,"chain":")" + id + "\"}")};
    for (int i = 0; i < 4; ++i) forged.push_back(next_line(end, R"({"type":"served","time":99})"));
    CHECK_FALSE(audit_of(forged, s.head()).faults.empty());
    CHECK_FALSE(audit_of(s.lines, "").faults.empty());
    chain_end elsewhere = s.end;
    elsewhere.chain = std::string(32, '2');
    const audit a = audit_of(s.lines, head_of(elsewhere, 1, key));
    CHECK_FALSE(a.faults.empty());
    CHECK_FALSE(a.notes.empty());
    CHECK_FALSE(audit_of(s.lines, head_of(s.end, 1, *signing_key::create())).faults.empty());
    CHECK_FALSE(audit_of({}, s.head()).faults.empty());
}
