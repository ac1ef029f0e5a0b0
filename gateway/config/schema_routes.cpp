#include <array>

#include "gateway/config/bind.hpp"
#include "gateway/config/schema_table.hpp"

namespace idem::gateway::config::table {

using detail::member;

namespace {
constexpr std::array policy_keys{
    key{.path = "extends",
        .fallback = "relaxed",
        .help = "Policy whose values this one starts from: `relaxed` (cache, change nothing but usage), `seeded` (the "
                "client's temperature, a seed made of the request), `strict` (greedy decoding, from a known engine "
                "state), `offline` (stored answers only), `bypass` (plain proxy), or another policy of this file.",
        .to = member<&policy::base>()},
    key{.path = "ttl",
        .type = kind::duration,
        .help = "How long answers live; cache.ttl where not given.",
        .least = second,
        .most = 100 * year,
        .example = "365d",
        .to = member<&policy::ttl>()},
    key{.path = "eligible",
        .type = kind::choice,
        .fallback = "any",
        .help = "Which calls are cached: any; seeded (temperature 0 or a seed given); greedy (temperature 0 only).",
        .choices = "any|seeded|greedy",
        .to = member<&policy::eligible>()},
    key{.path = "conflict",
        .type = kind::choice,
        .help = "What becomes of a request that sets a parameter which strict or seeded fixes: reject (400, names the "
                "fields; where not given), override (the engine gets the policy's value), allow (the client's value "
                "stands, and the answer has no guarantee).",
        .choices = "reject|override|allow",
        .example = "override",
        .to = member<&policy::conflict>()},
    key{.path = "of",
        .help = "Of policies that extend offline: the policy whose stored answers are given; relaxed where not given.",
        .example = "audit",
        .to = member<&policy::of>()},
    key{.path = "items",
        .type = kind::choice,
        .fallback = "single",
        .help = "How an embeddings call with many inputs is kept: single (the whole call is one entry); batch (each "
                "input is an entry of its own, only those that are missing go upstream, and token counts become an "
                "estimate).",
        .choices = "single|batch",
        .to = member<&policy::items>()},
    key{.path = "store_truncated",
        .type = kind::boolean,
        .fallback = "true",
        .help = "Store answers that ended at a length limit which the request itself set.",
        .to = member<&policy::store_truncated>()},
    key{.path = "store_filtered",
        .type = kind::boolean,
        .fallback = "false",
        .help = "Store answers that a content filter ended.",
        .to = member<&policy::store_filtered>()},
    key{.path = "usage",
        .type = kind::choice,
        .fallback = "inject",
        .help = "inject: ask the upstream for token usage on streams and hide it from clients that did not ask; keep: "
                "change "
                "nothing.",
        .choices = "keep|inject",
        .to = member<&policy::usage_inject>()},
    key{.path = "finish_abandoned",
        .type = kind::boolean,
        .fallback = "false",
        .help = "Let a call run to its end, and store it, when its last client has left.",
        .to = member<&policy::finish_abandoned>()},
    key{.path = "store_required",
        .type = kind::boolean,
        .fallback = "false",
        .help = "Answer 503 instead of computing while the store cannot be asked: no second answer can come up.",
        .to = member<&policy::store_required>()},
    key{.path = "reject_malformed",
        .type = kind::boolean,
        .fallback = "false",
        .help = "Answer 400 to a body that is not well-formed JSON, instead of forwarding it uncached.",
        .to = member<&policy::reject_malformed>()},
    key{.path = "shadow.rate",
        .type = kind::ratio,
        .fallback = "0",
        .help = "Share of the hits and fills that are run again in the background, to compare the outputs; 0: none. "
                "Such a run never changes what is stored.",
        .example = "0.02",
        .to = member<&policy::shadow, &shadow_rules::rate>()},
    key{.path = "shadow.per_minute",
        .type = kind::integer,
        .fallback = "30",
        .help = "How many of them go to one upstream in a minute at most.",
        .least = 1,
        .most = 1'000'000,
        .to = member<&policy::shadow, &shadow_rules::per_minute>()},
    key{.path = "shadow.targets",
        .type = kind::texts,
        .fallback = "[same, sibling]",
        .help = "Who runs them: same (the replica that gave the answer), sibling (another one in the same "
                "environment, where there is one); of both, in turn.",
        .to = member<&policy::shadow, &shadow_rules::targets>()},
    key{.path = "receipts",
        .type = kind::boolean,
        .fallback = "false",
        .help =
            "Sign a receipt of every answer that is stored, and keep a record of each time one is given, in a chain "
            "that shows what was changed or left out. See `receipts` for keys and places.",
        .to = member<&policy::receipts>()},
    key{.path = "nfc",
        .type = kind::boolean,
        .fallback = "false",
        .help = "Write prompt text in Unicode Normalization Form C, in the key and in what is forwarded.",
        .to = member<&policy::nfc>()},
    key{.path = "collapse_whitespace",
        .type = kind::boolean,
        .fallback = "false",
        .help = "Make every run of white space in prompt text, line breaks too, one space, in the key and in what is "
                "forwarded.",
        .to = member<&policy::collapse_whitespace>()},
    key{.path = "trim",
        .type = kind::boolean,
        .fallback = "false",
        .help = "Take white space off both ends of each prompt text, in the key and in what is forwarded.",
        .to = member<&policy::trim>()},
    key{.path = "strip_pointers",
        .type = kind::texts,
        .help = "Members of request bodies that are taken out of the key and of what is forwarded: JSON pointers in "
                "which * stands for any key or element, and **/ at the beginning for any depth.",
        .example = "[/metadata/trace_id, /messages/*/name]",
        .to = member<&policy::strip_pointers>()},
};
}  // namespace
constinit const section policies{
    "policy", "How strict a route is. `relaxed`, `seeded`, `strict`, `offline` and `bypass` are built in.",
    policy_keys};

namespace {
constexpr std::array route_keys{
    key{.path = "name",
        .help = "Name of the route in logs; route-1, route-2, … where not given.",
        .to = member<&route::name>()},
    key{.path = "match.path",
        .help = "Path of the request, with * for any run of characters; any path where not given.",
        .example = "/v1/chat/*",
        .to = member<&route::path>()},
    key{.path = "match.model",
        .help = "Model that the request names, with * for any run of characters; any where not given.",
        .example = "qwen*",
        .to = member<&route::model>()},
    key{.path = "match.dialect",
        .help = "API of the request, with * for any run of characters: openai.chat, anthropic.messages, ollama.*, …; "
                "passthrough is every call that no API of ours knows. Any where not given.",
        .example = "openai.*",
        .to = member<&route::dialect>()},
    key{.path = "match.header",
        .type = kind::pairs,
        .help = "Request headers that must be there with these values, * for any run of characters. Names do not "
                "depend on case.",
        .example = "{x-scenario: audit}",
        .to = member<&route::headers>()},
    key{.path = "model",
        .help = "Name that the model goes upstream by, whatever the request calls it; the key is made of it. The "
                "request's own where not given.",
        .example = "Qwen/Qwen3-8B",
        .to = member<&route::rename>()},
    key{.path = "upstream",
        .help = "Upstream to send to; the only one where there is just one.",
        .example = "qwen",
        .to = member<&route::upstream>()},
    key{.path = "policy", .fallback = "relaxed", .help = "Policy of these requests.", .to = member<&route::policy>()},
};
}  // namespace
constinit const section routes{
    "route", "Matches requests to an upstream and a policy. The first match wins; one without match is the default.",
    route_keys};

}  // namespace idem::gateway::config::table
