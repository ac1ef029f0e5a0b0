"""What an application does with the official SDK, run through Idem; the counterpart of js/anthropic_scenarios.mjs, with the
same environment variables. The SDK is configured by its environment variables alone."""
import json
import os
import threading
import time

import anthropic
from harness import STAMP, aborted_streams, main, raw, twice

MODEL = "simulated"
CLIENT = anthropic.Anthropic()
QUESTIONS = iter(range(1, 10_000))

TOOLS = [{"name": "paint", "description": "Paints the wall.",
          "input_schema": {"type": "object", "properties": {"colour": {"type": "string"}, "coats": {"type": "integer"}}, "required": ["colour"]}}]
WEB_SEARCH = [{"type": "web_search_20250305", "name": "web_search"}]
THINKING = {"type": "enabled", "budget_tokens": 1024}


def ask(**extra):
    """A request that nobody has sent before."""
    return {"model": MODEL, "max_tokens": 2048,
            "messages": [{"role": "user", "content": f'Question {STAMP}-{next(QUESTIONS)}: why is the sky blue? "quoted" é 漢 🙂'}], **extra}


def without_none(value):
    """The SDK's accumulator fills in null where the wire says nothing, and `parsed_output`."""
    if isinstance(value, dict):
        return {key: without_none(item) for key, item in value.items() if item is not None and key != "parsed_output"}
    return [without_none(item) for item in value] if isinstance(value, list) else value


def plain(message):
    return without_none(message if isinstance(message, dict) else json.loads(message.to_json()))


def accumulate(request):
    """What the SDK's own accumulator makes of a stream."""
    with CLIENT.messages.stream(**request) as stream:
        return plain(stream.get_final_message())


def both_forms(**extra):
    """An entry filled in one form answers the other form, and the SDK sees the same message both ways."""
    messages = CLIENT.messages
    one = ask(**extra)
    message = messages.create(**one)
    cache, body = raw(messages, **one, stream=True)
    assert cache == "HIT", f"a stream after an object: {cache}"
    assert body.rstrip().endswith(b'{"type":"message_stop"}')
    assert accumulate(one) == plain(message)

    two = ask(**extra)
    accumulated = accumulate(two)
    cache, body = raw(messages, **two)
    assert cache == "HIT", f"an object after a stream: {cache}"
    assert plain(json.loads(body)) == accumulated
    assert accumulate(two) == accumulated
    return message


def test_message():
    request = ask()
    twice(CLIENT.messages, **request)
    answer = CLIENT.messages.create(**request)
    assert (answer.type, answer.stop_reason) == ("message", "end_turn")
    assert answer.content[0].text
    assert answer.usage.input_tokens > 0


def test_streaming():
    request = ask(stream=True)
    twice(CLIENT.messages, **request)
    text, stop = "", None
    for event in CLIENT.messages.create(**request):
        if event.type == "content_block_delta":
            text += event.delta.text
        elif event.type == "message_delta":
            stop = event.delta.stop_reason
    assert text and stop == "end_turn"


def test_object_and_stream_share_an_entry():
    both_forms()


def test_tools():
    extra = {"tools": TOOLS, "tool_choice": {"type": "any"}}
    twice(CLIENT.messages, **ask(**extra))
    message = both_forms(**extra)
    call = message.content[0]
    assert (message.stop_reason, call.name, type(call.input["coats"])) == ("tool_use", "paint", int)
    answered = ask(**extra)
    answered["messages"] += [{"role": "assistant", "content": plain(message)["content"]},
                             {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call.id, "content": "done"}]}]
    twice(CLIENT.messages, **answered)


def test_thinking():
    message = both_forms(thinking=THINKING)
    assert [block.type for block in message.content] == ["thinking", "text"]
    both_forms(thinking=THINKING, tools=TOOLS)


def test_stop_sequence_and_limit():
    stopped = both_forms(stop_sequences=["e"])
    assert (stopped.stop_reason, stopped.stop_sequence) == ("stop_sequence", "e")
    assert both_forms(max_tokens=3).stop_reason == "max_tokens"


def test_counting_tokens():
    request = ask(system="Be kind.", tools=TOOLS)
    del request["max_tokens"]
    answers = []
    for expected in ("MISS", "HIT"):
        with CLIENT.messages.with_streaming_response.count_tokens(**request) as response:
            assert response.headers["x-cache"] == expected
            answers.append(response.read())
    assert answers[0] == answers[1]
    count = CLIENT.messages.count_tokens(**request)
    assert count.input_tokens == CLIENT.messages.create(**request, max_tokens=64).usage.input_tokens


def test_beta_messages():
    request = ask()
    twice(CLIENT.beta.messages, **request, betas=["context-management-2025-06-27"])
    cache, _ = raw(CLIENT.beta.messages, **request, betas=["interleaved-thinking-2025-05-14"])
    assert cache == "MISS", "the set of betas is part of what is asked"


def test_billing_line_of_a_coding_agent_changes_nothing():
    request = ask()
    caches = []
    for nonce in ("36ee5", "0aaa9"):
        line = f"x-anthropic-billing-header: cc_version=2.1.175.{nonce[:3]}; cc_entrypoint=cli; cch={nonce};"
        caches.append(raw(CLIENT.messages, **request, system=f"{line}\nYou are an agent.")[0])
    assert caches == ["MISS", "HIT"], caches


def test_tools_of_the_provider_are_not_cached():
    request = ask(tools=WEB_SEARCH)
    assert [raw(CLIENT.messages, **request)[0] for _ in range(2)] == ["BYPASS", "BYPASS"]


def test_each_credential_has_its_own_answers():
    request = ask()
    other = anthropic.Anthropic(api_key="another-key")
    assert [raw(client.messages, **request)[0] for client in (CLIENT, other, CLIENT)] == ["MISS", "MISS", "HIT"]


def test_aborted_stream():
    client = anthropic.Anthropic(base_url=os.environ["PROVIDER_URL"])
    request = {"model": f"endless-{STAMP}", "max_tokens": 64, "messages": [{"role": "user", "content": "go on"}], "stream": True}
    before = aborted_streams()
    stream = client.messages.create(**request)
    for _ in range(5):
        next(stream)
    stream.close()
    end = time.monotonic() + 10
    while aborted_streams() <= before:
        assert time.monotonic() < end, "the upstream was not told"
    with client.messages.with_streaming_response.create(**request) as response:
        assert response.headers["x-cache"] == "MISS", "a broken stream must not be stored"


def test_error_classes():
    client = anthropic.Anthropic(base_url=os.environ["PROVIDER_URL"], max_retries=0)
    classes = {400: anthropic.BadRequestError, 401: anthropic.AuthenticationError, 403: anthropic.PermissionDeniedError,
               404: anthropic.NotFoundError, 409: anthropic.ConflictError, 422: anthropic.UnprocessableEntityError,
               429: anthropic.RateLimitError, 500: anthropic.InternalServerError, 529: anthropic.APIStatusError}
    for status, kind in classes.items():
        for stream in (False, True):
            try:
                client.messages.create(model=f"fail-{status}", max_tokens=64, messages=[{"role": "user", "content": "x"}], stream=stream)
            except kind as error:
                assert error.status_code == status and error.body["error"]["message"] == f"made to fail with {status}", error
                assert error.request_id == f"req-{status}"
            else:
                raise AssertionError(f"{status} was no error")


def test_retry_after_a_refusal():
    client = anthropic.Anthropic(base_url=os.environ["PROVIDER_URL"])
    answer = client.messages.create(model=f"busy-once-{STAMP}", max_tokens=64, messages=[{"role": "user", "content": "x"}])
    assert answer.content[0].text == "fine"


def test_errors_of_the_gateway():
    dead = anthropic.Anthropic(base_url=os.environ["DEAD_URL"], max_retries=0)
    for request in (ask(), ask(stream=True), ask(tools=WEB_SEARCH)):
        try:
            dead.messages.create(**request)
        except anthropic.InternalServerError as error:
            assert error.body["type"] == "error" and error.body["error"]["type"] == "api_error", error.body
            assert error.body["error"]["code"], "the reason is the code"
        else:
            raise AssertionError("a dead upstream was no error")
    begun = time.monotonic()
    try:
        CLIENT.messages.create(**ask(), extra_headers={"Cache-Control": "only-if-cached"})
    except anthropic.APIStatusError as error:
        assert (error.status_code, error.body["error"]["type"]) == (504, "timeout_error")
    else:
        raise AssertionError("only-if-cached without an entry was no error")
    assert time.monotonic() - begun < 0.4, "x-should-retry: false keeps the SDK from trying again"


def test_many_threads_one_answer():
    request, answers = ask(), []

    def call():
        answers.append(CLIENT.messages.create(**request).to_json())

    threads = [threading.Thread(target=call) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(answers) == 16 and len(set(answers)) == 1


if __name__ == "__main__":
    main(globals())
