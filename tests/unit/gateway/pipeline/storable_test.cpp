#include "gateway/pipeline/storable.hpp"

#include <doctest/doctest.h>

using namespace idem;
using namespace idem::gateway;
using pipeline::answer_facts;
using pipeline::judge_answer;
using pipeline::judge_head;
using upstream::dialect::form;
using upstream::http::body_framing;

namespace {

upstream::http::response_head head_of(unsigned status, std::string_view type, std::string_view extra_name = {},
                                      std::string_view extra = {}) {
    upstream::http::response_head h;
    h.status = status;
    if (!type.empty()) h.headers.add("Content-Type", type);
    if (!extra_name.empty()) h.headers.add(extra_name, extra);
    return h;
}

answer_facts good() {
    answer_facts f;
    f.framing = body_framing::chunked;
    f.framing_complete = true;
    return f;
}

}  // namespace

TEST_CASE("only a 200 of the expected content type, unencoded, can be stored") {
    upstream::dialect::call call;
    CHECK(judge_head(head_of(200, "application/json"), call).refuse == reason::none);
    CHECK(judge_head(head_of(200, "Application/JSON; charset=utf-8"), call).refuse == reason::none);
    CHECK(judge_head(head_of(200, "text/html"), call).refuse == reason::unexpected_content_type);
    CHECK(judge_head(head_of(200, ""), call).refuse == reason::unexpected_content_type);
    CHECK(judge_head(head_of(201, "application/json"), call).refuse == reason::status_not_ok);
    CHECK(judge_head(head_of(200, "application/json", "Content-Encoding", "gzip"), call).refuse ==
          reason::content_encoded);
    CHECK(judge_head(head_of(200, "application/json", "Content-Encoding", "identity"), call).refuse == reason::none);
    CHECK(judge_head(head_of(200, "application/json", "Vary", "*"), call).refuse == reason::upstream_no_store);
    call.wanted = form::sse;
    CHECK(judge_head(head_of(200, "text/event-stream"), call).refuse == reason::none);
    CHECK(judge_head(head_of(200, "application/json"), call).refuse == reason::unexpected_content_type);
}

TEST_CASE("each way to be incomplete has its own reason") {
    const upstream::dialect::call call;
    const config::policy policy;
    CHECK(judge_answer(good(), form::json, call, policy) == reason::none);
    auto f = good();
    f.framing_complete = false;
    CHECK(judge_answer(f, form::json, call, policy) == reason::framing_incomplete);
    f.broke = reason::upstream_timeout;
    f.head = reason::unexpected_content_type;
    CHECK(judge_answer(f, form::json, call, policy) ==
          reason::upstream_timeout);  // why it broke comes before what it was
    f = good();
    f.framing = body_framing::close_delimited;
    CHECK(judge_answer(f, form::json, call, policy) == reason::close_delimited);
    f = good();
    f.too_large = true;
    CHECK(judge_answer(f, form::json, call, policy) == reason::entry_too_large);
    f = good();
    f.content.refuse = reason::terminal_missing;
    CHECK(judge_answer(f, form::json, call, policy) == reason::terminal_missing);
}

TEST_CASE("length is stored only if the caller set the limit and the policy allows it") {
    upstream::dialect::call call;
    config::policy policy;
    auto f = good();
    f.content.length_limited = true;
    CHECK(judge_answer(f, form::json, call, policy) == reason::answer_truncated);
    call.limit_set = true;
    CHECK(judge_answer(f, form::json, call, policy) == reason::none);
    policy.store_truncated = false;
    CHECK(judge_answer(f, form::json, call, policy) == reason::answer_truncated);
}

TEST_CASE("filtered answers are stored only by a policy that says so") {
    const upstream::dialect::call call;
    config::policy policy;
    auto f = good();
    f.content.refuse = reason::content_filtered;
    CHECK(judge_answer(f, form::json, call, policy) == reason::content_filtered);
    policy.store_filtered = true;
    CHECK(judge_answer(f, form::json, call, policy) == reason::none);
}

TEST_CASE("a close-delimited answer ends cleanly only if its content proves itself whole") {
    auto f = good();
    f.framing = body_framing::close_delimited;
    CHECK(pipeline::ends_cleanly(f, form::sse));
    f.content.refuse = reason::terminal_missing;
    CHECK_FALSE(pipeline::ends_cleanly(f, form::sse));
    CHECK(judge_answer(f, form::sse, {}, {}) == reason::upstream_truncated);
    f.content.refuse = reason::answer_malformed;
    CHECK_FALSE(pipeline::ends_cleanly(f, form::json));
    CHECK(judge_answer(f, form::json, {}, {}) == reason::upstream_truncated);
    f = good();
    f.content.refuse = reason::terminal_missing;  // framed properly: relayed as the upstream ended it
    CHECK(pipeline::ends_cleanly(f, form::sse));
    f.framing_complete = false;
    CHECK_FALSE(pipeline::ends_cleanly(f, form::sse));
}

TEST_CASE("fields of somebody else's request are not replayed") {
    for (auto name : {"Set-Cookie", "x-request-id", "x-ratelimit-remaining", "Date", "openai-processing-ms", "cf-ray"})
        CHECK_FALSE(pipeline::replayed(name));
    CHECK(pipeline::replayed("OpenAI-Model"));
}
