// Answers through Idem into the SDK's own accumulator and back. Environment: GATEWAY (Idem before support/corpus.py), DIALECT, OBJECTS (what each
// answer in object form is, by name), STREAMS (the names of those in stream form).
import assert from 'node:assert/strict';
import process from 'node:process';
import { recorder, require, run } from './harness.mjs';

const recorded = recorder();
const gateway = process.env.GATEWAY;
const objects = JSON.parse(process.env.OBJECTS);
const streams = JSON.parse(process.env.STREAMS);

/** As it travels, without what the helpers add. */
const added = /^(parsed|parsed_output|parsed_arguments|output_text|output_parsed|function_call|sdkHttpResponse)$/;
const plain = (value) => JSON.parse(JSON.stringify(value, (key, member) => (added.test(key) ? undefined : member)));

/** Of each SDK: `object` asks for the object, `stream` for the stream, accumulated; `same` is what the two have in common. */
const dialects = {
  completions() {
    const client = new (require('openai').OpenAI)({ baseURL: gateway + '/v1', apiKey: 'k', maxRetries: 0 });
    const request = (model) => ({ model, messages: [{ role: 'user', content: 'x' }] });
    const chat = client.chat.completions.stream ? client.chat.completions : client.beta.chat.completions;
    return {
      object: (model) => client.chat.completions.create(request(model)),
      stream: (model) => chat.stream({ ...request(model), stream_options: { include_usage: true } }).finalChatCompletion(),
      // The helper fills in `refusal` and, without log probabilities, `logprobs`; before version 7 it makes null of an empty content.
      same: ({ id, created, model, system_fingerprint, choices, usage }) => ({
        id, created, model, system_fingerprint, usage,
        choices: choices.map(({ message: { content, refusal, ...message }, logprobs, ...choice }) => (
          { ...choice, logprobs: logprobs ?? null, message: { ...message, content: content || null, refusal: refusal ?? null } })),
      }),
    };
  },
  responses() {
    const client = new (require('openai').OpenAI)({ baseURL: gateway + '/v1', apiKey: 'k', maxRetries: 0 });
    const request = (model) => ({ model, input: 'x' });
    return {
      object: (model) => client.responses.create(request(model)),
      stream: (model) => client.responses.stream(request(model)).finalResponse(),
      same: (response) => response,
    };
  },
  messages() {
    const client = new (require('@anthropic-ai/sdk').default)({ baseURL: gateway, apiKey: 'k', maxRetries: 0 });
    const request = (model) => ({ model, max_tokens: 99, messages: [{ role: 'user', content: 'x' }] });
    return {
      object: (model) => client.messages.create(request(model)),
      stream: (model) => client.messages.stream(request(model)).finalMessage(),
      same: (message) => message,
    };
  },
  chat() {
    const client = new (require('ollama').Ollama)({ host: gateway, fetch: (...request) => globalThis.fetch(...request) });
    const request = (model) => ({ model, messages: [{ role: 'user', content: 'x' }] });
    return {
      object: (model) => client.chat(request(model)),
      async stream(model) {
        const parts = [];
        for await (const part of await client.chat({ ...request(model), stream: true })) parts.push(part);
        const { message, ...last } = structuredClone(parts.at(-1));
        const join = (name) => parts.map((part) => part.message[name] ?? '').join('');
        const calls = parts.flatMap((part) => part.message.tool_calls ?? []);
        return { ...last, message: { role: message.role, content: join('content'), ...(join('thinking') && { thinking: join('thinking') }), ...(calls.length && { tool_calls: calls }) } };
      },
      same: (answer) => answer,
    };
  },
  gemini() {
    const client = new (require('@google/genai').GoogleGenAI)({ apiKey: 'k', httpOptions: { baseUrl: gateway } });
    const request = (model) => ({ model, contents: 'x' });
    const merge = (chunks) => {
      const parts = [];
      for (const part of chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? [])) {
        const last = parts.at(-1);
        const goesOn = last && 'text' in last && 'text' in part && last.thought === part.thought;
        if (goesOn) last.text += part.text;
        else parts.push({ ...part });
      }
      const last = chunks.at(-1);
      return { parts, finish: last.candidates[0].finishReason, usage: last.usageMetadata, id: last.responseId, version: last.modelVersion };
    };
    return {
      object: (model) => client.models.generateContent(request(model)),
      async stream(model) {
        const chunks = [];
        for await (const chunk of await client.models.generateContentStream(request(model))) chunks.push(chunk);
        return chunks;
      },
      same: (answer) => merge(Array.isArray(answer) ? answer : [answer]),
    };
  },
};

const { object, stream, same } = dialects[process.env.DIALECT]();

const scenarios = {};
for (const [name, original] of Object.entries(objects)) {
  scenarios[`object → stream → accumulator: ${name}`] = async () => {
    const model = `object ${name}`;
    const first = await recorded(() => object(model));
    assert.equal(first.cache, 'MISS');
    assert.deepEqual(JSON.parse(Buffer.from(first.body, 'latin1').toString()), original, 'the object as it came');
    const streamed = await recorded(() => stream(model));
    assert.equal(streamed.cache, 'HIT');
    assert.deepEqual(plain(same(streamed.value)), plain(same(first.value)));
    const again = await recorded(() => object(model));
    assert.deepEqual([again.cache, again.body], ['HIT', first.body]);
  };
}
for (const name of streams) {
  scenarios[`stream → object: ${name}`] = async () => {
    const model = `stream ${name}`;
    const first = await recorded(() => stream(model));
    assert.equal(first.cache, 'MISS');
    let made;
    for (let tries = 0; tries < 100; tries += 1) {  // a stream's end comes before its answer is stored
      made = await recorded(() => object(model));
      if (made.cache === 'HIT') break;
      await new Promise((resolve) => { setTimeout(resolve, 20); });
    }
    assert.equal(made.cache, 'HIT');
    assert.deepEqual(plain(same(made.value)), plain(same(first.value)));
    const again = await recorded(() => stream(model));
    assert.deepEqual([again.cache, again.body], ['HIT', first.body]);
  };
}
await run(scenarios);
