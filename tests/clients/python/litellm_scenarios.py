"""What an application does with LiteLLM as a client of an OpenAI endpoint, run through Idem.
Environment: OPENAI_BASE_URL (Idem before a simulated engine), OPENAI_API_KEY."""
import json
import os

from harness import TOOL, main, new_ask, recorder, twice_equal

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # the list in the package, not one from the network
CACHES = recorder()
import litellm  # noqa: E402

litellm.suppress_debug_info = True


def request(ask, **extra):
    return {"model": "openai/simulated", "temperature": 0, "max_tokens": 200, "num_retries": 0, "api_base": os.environ["OPENAI_BASE_URL"],
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": ask}], **extra}


def painting(ask):
    return request(ask, tools=[TOOL], tool_choice="required")


def complete(words):
    answer = litellm.completion(**words)
    return {"id": answer.id, "usage": answer.usage.model_dump(), "choices": [choice.model_dump() for choice in answer.choices]}


def stream(words):
    chunks = list(litellm.completion(**words, stream=True))
    answer = litellm.stream_chunk_builder(chunks, messages=words["messages"])
    return {"choices": [choice.model_dump() for choice in answer.choices]}


def test_completion_and_stream():
    words = request(new_ask())
    answer = twice_equal(CACHES, lambda: complete(words))
    assert answer["choices"][0]["message"]["content"] and answer["usage"]["total_tokens"] > 0
    assert stream(words)["choices"][0]["message"]["content"] == answer["choices"][0]["message"]["content"]
    assert CACHES[-1] == "HIT", "a stream after an object"


def test_stream():
    words = request(new_ask())
    assert twice_equal(CACHES, lambda: stream(words))["choices"][0]["message"]["content"]


def test_tools():
    for way in (complete, stream):
        words = painting(new_ask())
        call = twice_equal(CACHES, lambda: way(words))["choices"][0]["message"]["tool_calls"][0]
        assert call["function"]["name"] == "paint" and json.loads(call["function"]["arguments"])["colour"], call


def test_cache_controls():
    # The library keeps `cache` for a cache of its own; what is meant for the gateway goes through extra_body.
    words = request(new_ask())
    answer = twice_equal(CACHES, lambda: complete(words))
    CACHES.clear()
    fresh = complete({**words, "extra_body": {"cache": {"no-cache": True}}})
    assert CACHES[-1] != "HIT" and fresh["choices"] == answer["choices"], CACHES
    complete({**words, "extra_body": {"cache": {"ttl": 300, "s-maxage": 600}}})
    assert CACHES[-1] == "HIT", CACHES
    complete({**words, "extra_body": {"cache": {"namespace": "mine"}}})
    assert CACHES[-1] == "MISS", CACHES
    try:
        complete({**words, "extra_body": {"cache": {"ttl": "soon"}}})
        raise AssertionError("a malformed control is refused")
    except litellm.BadRequestError as error:
        assert "cache.ttl" in str(error), error


if __name__ == "__main__":
    main(globals())
