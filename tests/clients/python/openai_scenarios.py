"""What an application does with the official SDK, run through Idem; the counterpart of js/openai_scenarios.mjs, with the same
environment variables. The SDK is configured by its environment variables alone."""
import hashlib
import json
import os
import struct
import threading
import time

import openai
from harness import STAMP, TOOL, aborted_streams, main, raw, twice

LLAMA = os.environ["ENGINE"] == "llama"
MODEL = "tiny-random" if LLAMA else "simulated"
CLIENT = openai.OpenAI()
QUESTIONS = iter(range(1, 10_000))
TOOLS = [TOOL]


def ask(**extra):
    """A request that nobody has sent before."""
    return {"model": MODEL, "temperature": 0, "seed": 7, "max_tokens": 24,
            "messages": [{"role": "user", "content": f'Question {STAMP}-{next(QUESTIONS)}: why is the sky blue? "quoted" é 漢 🙂'}], **extra}


def accumulate(request):
    """What the SDK's own accumulator makes of a stream."""
    with CLIENT.chat.completions.stream(**request) as stream:
        stream.until_done()
        try:
            return stream.get_final_completion()
        except openai.LengthFinishReasonError as error:  # what the helper makes of an answer that met max_tokens
            return error.completion


def comparable(completion):
    """The parts that both forms carry; the helper adds `parsed`, and usage is only there if asked for."""
    whole = completion if isinstance(completion, dict) else completion.to_dict()
    choices = []
    for choice in whole["choices"]:
        message = choice["message"]
        calls = [{"id": call["id"], "type": call["type"],
                  "function": {key: call["function"][key] for key in ("name", "arguments")}} for call in message.get("tool_calls") or []]
        choices.append({"index": choice["index"], "finish_reason": choice["finish_reason"],
                        "logprobs": (choice.get("logprobs") or {}).get("content"),
                        "message": {"role": message["role"], "content": message.get("content"), "refusal": message.get("refusal"),
                                    "tool_calls": calls}})
    return {**{key: whole.get(key) for key in ("id", "created", "model", "system_fingerprint")}, "choices": choices}


def both_forms(stream_first=True, **extra):
    """An entry filled in one form answers the other form, and the SDK sees the same object both ways."""
    chat = CLIENT.chat.completions
    one = ask(**extra)
    answer = chat.create(**one)
    cache, body = raw(chat, **one, stream=True)
    assert cache == "HIT", f"a stream after an object: {cache}"
    assert body.rstrip().endswith(b"data: [DONE]")
    assert comparable(accumulate(one)) == comparable(answer)
    if not stream_first:
        return answer

    two = ask(**extra)
    accumulated = accumulate(two)
    cache, body = raw(chat, **two)
    assert cache == "HIT", f"an object after a stream: {cache}"
    assert comparable(json.loads(body)) == comparable(accumulated)
    assert comparable(accumulate(two)) == comparable(accumulated)
    return answer


def test_chat():
    request = ask()
    twice(CLIENT.chat.completions, **request)
    answer = CLIENT.chat.completions.create(**request)
    assert answer.object == "chat.completion"
    assert answer.choices[0].message.content
    assert answer.usage.total_tokens > 0


def test_streaming():
    request = ask(stream=True)
    twice(CLIENT.chat.completions, **request)
    text, finish = "", None
    for chunk in CLIENT.chat.completions.create(**request):
        assert chunk.usage is None, "usage that nobody asked for"
        if chunk.choices:
            text += chunk.choices[0].delta.content or ""
            finish = chunk.choices[0].finish_reason or finish
    assert text and finish in ("stop", "length")


def test_streaming_with_usage():
    request = ask(stream=True, stream_options={"include_usage": True})
    twice(CLIENT.chat.completions, **request)
    usage = None
    for chunk in CLIENT.chat.completions.create(**request):
        usage = chunk.usage or usage
    assert usage.total_tokens > 0
    del request["stream"], request["stream_options"]
    assert CLIENT.chat.completions.create(**request).usage.total_tokens == usage.total_tokens


def test_object_and_stream_share_an_entry():
    both_forms()


def test_tools():
    extra = {"tools": TOOLS, "tool_choice": "required", "max_tokens": 200}
    twice(CLIENT.chat.completions, **ask(**extra))
    answer = both_forms(**extra)
    call = answer.choices[0].message.tool_calls[0]
    assert call.function.name == "paint"
    assert answer.choices[0].finish_reason == "tool_calls"
    assert isinstance(json.loads(call.function.arguments), dict)


def test_two_choices():
    twice(CLIENT.chat.completions, **ask(n=2, temperature=0.8))
    # The SDK's accumulator cannot read a stream that begins with the second choice, as llama.cpp's now and then does.
    answer = both_forms(stream_first=not LLAMA, n=2, temperature=0.8)
    assert sorted(choice.index for choice in answer.choices) == [0, 1]


def test_logprobs():
    extra = {"logprobs": True, "top_logprobs": 2}
    twice(CLIENT.chat.completions, **ask(**extra))
    answer = both_forms(**extra)
    assert len(answer.choices[0].logprobs.content[0].top_logprobs) == 2


def test_completions():
    request = {"model": MODEL, "prompt": f"Once {STAMP}-{next(QUESTIONS)}", "max_tokens": 12, "temperature": 0}
    twice(CLIENT.completions, **request)
    assert CLIENT.completions.create(**request).choices[0].text
    streamed = {**request, "prompt": f"Twice {STAMP}-{next(QUESTIONS)}", "stream": True}
    twice(CLIENT.completions, **streamed)
    assert "".join(chunk.choices[0].text for chunk in CLIENT.completions.create(**streamed) if chunk.choices)


def test_embeddings():
    client = openai.OpenAI(base_url=os.environ["EMBEDDINGS_BASE_URL"])
    texts = [f"one {STAMP}", f"two {STAMP}"]
    twice(client.embeddings, model=MODEL, input=texts, encoding_format="base64")
    usual = client.embeddings.create(model=MODEL, input=texts)  # the SDK asks for base64 and decodes it
    # One answer has both encodings, bit for bit.
    assert raw(client.embeddings, model=MODEL, input=texts, encoding_format="float")[0] == "HIT"
    floats = client.embeddings.create(model=MODEL, input=texts, encoding_format="float")
    assert len(floats.data) == 2
    for one, other in zip(usual.data, floats.data):
        assert struct.pack(f"{len(one.embedding)}f", *one.embedding) == struct.pack(f"{len(other.embedding)}f", *other.embedding)


def test_cache_controls_of_litellm():
    request = ask()
    first = twice(CLIENT.chat.completions, **request)
    for control, wanted in (({"ttl": 60}, "HIT"), ({"no-cache": False}, "HIT"), ({"namespace": f"n-{STAMP}"}, "MISS")):
        cache, body = raw(CLIENT.chat.completions, **request, extra_body={"cache": control})
        assert cache == wanted and (body == first or cache == "MISS"), (control, cache)
    assert raw(CLIENT.chat.completions, **request, extra_body={"cache": {"no-cache": True}})[0] != "HIT"
    try:
        CLIENT.chat.completions.create(**request, extra_body={"cache": {"s-maxage": "old"}})
        raise AssertionError("a malformed control is refused")
    except openai.BadRequestError as error:
        assert error.code == "bad_control" and "cache.s-maxage" in str(error), error


def test_models():
    assert MODEL in [item.id for item in CLIENT.models.list()]


def test_file_upload():
    client = openai.OpenAI(base_url=os.environ["PROVIDER_BASE_URL"])
    content = b"line of a file\r\n--not-a-boundary\r\n" * 9000
    file = client.files.create(file=("upload.jsonl", content), purpose="batch")
    assert (file.bytes, file.filename) == (len(content), "upload.jsonl")
    assert file.id == "file-" + hashlib.sha256(content).hexdigest()


def test_aborted_stream():
    client = openai.OpenAI(base_url=os.environ["PROVIDER_BASE_URL"])
    request = {"model": f"endless-{STAMP}", "messages": [{"role": "user", "content": "go on"}], "stream": True}
    before = aborted_streams()
    stream = client.chat.completions.create(**request)
    for _ in range(3):
        assert next(stream).choices[0].delta.content
    stream.close()
    end = time.monotonic() + 10
    while aborted_streams() <= before:
        assert time.monotonic() < end, "the upstream was not told"
    with client.chat.completions.with_streaming_response.create(**request) as response:
        assert response.headers["x-cache"] == "MISS", "a broken stream must not be stored"


def test_error_classes():
    client = openai.OpenAI(base_url=os.environ["PROVIDER_BASE_URL"], max_retries=0)
    classes = {400: openai.BadRequestError, 401: openai.AuthenticationError, 403: openai.PermissionDeniedError, 404: openai.NotFoundError,
               409: openai.ConflictError, 422: openai.UnprocessableEntityError, 429: openai.RateLimitError,
               500: openai.InternalServerError, 503: openai.InternalServerError}
    for status, kind in classes.items():
        for stream in (False, True):
            try:
                client.chat.completions.create(model=f"fail-{status}", messages=[{"role": "user", "content": "x"}], stream=stream)
            except kind as error:
                assert error.status_code == status and error.code == f"code_{status}", error
            else:
                raise AssertionError(f"{status} was no error")


def test_retry_after_a_refusal():
    client = openai.OpenAI(base_url=os.environ["PROVIDER_BASE_URL"])
    answer = client.chat.completions.create(model=f"busy-once-{STAMP}", messages=[{"role": "user", "content": "x"}])
    assert answer.choices[0].message.content == "fine"


def test_errors_of_the_gateway():
    dead = openai.OpenAI(base_url=os.environ["DEAD_BASE_URL"], max_retries=0)
    try:
        dead.chat.completions.create(**ask())
    except openai.InternalServerError as error:
        assert error.code, "the reason is the code"
    else:
        raise AssertionError("a dead upstream was no error")
    begun = time.monotonic()
    try:
        CLIENT.chat.completions.create(**ask(), extra_headers={"Cache-Control": "only-if-cached"})
    except openai.APIStatusError as error:
        assert error.status_code == 504
    else:
        raise AssertionError("only-if-cached without an entry was no error")
    assert time.monotonic() - begun < 0.4, "x-should-retry: false keeps the SDK from trying again"


def test_many_threads_one_answer():
    request, answers = ask(), []

    def call():
        answers.append(CLIENT.chat.completions.create(**request).to_json())

    threads = [threading.Thread(target=call) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(answers) == 16 and len(set(answers)) == 1


if __name__ == "__main__":
    main(globals())
