"""One logical call, ONE_CALL, as each library writes it; the counterpart of js/one_call_scenarios.mjs, with the same environment
variables. The argument is the family."""
import json
import os
import sys

CALL = json.loads(os.environ["ONE_CALL"])
MESSAGES = [{"role": "system", "content": CALL["system"]}, {"role": "user", "content": CALL["user"]}]
TOOLS = [{"type": "function", "function": CALL["tool"]}]


def openai():
    from openai import OpenAI
    OpenAI(max_retries=0).chat.completions.create(model=CALL["model"], messages=MESSAGES, tools=TOOLS, tool_choice="auto", temperature=0,
                                                  max_tokens=CALL["max_tokens"])


def langchain(**limit):
    """The library writes `max_tokens` as `max_completion_tokens` and knows no other; what is told as `extra_body` goes out as told."""
    from langchain_core.messages import HumanMessage, SystemMessage
    from langchain_openai import ChatOpenAI
    chat = ChatOpenAI(model=CALL["model"], temperature=0, max_retries=0, **(limit or {"extra_body": {"max_tokens": CALL["max_tokens"]}}))
    chat.bind_tools(TOOLS, tool_choice="auto").invoke([SystemMessage(CALL["system"]), HumanMessage(CALL["user"])])


def langchain_completion_tokens():
    langchain(max_tokens=CALL["max_tokens"])


def litellm():
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # the list in the package, not one from the network
    from litellm import completion
    completion(model=f"openai/{CALL['model']}", messages=MESSAGES, tools=TOOLS, tool_choice="auto", temperature=0,
               max_tokens=CALL["max_tokens"], num_retries=0)


{"openai": openai, "langchain": langchain, "langchain_completion_tokens": langchain_completion_tokens, "litellm": litellm}[sys.argv[1]]()
