// What an application does with the official SDK, run through Idem. The SDK is configured by its environment variables alone.
// Environment: OPENAI_BASE_URL (Idem before an engine), OPENAI_API_KEY, ENGINE (simulate | llama), EMBEDDINGS_BASE_URL,
// PROVIDER_BASE_URL (Idem before support/provider.py), PROVIDER_STATS (its own address), DEAD_BASE_URL (Idem before nothing).
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import process from 'node:process';
import { abortedStreams, raw, require, run, stamp, tool, twice } from './harness.mjs';

const OpenAI = require('openai').OpenAI;
const { toFile } = require('openai');
const llama = process.env.ENGINE === 'llama';
const model = llama ? 'tiny-random' : 'simulated';
const client = new OpenAI();
let questions = 0;

/** A request that nobody has sent before. */
const ask = (extra = {}) => ({
  model,
  messages: [{ role: 'user', content: `Question ${stamp}-${++questions}: why is the sky blue? "quoted" é 漢 🙂` }],
  temperature: 0,
  seed: 7,
  max_tokens: 24,
  ...extra,
});

/** What the SDK's own accumulator makes of a stream. */
async function accumulate(request) {
  const chat = client.chat.completions.stream ? client.chat.completions : client.beta.chat.completions;
  return await chat.stream({ ...request }).finalChatCompletion();
}

/** The parts that both forms carry; the helper adds `parsed` and fills in `refusal`, usage is only there if asked for, and the
 * accumulator of version 4 makes null of a content that is empty. */
function comparable(completion) {
  const { id, created, choices, system_fingerprint } = completion;
  return JSON.parse(JSON.stringify({
    id, created, model: completion.model, system_fingerprint,
    choices: choices.map(({ index, finish_reason, message, logprobs }) => ({
      index, finish_reason,
      logprobs: logprobs?.content ?? null,
      message: {
        role: message.role, content: message.content || null, refusal: message.refusal ?? null,
        tool_calls: (message.tool_calls ?? []).map((call) => ({ id: call.id, type: call.type, function: { name: call.function.name, arguments: call.function.arguments } })),
      },
    })),
  }));
}

/** An entry filled in one form answers the other form, and the SDK sees the same object both ways. */
async function bothForms(extra = {}) {
  const one = ask(extra);
  const object = await client.chat.completions.create(one);
  const stream = await raw(client.chat.completions.create({ ...one, stream: true }));
  assert.equal(stream.cache, 'HIT', 'a stream after an object');
  assert.match(stream.body, /data: \[DONE\]\s*$/);
  assert.deepEqual(comparable(await accumulate(one)), comparable(object));

  const two = ask(extra);
  const accumulated = await accumulate(two);
  const again = await raw(client.chat.completions.create(two));
  // A stream is at its end before the store has answered: until then its flight can be joined.
  assert.ok(['HIT', 'COALESCED'].includes(again.cache), `an object after a stream: ${again.cache}`);
  // llama-server stamps every chunk anew, so a stream that crosses a second has two `created`: Idem keeps the first, as the
  // Python SDK does, this SDK the last.
  const assembled = comparable(JSON.parse(Buffer.from(again.body, 'latin1').toString()));
  assert.ok(Math.abs(assembled.created - accumulated.created) <= 60, 'created');
  assert.deepEqual({ ...assembled, created: 0 }, { ...comparable(accumulated), created: 0 });
  assert.deepEqual(comparable(await accumulate(two)), comparable(accumulated));
  return object;
}

const tools = [{ type: 'function', function: tool }];

const scenarios = {
  async chat() {
    const request = ask();
    await twice(() => client.chat.completions.create(request));
    const answer = await client.chat.completions.create(request);
    assert.equal(answer.object, 'chat.completion');
    assert.ok(answer.choices[0].message.content.length > 0);
    assert.ok(answer.usage.total_tokens > 0);
  },

  async streaming() {
    const request = ask({ stream: true });
    await twice(() => client.chat.completions.create(request));
    let text = '', finish = null;
    for await (const chunk of await client.chat.completions.create(request)) {
      assert.equal(chunk.usage ?? null, null, 'usage that nobody asked for');
      text += chunk.choices[0]?.delta?.content ?? '';
      finish = chunk.choices[0]?.finish_reason ?? finish;
    }
    assert.ok(text.length > 0);
    assert.ok(['stop', 'length'].includes(finish));
  },

  async 'streaming with usage'() {
    const request = ask({ stream: true, stream_options: { include_usage: true } });
    await twice(() => client.chat.completions.create(request));
    let usage = null;
    for await (const chunk of await client.chat.completions.create(request)) usage = chunk.usage ?? usage;
    assert.ok(usage.total_tokens > 0);
    const object = await client.chat.completions.create({ ...request, stream: false, stream_options: undefined });
    assert.equal(object.usage.total_tokens, usage.total_tokens);
  },

  async 'object and stream share an entry'() { await bothForms(); },

  async tools() {
    const request = ask({ tools, tool_choice: 'required', max_tokens: 200 });
    await twice(() => client.chat.completions.create(request));
    const object = await bothForms({ tools, tool_choice: 'required', max_tokens: 200 });
    const call = object.choices[0].message.tool_calls[0];
    assert.equal(call.function.name, 'paint');
    assert.equal(object.choices[0].finish_reason, 'tool_calls');
    assert.equal(typeof JSON.parse(call.function.arguments), 'object');
  },

  async 'n = 2'() {
    const request = ask({ n: 2, temperature: 0.8 });
    await twice(() => client.chat.completions.create(request));
    const object = await bothForms({ n: 2, temperature: 0.8 });
    assert.deepEqual(object.choices.map((choice) => choice.index).sort(), [0, 1]);
  },

  async logprobs() {
    const request = ask({ logprobs: true, top_logprobs: 2 });
    await twice(() => client.chat.completions.create(request));
    const object = await bothForms({ logprobs: true, top_logprobs: 2 });
    assert.ok(object.choices[0].logprobs.content.length > 0);
    assert.equal(object.choices[0].logprobs.content[0].top_logprobs.length, 2);
  },

  async completions() {
    const request = { model, prompt: `Once ${stamp}-${++questions}`, max_tokens: 12, temperature: 0 };
    await twice(() => client.completions.create(request));
    const answer = await client.completions.create(request);
    assert.ok(answer.choices[0].text.length > 0);
    const streamed = { ...request, prompt: `Twice ${stamp}-${++questions}`, stream: true };
    await twice(() => client.completions.create(streamed));
    let text = '';
    for await (const chunk of await client.completions.create(streamed)) text += chunk.choices[0]?.text ?? '';
    assert.ok(text.length > 0);
  },

  async embeddings() {
    const it = new OpenAI({ baseURL: process.env.EMBEDDINGS_BASE_URL });
    const input = [`one ${stamp}`, `two ${stamp}`];
    await twice(() => it.embeddings.create({ model, input, encoding_format: 'base64' }));
    const usual = await it.embeddings.create({ model, input }); // the SDK asks for base64 and decodes it
    // One answer has both encodings, bit for bit.
    await raw(it.embeddings.create({ model, input, encoding_format: 'float' })).then((first) => assert.equal(first.cache, 'HIT'));
    const floats = await it.embeddings.create({ model, input, encoding_format: 'float' });
    assert.equal(floats.data.length, 2);
    assert.equal(usual.data[0].embedding.length, floats.data[0].embedding.length);
    floats.data.forEach((item, i) => item.embedding.forEach((value, j) =>
      assert.equal(Math.fround(value), Math.fround(usual.data[i].embedding[j]), `item ${i}, component ${j}`)));
  },

  async models() {
    const list = await client.models.list();
    assert.ok(list.data.some((item) => item.id === model), JSON.stringify(list.data));
  },

  async 'file upload'() {
    const it = new OpenAI({ baseURL: process.env.PROVIDER_BASE_URL });
    const content = Buffer.alloc(300_000, 'line of a file\r\n--not-a-boundary\r\n');
    const file = await it.files.create({ file: await toFile(content, 'upload.jsonl'), purpose: 'batch' });
    assert.equal(file.bytes, content.length);
    assert.equal(file.filename, 'upload.jsonl');
    assert.equal(file.id, 'file-' + createHash('sha256').update(content).digest('hex'));
  },

  async 'aborted stream'() {
    const it = new OpenAI({ baseURL: process.env.PROVIDER_BASE_URL });
    const request = { model: `endless-${stamp}`, messages: [{ role: 'user', content: 'go on' }], stream: true };
    const before = await abortedStreams();
    let seen = 0;
    for await (const chunk of await it.chat.completions.create(request)) {
      assert.ok(chunk.choices[0].delta.content);
      if (++seen === 3) break;
    }
    const end = Date.now() + 10_000;
    while ((await abortedStreams()) <= before) assert.ok(Date.now() < end, 'the upstream was not told');
    const controller = new AbortController();
    const again = await it.chat.completions.create(request, { signal: controller.signal }).asResponse();
    assert.equal(again.headers.get('x-cache'), 'MISS', 'a broken stream must not be stored');
    controller.abort();
  },

  async 'error classes'() {
    const it = new OpenAI({ baseURL: process.env.PROVIDER_BASE_URL, maxRetries: 0 });
    const classes = {
      400: OpenAI.BadRequestError, 401: OpenAI.AuthenticationError, 403: OpenAI.PermissionDeniedError, 404: OpenAI.NotFoundError,
      409: OpenAI.ConflictError, 422: OpenAI.UnprocessableEntityError, 429: OpenAI.RateLimitError, 500: OpenAI.InternalServerError,
      503: OpenAI.InternalServerError,
    };
    for (const [status, type] of Object.entries(classes)) {
      for (const stream of [false, true]) {
        const request = { model: `fail-${status}`, messages: [{ role: 'user', content: 'x' }], stream };
        await assert.rejects(it.chat.completions.create(request), (error) => {
          assert.ok(error instanceof type, `${status}: ${error}`);
          assert.equal(error.status, Number(status));
          assert.equal(error.code, `code_${status}`);
          return true;
        });
      }
    }
  },

  async 'retry after a refusal'() {
    const it = new OpenAI({ baseURL: process.env.PROVIDER_BASE_URL });
    const answer = await it.chat.completions.create({ model: `busy-once-${stamp}`, messages: [{ role: 'user', content: 'x' }] });
    assert.equal(answer.choices[0].message.content, 'fine');
  },

  async 'errors of the gateway'() {
    const dead = new OpenAI({ baseURL: process.env.DEAD_BASE_URL, maxRetries: 0 });
    await assert.rejects(dead.chat.completions.create(ask()), (error) => {
      assert.ok(error instanceof OpenAI.InternalServerError, String(error));
      assert.ok(error.code, 'the reason is the code');
      return true;
    });
    const begun = Date.now();
    await assert.rejects(client.chat.completions.create(ask(), { headers: { 'Cache-Control': 'only-if-cached' } }), (error) => {
      assert.equal(error.status, 504);
      return true;
    });
    assert.ok(Date.now() - begun < 400, 'x-should-retry: false keeps the SDK from trying again');
  },
};

await run(scenarios);
