"""What an application does with the official Ollama client, run through Idem; the counterpart of js/ollama_scenarios.mjs, with
the same environment variables."""
import json
import os

import ollama
from harness import STAMP, main

SEEN = []


def look(response):
    """A hook of the client's own transport: the answer's fields and bytes."""
    response.read()
    SEEN.append((response.headers.get("x-cache"), response.headers.get("content-type"), response.content))


CLIENT = ollama.Client(event_hooks={"response": [look]})
MODEL = "simulated"
QUESTIONS = iter(range(1, 10_000))
TOOLS = [{"type": "function", "function": {
    "name": "paint", "description": "Paints the wall.",
    "parameters": {"type": "object", "properties": {"colour": {"type": "string"}, "coats": {"type": "integer"}}, "required": ["colour"]}}}]


def question():
    """A question that nobody has asked before."""
    return f'Question {STAMP}-{next(QUESTIONS)}: why is the sky blue? "quoted" é 漢 🙂'


def chat(**extra):
    return {"model": MODEL, "messages": [{"role": "user", "content": question()}], **extra}


def plain(answer):
    return json.loads(answer.model_dump_json(exclude_none=True))


def gather(stream):
    """What an application gathers from a stream: the last part, with the words and calls of all."""
    parts = [plain(part) for part in stream]
    last = parts[-1]
    holders = [part.get("message", part) for part in parts]
    into = last.get("message", last)
    for name in ("content", "response", "thinking"):
        if text := "".join(holder.get(name) or "" for holder in holders):
            into[name] = text
    if calls := [call for holder in holders for call in holder.get("tool_calls") or []]:
        into["tool_calls"] = calls
    return last


def twice(send):
    """Sends the request twice; the second is a hit with the same bytes."""
    answers = [send(), send()]
    first, second = SEEN[-2:]
    assert (first[0], second[0]) == ("MISS", "HIT"), (first[0], second[0])
    assert first[1:] == second[1:]
    assert answers[0] == answers[1]
    return answers[1]


def both_forms(call, one, two):
    """An entry filled in one form answers the other form, and the application sees the same."""
    whole = plain(call(**one))
    assert gather(call(**one, stream=True)) == whole
    assert SEEN[-1][0] == "HIT", "a stream after an object"
    assert SEEN[-1][1] == "application/x-ndjson"

    gathered = gather(call(**two, stream=True))
    assert plain(call(**two)) == gathered
    assert SEEN[-1][0] == "HIT", "an object after a stream"
    assert SEEN[-1][1].startswith("application/json")
    return whole


def test_chat():
    request = chat(options={"temperature": 0})
    answer = twice(lambda: plain(CLIENT.chat(**request)))
    assert answer["done_reason"] == "stop" and answer["message"]["content"]


def test_chat_streamed():
    request = chat(stream=True)
    assert twice(lambda: gather(CLIENT.chat(**request)))["done"] is True


def test_chat_in_both_forms():
    both_forms(CLIENT.chat, chat(), chat())


def test_tool_calls_in_both_forms():
    answer = both_forms(CLIENT.chat, chat(tools=TOOLS), chat(tools=TOOLS))
    assert answer["message"]["tool_calls"][0]["function"]["name"] == "paint"


def test_thinking_in_both_forms():
    assert both_forms(CLIENT.chat, chat(think=True), chat(think=True))["message"]["thinking"]


def test_a_schema():
    schema = {"type": "object", "properties": {"answer": {"type": "string"}}}
    answer = both_forms(CLIENT.chat, chat(format=schema), chat(format=schema))
    assert json.loads(answer["message"]["content"])["answer"]


def test_generate():
    prompt = question()
    answer = twice(lambda: plain(CLIENT.generate(MODEL, prompt)))
    assert answer["response"] and answer["context"]


def test_generate_streamed():
    prompt = question()
    twice(lambda: gather(CLIENT.generate(MODEL, prompt, stream=True)))


def test_generate_in_both_forms():
    both_forms(CLIENT.generate, {"model": MODEL, "prompt": question()}, {"model": MODEL, "prompt": question()})


def test_a_limit_ends_by_length():
    request = chat(options={"num_predict": 3})
    assert twice(lambda: plain(CLIENT.chat(**request)))["done_reason"] == "length"


def test_embed():
    request = {"model": MODEL, "input": [question(), question()]}
    assert len(twice(lambda: plain(CLIENT.embed(**request)))["embeddings"]) == 2


def test_embeddings():
    prompt = question()
    assert twice(lambda: plain(CLIENT.embeddings(MODEL, prompt)))["embedding"]


def test_how_long_a_model_stays_does_not_matter():
    request = chat()
    CLIENT.chat(**request, keep_alive="5m")
    CLIENT.chat(**request, keep_alive=10)
    assert SEEN[-1][0] == "HIT"


def failure(client, **request):
    try:
        client.chat(**request)
    except ollama.ResponseError as error:
        return error
    raise AssertionError("no error")


def test_loading_a_model_is_not_cached():
    failure(CLIENT, model="error-500", messages=[])
    assert SEEN[-1][0] == "BYPASS"


def test_errors_arrive_as_they_are():
    error = failure(CLIENT, **chat(model="error-404"))
    assert error.status_code == 404 and "asked for this" in error.error, error


def test_errors_of_the_gateway_are_readable():
    error = failure(ollama.Client(host=os.environ["DEAD_URL"]), **chat())
    assert error.status_code == 502 and "refused" in error.error, error


main(globals())
