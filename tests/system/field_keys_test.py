#!/usr/bin/env python3
"""What users of other gateways reported about keys: something that matters was not in them, or something that does not matter was."""
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import field
import idem_test
from field import CHAT, cache_of, chat, post, row

USER, SYSTEM = {"role": "user", "content": "x"}, {"role": "system", "content": "be brief"}
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {"a": {}, "b": {}}}}}
SWAPPED = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {"b": {}, "a": {}}}}}


def differ(*bodies, path=CHAT, headers=None):
    """No two of these calls share an answer, and each is found again."""
    gateway = idem_test.serve(field.counting().url)
    answers = [post(gateway, body, headers, path) for body in bodies]
    for body, answer in zip(bodies, answers):
        assert cache_of(answer) == "MISS", (body, answer.headers)
        again = post(gateway, body, headers, path)
        assert cache_of(again) == "HIT" and again.body == answer.body, (body, again.headers)
    assert len({answer.body for answer in answers}) == len(bodies)


def agree(*bodies, headers=None):
    """The first of these calls fills, the others hit; `headers` may be a list, one for each."""
    gateway = idem_test.serve(field.counting().url)
    headers = headers or [None] * len(bodies)
    first = post(gateway, bodies[0], headers[0])
    assert cache_of(first) == "MISS", first.headers
    for body, fields in list(zip(bodies, headers))[1:]:
        answer = post(gateway, body, fields)
        assert cache_of(answer) == "HIT" and answer.body == first.body, (body, fields, answer.headers)


# ---- Wrong answers: something that matters was not in the key ---------------------------------------------------------

@row("BerriAI/litellm#894")
def test_limits_biases_and_seeds_count():
    differ(chat(), chat(seed=1), chat(seed=2), chat(max_tokens=1), chat(max_tokens=2), chat(logit_bias={"1": 1}), chat(logit_bias={"1": 2}))


@row("BerriAI/litellm#5049", "BerriAI/litellm#42400")
def test_parameters_of_one_provider_count():
    differ(chat(top_k=1), chat(top_k=50), chat(nobody_knows_this=1), chat(nobody_knows_this=2))
    gateway = idem_test.serve(idem_test.simulate("--engine", "ollama").url)
    calls = [{"model": "m", "stream": False, "messages": [USER], "options": {"num_ctx": size}} for size in (2048, 8192)]
    assert [cache_of(post(gateway, call, path="/api/chat")) for call in calls * 2] == ["MISS", "MISS", "HIT", "HIT"]


@row("BerriAI/litellm#3199")
def test_the_model_counts_and_no_cache_is_obeyed():
    differ(chat(model="a"), chat(model="b"), chat(model="A"))
    gateway = idem_test.serve(field.counting().url)
    first, anew = post(gateway, chat()), post(gateway, chat(), {"Cache-Control": "no-cache"})
    assert cache_of(anew) == "MISS" and anew.body != first.body, anew.headers
    assert post(gateway, chat()).body == first.body, "the first answer stays"


@row("BerriAI/litellm#8706")
def test_the_response_format_counts():
    differ(chat(), chat(response_format={"type": "json_object"}), chat(response_format={"type": "text"}))


@row("BerriAI/litellm#3272")
def test_another_number_of_choices_is_another_call():
    numbers = iter(range(100))

    def answer(call):
        whole = field.completion(f"answer {next(numbers)}")
        whole["choices"] = [{**whole["choices"][0], "index": n} for n in range(call.get("n", 1))]
        return field.raw_upstream.sized(json.dumps(whole))

    for order in ((1, 3), (3, 1)):
        gateway = idem_test.serve(field.upstream(answer).url)
        for n in order:
            made, again = post(gateway, chat(n=n)), post(gateway, chat(n=n))
            assert cache_of(made) == "MISS" and cache_of(again) == "HIT" and made.body == again.body
            assert len(json.loads(made.body)["choices"]) == n


@row("theopenco/llmgateway#3747", "nadirclaw#90")
def test_tools_count_with_the_order_of_their_schemas():
    differ(chat(), chat(tools=[TOOL]), chat(tools=[SWAPPED]), chat(tools=[TOOL], tool_choice="none"), chat(tools=[TOOL], tool_choice="required"),
           {"model": "m", "messages": [USER, {"role": "tool", "tool_call_id": "a", "content": "1"}]},
           {"model": "m", "messages": [USER, {"role": "tool", "tool_call_id": "b", "content": "1"}]})


@row("apache/apisix#13654")
def test_structure_counts_and_not_only_the_text_in_it():
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    text = {"type": "text", "text": "hi"}
    differ(chat("hi"), chat([text]), chat([text, picture]), chat([picture, text]), chat([{"type": "text", "text": "h"}, {"type": "text", "text": "i"}]))


@row("zilliztech/GPTCache#8", "zilliztech/GPTCache#435", "radicalbit#29", "Higress: the last message is the key")
def test_every_message_counts():
    question = {"role": "user", "content": "how old is he"}
    differ({"model": "m", "messages": [{"role": "user", "content": "Ada"}, question]}, {"model": "m", "messages": [{"role": "user", "content": "Bob"}, question]},
           {"model": "m", "messages": [SYSTEM, question]}, {"model": "m", "messages": [question]}, {"model": "m", "messages": [question, question]},
           {"model": "n", "messages": [question]})
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}
    steps = [{"model": "m", "messages": [question] + [call, {"role": "tool", "tool_call_id": "1", "content": "again"}] * n} for n in range(4)]
    differ(*steps)


@row("OrcaRouter-Lite#84", "OrcaRouter-Lite#155", "lobster#130")
def test_absent_is_no_default():
    differ(chat(), chat(temperature=0), chat(temperature=1), chat(max_tokens=16), chat(top_p=1), chat(n=1))


@row("lm-evaluation-harness#3881", "lm-evaluation-harness#3897")
def test_parameters_of_generation_count():
    differ(chat(), chat(stop=["\n"]), chat(stop=["\n\n"]), chat(stop="\n"), chat(top_p=0.5), chat(presence_penalty=1), chat(repetition_penalty=1))


@row("maximhq/bifrost: request families collide")
def test_the_endpoint_counts():
    gateway = idem_test.serve(field.counting().url)
    body = {"model": "m", "messages": [USER], "input": "x", "max_tokens": 5}
    digests = [post(gateway, body, path=path).headers["idem-request"] for path in (CHAT, "/v1/completions", "/v1/responses", "/v1/messages")]
    assert len(set(digests)) == 4, digests


@row("tensorzero#6594", "tensorzero#6715", "api7/aisix#218")
def test_no_change_of_any_field_at_any_depth_goes_unseen():
    base = chat("x", temperature=0.5, tools=[TOOL], stop=["a", "b"], response_format={"type": "json_object"}, logit_bias={"7": 1}, seed=1)
    changed = []

    def change(value, put):
        if isinstance(value, dict):
            for name in value:
                change(value[name], lambda new, name=name: put({**value, name: new}))
                put({other: item for other, item in value.items() if other != name})
            put({**value, "added": 1})
        elif isinstance(value, list):
            for n, item in enumerate(value):
                change(item, lambda new, n=n: put([*value[:n], new, *value[n + 1:]]))
            put([*value, *value[-1:]])
        else:
            put(f"{value}+" if isinstance(value, str) else value + 1)

    change(base, changed.append)
    lines = "\n".join(json.dumps(body) for body in [base, *changed]) + "\n"
    done = subprocess.run([idem_test.BINARY, "key", "--lines", "-"], input=lines, capture_output=True, text=True, check=False)
    digests = done.stdout.split()
    assert len(digests) == len(changed) + 1 > 40, (len(changed), done.stderr)
    cacheable = [digest for digest in digests if len(digest) == 64]
    assert len(set(cacheable)) == len(cacheable) >= len(changed) - 1, "all but the one without a model have digests of their own"


@row("ENTERPILOT/GoModel: duplicate keys", "a2aproject/A2A#1769")
def test_a_key_that_stands_twice_is_never_cached():
    gateway = idem_test.serve(field.counting().url)
    for body in (b'{"model":"a","model":"b","messages":[]}', b'{"model":"m","messages":[],"temperature":0,"temperature":1}',
                 b'{"model":"m","messages":[{"role":"user","role":"system","content":"x"}]}', b'{"model":"m","messages":[],"a":1,"\\u0061":2}'):
        answers = [post(gateway, body) for _ in range(2)]
        assert [cache_of(answer) for answer in answers] == ["BYPASS", "BYPASS"] and answers[0].body != answers[1].body, body
        assert "body_duplicate_key" in answers[0].headers["cache-status"], answers[0].headers


def spelled(number):
    return b'{"model":"m","messages":[],"seed":' + number + b"}"


@row("vLLM-SR and LiteLLM: the text of a number is the key")
def test_numbers_count_by_value():
    for same in ((b"0", b"0.0", b"-0", b"0e0", b"-0.0e9"), (b"1", b"1.0", b"1e0", b"10e-1"), (b"0.1", b"1e-1", b"0.10000000000000001")):
        agree(*map(spelled, same))
    differ(*map(spelled, (b"9007199254740992", b"9007199254740993", b"0", b"1", b'"1"')))
    gateway = idem_test.serve(field.counting().url)
    refused = post(gateway, spelled(b"1e400"))
    assert cache_of(refused) == "BYPASS" and "body_number_range" in refused.headers["cache-status"], refused.headers


@row("AISIX: floats are cut to thousandths")
def test_small_differences_count():
    differ(chat(temperature=0), chat(temperature=0.0004), chat(temperature=-1), chat(top_p=0.9991), chat(top_p=0.9999))


@row("openclaw#100957", "openclaw#101009", "modelcontextprotocol SEP-3004")
def test_unicode_is_compared_as_it_is():
    differ(chat("\u00e9"), chat("e\u0301"), chat("\ufffd"), chat("\u212b"), chat("\u00c5"))
    agree(b'{"model":"m","messages":[{"role":"user","content":"\xc3\xa9"}]}', b'{"model":"m","messages":[{"role":"user","content":"\\u00e9"}]}',
          b'{"model":"m","messages":[{"role":"user","content":"\\u00E9"}]}')
    gateway = idem_test.serve(field.counting().url)
    for text in (b'"\\ud83d"', b'"\\ude00\\ud83d"', b'"\xed\xa0\xbd"'):
        alone = post(gateway, b'{"model":"m","messages":[{"role":"user","content":' + text + b"}]}")
        assert cache_of(alone) == "BYPASS" and "body_invalid_utf8" in alone.headers["cache-status"], (text, alone.headers)


@row("LiteLLM: fields are joined without delimiters")
def test_no_two_fields_run_together():
    differ(chat(a="b", c="d"), chat(a="bc", d=""), chat(a='b","c":"d'), chat(ab="", c="d"), chat(stop=["a", "b"]), chat(stop=["ab"]), chat(stop=["a,b"]))


# ---- Never a hit: something irrelevant was in the key -----------------------------------------------------------------

@row("BerriAI/litellm#40128", "LiteLLM: the order of keys is the key", "Portkey and Helicone: the raw body is the key")
def test_order_and_white_space_do_not_count():
    agree(b'{"model":"m","messages":[{"role":"user","content":"x"}],"temperature":0}', b'{"temperature":0,"messages":[{"role":"user","content":"x"}],"model":"m"}',
          b'{"temperature":0,"model":"m","messages":[{"content":"x","role":"user"}]}', b' {\r\n\t"model" : "m", "messages" : [ { "role":"user" ,"content":"x"} ] ,"temperature":0 } ')


@row("langchain#39594")
def test_a_parameter_that_changed_is_seen_though_the_body_was_remembered():
    gateway = idem_test.serve(field.counting().url)
    one, two = chat(temperature=0.25), chat(temperature=0.75)
    answers = {}
    for body in (one, one, one, two, two, one, two):
        text = post(gateway, body).body
        assert answers.setdefault(body["temperature"], text) == text, body
    assert len(set(answers.values())) == 2


@row("LiteLLM: users and labels are in the key")
def test_who_asks_and_how_it_is_labelled_does_not_count():
    labels = [{}, {"user": "ada"}, {"user": "bob"}, {"safety_identifier": "s"}, {"prompt_cache_key": "k"}, {"metadata": {"run": "1"}}, {"store": False},
              {"prompt_cache_retention": "24h"}, {"user": None}]
    agree(*(chat(**label) for label in labels))


@row("daimon#532")
def test_a_retry_is_the_same_call():
    fields = [{"x-stainless-retry-count": "0", "x-request-id": "1", "traceparent": "00-0-0-00"}, {"x-stainless-retry-count": "1", "x-request-id": "2"},
              {"x-stainless-retry-count": "2", "User-Agent": "other", "x-stainless-timeout": "9"}]
    agree(*[chat()] * 3, headers=fields)


@row("KeeperHub#1877", "freellmapi#1094", "freellmapi#1095")
def test_a_name_binds_its_call_and_a_new_name_is_no_new_call():
    agree(*[chat()] * 3, headers=[{"Idempotency-Key": name} for name in ("one", "two", "one")])
    gateway = idem_test.serve(field.counting().url)
    assert post(gateway, chat("a"), {"Idempotency-Key": "name"}).status == 200
    assert post(gateway, chat("b"), {"Idempotency-Key": "name"}).status == 422


@row("gke-labs/kube-agents#213", "langchain#33883", "langchain#33915", "langchain#31949", "langchain#32622")
def test_members_that_change_with_every_call_can_be_left_out():
    upstream = field.counting()
    file = pathlib.Path(idem_test.scratch()) / "idem.yaml"
    file.write_text(f"""
cache: {{store: memory}}
upstreams: [{{name: u, replicas: [{{url: "{upstream.url}"}}]}}]
policies: {{agents: {{strip_pointers: [/messages/*/timestamp, /messages/*/id]}}}}
routes: [{{policy: agents}}]
""", encoding="utf-8")
    gateway = idem_test.serve(config=file)

    def turn(**of_message):
        return json.dumps({"model": "m", "messages": [{"role": "user", "content": "x", **of_message}]}).encode()

    calls = [turn(timestamp="2026-11-30T12:00:00Z", id="run-1"), turn(timestamp="2026-11-30T12:00:01Z", id="run-2"), turn()]
    assert [post(gateway, call).headers["x-cache"] for call in calls] == ["MISS", "HIT", "HIT"]
    assert b"timestamp" not in upstream.requests[0] and b"run-1" not in upstream.requests[0], upstream.requests[0]
    assert post(gateway, turn(name="other")).headers["x-cache"] == "MISS"


# ---- Whose answers ----------------------------------------------------------------------------------------------------

@row("maximhq/bifrost#5769", "vllm-project/semantic-router#1448", "vllm-project/semantic-router#1538", "OmniRoute#3740", "Portkey: no tenant in the key")
def test_nobody_gets_what_another_credential_filled():
    gateway = idem_test.serve(field.counting().url)
    callers = [{}, {"Authorization": "Bearer a"}, {"Authorization": "Bearer b"}, {"x-api-key": "a"}, {"api-key": "a"}]
    widening = [{"Idem-Namespace": "shared"}, {"x-portkey-cache-namespace": "a"}, {"cf-aig-cache-key": "same"}, {"helicone-cache-seed": "same"}]
    bodies = [post(gateway, chat(), caller).body for caller in callers]
    assert len(set(bodies)) == len(callers)
    for wish in widening:
        for caller, own in list(zip(callers, bodies))[1:]:
            given = post(gateway, chat(), {**caller, **wish}).body
            assert given == own or given not in bodies, (caller, wish)


@row("apisix: variables are joined without escaping")
def test_a_value_of_a_header_cannot_forge_another_scope():
    gateway = idem_test.serve(field.counting().url)
    scopes = [{"openai-organization": "ab", "openai-project": "c"}, {"openai-organization": "a", "openai-project": "bc"}, {"openai-organization": "abc"},
              {"openai-organization": "ab,c"}, {"openai-organization": "ab:c"}, {"openai-project": "ab|c"}]
    assert len({post(gateway, chat(), scope).body for scope in scopes}) == len(scopes)


@row("aisix#350")
def test_the_digest_that_is_told_is_the_one_that_the_specification_gives():
    gateway = idem_test.serve(field.counting().url)
    for body in (chat(), chat("\u00e9", temperature=0.0), chat(tools=[SWAPPED])):
        text = json.dumps(body)
        told = post(gateway, text.encode()).headers["idem-request"]
        shown = subprocess.run([idem_test.BINARY, "key", "-o", "json", "-"], input=text, capture_output=True, text=True, check=True).stdout
        assert json.loads(shown)["digest"] == told, (body, shown)


field.main("keys")
