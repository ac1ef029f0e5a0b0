// What an application does with the official Mistral SDK, run through Idem. Environment: MISTRAL_URL (Idem before a
// simulated engine), MISTRAL_API_KEY, PROVIDER_URL (Idem before support/provider.py), DEAD_URL (Idem before nothing).
import assert from 'node:assert/strict';
import path from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { recorder, run, stamp } from './harness.mjs';

// The SDK is for import only.
const folder = path.resolve(process.argv[2], 'node_modules/@mistralai/mistralai');
const { Mistral } = await import(pathToFileURL(path.join(folder, 'esm/index.js')));
const at = (serverURL) => new Mistral({ apiKey: process.env.MISTRAL_API_KEY, serverURL });
const client = at(process.env.MISTRAL_URL);
const recorded = recorder();
const model = 'mistral-small-latest';
let questions = 0;

/** A request that nobody has sent before. */
const ask = (extra = {}) => ({
  model, temperature: 0, randomSeed: 7, maxTokens: 24,
  messages: [{ role: 'user', content: `Question ${stamp}-${++questions}: why is the sky blue? "quoted" é 漢 🙂` }], ...extra,
});

/** What a stream's chunks make together. */
async function gathered(stream) {
  const all = { text: '', calls: [], finish: null, usage: null };
  for await (const { data } of stream) {
    all.usage = data.usage ?? all.usage;
    for (const { delta, finishReason } of data.choices) {
      all.text += delta.content ?? '';
      for (const call of delta.toolCalls ?? []) {
        const known = all.calls[call.index ?? 0];
        if (known) known.function.arguments += call.function.arguments;
        else all.calls.push({ id: call.id, function: { ...call.function } });
      }
      all.finish = finishReason ?? all.finish;
    }
  }
  return all;
}

/** The same of an object. */
function told({ choices: [{ message, finishReason }] }) {
  const calls = (message.toolCalls ?? []).map((call) => ({ id: call.id, function: { ...call.function } }));
  return { text: message.content ?? '', calls, finish: finishReason };
}

const words = ({ text, calls, finish }) => ({ text, calls: JSON.parse(JSON.stringify(calls)), finish });

async function twice(call) {
  const first = await recorded(call), second = await recorded(call);
  assert.equal(first.status, 200);
  assert.deepEqual([first.cache, second.cache], ['MISS', 'HIT']);
  assert.equal(second.body, first.body);
  return second.value;
}

/** An entry filled in one form answers the other form, and the SDK sees the same answer both ways. */
async function bothForms(api, request) {
  const one = request();
  const object = told(await api.complete(one));
  const stream = await recorded(async () => gathered(await api.stream(one)));
  assert.equal(stream.cache, 'HIT', 'a stream after an object');
  assert.ok(stream.value.usage.totalTokens > 0, 'usage comes without being asked for');
  assert.deepEqual(words(stream.value), words(object));
  return object;
}

const tools = [{ type: 'function', function: { name: 'paint', parameters: { type: 'object', properties: { colour: { type: 'string' } } } } }];

const scenarios = {
  async chat() {
    const request = ask();
    const answer = await twice(() => client.chat.complete(request));
    assert.ok(answer.choices[0].message.content.length > 0);
    assert.ok(answer.usage.totalTokens > 0);
  },

  async streaming() {
    const request = ask();
    const all = await twice(async () => gathered(await client.chat.stream(request)));
    assert.ok(all.text.length > 0);
    assert.equal(all.finish, 'stop');
  },

  async 'object and stream share an entry'() { await bothForms(client.chat, ask); },

  async tools() {
    const object = await bothForms(client.chat, () => ask({ tools, toolChoice: 'any' }));
    assert.equal(object.calls[0].function.name, 'paint');
  },

  async 'fields of its own count, labels do not'() {
    const request = ask();
    const cache = async (extra) => (await recorded(() => client.chat.complete({ ...request, ...extra }))).cache;
    assert.equal(await cache({}), 'MISS');
    assert.equal(await cache({ metadata: { a: 'b' }, promptCacheKey: 'k' }), 'HIT');
    assert.equal(await cache({ safePrompt: true }), 'MISS');
    assert.equal(await cache({ randomSeed: 8 }), 'MISS');
    assert.equal(await cache({ promptMode: 'reasoning' }), 'MISS');
    assert.equal(await cache({ tools: [{ type: 'web_search' }] }), 'BYPASS');
  },

  async 'filling in the middle'() {
    const fim = () => ({ model: 'codestral-latest', prompt: `def f${stamp.replace('-', '')}${++questions}(`, suffix: 'return a', temperature: 0 });
    const request = fim();
    const answer = await twice(() => client.fim.complete(request));
    assert.ok(answer.choices[0].message.content.length > 0);
    await bothForms(client.fim, fim);
    const streamed = fim();
    const all = await twice(async () => gathered(await client.fim.stream(streamed)));
    const object = await recorded(() => client.fim.complete(streamed));
    assert.ok(['HIT', 'COALESCED'].includes(object.cache), `an object after a stream: ${object.cache}`);  // the store may not have answered yet
    assert.deepEqual(words(told(object.value)), words(all));
  },

  async 'error classes'() {
    for (const status of [400, 401, 404, 422, 429, 500]) {
      await assert.rejects(at(process.env.PROVIDER_URL).chat.complete({ ...ask(), model: `fail-${status}` }, { retries: { strategy: 'none' } }), (error) => {
        assert.equal(error.statusCode, status);
        assert.match(error.body, new RegExp(`made to fail with ${status}`));
        return true;
      });
    }
  },

  async 'errors of the gateway'() {
    for (const call of ['complete', 'stream']) {
      await assert.rejects(at(process.env.DEAD_URL).chat[call](ask(), { retries: { strategy: 'none' } }), (error) => {
        assert.equal(error.statusCode, 502);
        assert.ok(JSON.parse(error.body).error.code, 'the reason is the code');
        return true;
      });
    }
  },
};

await run(scenarios);
