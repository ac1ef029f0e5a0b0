// What an application does with the official Ollama client, run through Idem; the counterpart of python/ollama_scenarios.py.
// Environment: OLLAMA_HOST (Idem before a simulated engine), DEAD_URL (Idem before nothing). The client gets what every
// application may give it: an address, and a `fetch` that looks on.
import assert from 'node:assert/strict';
import process from 'node:process';
import { require, run, stamp } from './harness.mjs';

const { Ollama } = require('ollama');
const seen = [];
const client = new Ollama({
  host: process.env.OLLAMA_HOST,
  async fetch(url, options) {
    const response = await fetch(url, options);
    seen.push({ cache: response.headers.get('x-cache'), type: response.headers.get('content-type'),
                body: Buffer.from(await response.clone().arrayBuffer()).toString('latin1') });
    return response;
  },
});
const model = 'simulated';
let questions = 0;

/** A question that nobody has asked before. */
const question = () => `Question ${stamp}-${++questions}: why is the sky blue? "quoted" é 漢 🙂`;
const chat = (extra = {}) => ({ model, messages: [{ role: 'user', content: question() }], ...extra });

/** What an application gathers from a stream: the last part, with the words and calls of all. */
async function gather(stream) {
  const parts = [];
  for await (const part of stream) parts.push(part);
  const last = structuredClone(parts.at(-1));
  const join = (pick) => parts.map(pick).filter((text) => text !== undefined).join('');
  if (last.message) {
    last.message.content = join((part) => part.message.content);
    const thinking = join((part) => part.message.thinking);
    if (thinking) last.message.thinking = thinking;
    const calls = parts.flatMap((part) => part.message.tool_calls ?? []);
    if (calls.length) last.message.tool_calls = calls;
  } else {
    last.response = join((part) => part.response);
    const thinking = join((part) => part.thinking);
    if (thinking) last.thinking = thinking;
  }
  return last;
}

/** Sends the request twice; the second is a hit with the same bytes. */
async function twice(send) {
  const answers = [await send(), await send()];
  const [first, second] = seen.slice(-2);
  assert.deepEqual([first.cache, second.cache], ['MISS', 'HIT']);
  assert.equal(second.body, first.body);
  assert.equal(second.type, first.type);
  assert.deepEqual(answers[1], answers[0]);
  return answers[1];
}

/** An entry filled in one form answers the other form, and the application sees the same. */
async function bothForms(call, request, other) {
  const object = await client[call]({ ...request, stream: false });
  assert.deepEqual(await gather(await client[call]({ ...request, stream: true })), object);
  assert.equal(seen.at(-1).cache, 'HIT', 'a stream after an object');
  assert.equal(seen.at(-1).type, 'application/x-ndjson');

  const gathered = await gather(await client[call]({ ...other, stream: true }));
  assert.deepEqual(await client[call]({ ...other, stream: false }), gathered);
  assert.equal(seen.at(-1).cache, 'HIT', 'an object after a stream');
  assert.match(seen.at(-1).type, /^application\/json/);
  return object;
}

const tools = [{ type: 'function', function: { name: 'paint', description: 'Paints the wall.',
  parameters: { type: 'object', properties: { colour: { type: 'string' }, coats: { type: 'integer' } }, required: ['colour'] } } }];

const scenarios = {
  async chat() {
    const request = chat({ options: { temperature: 0 } });
    const answer = await twice(() => client.chat(request));
    assert.equal(answer.done_reason, 'stop');
    assert.ok(answer.message.content.length > 0);
  },
  async chat_streamed() {
    const request = chat({ stream: true });
    const answer = await twice(async () => gather(await client.chat(request)));
    assert.equal(answer.done, true);
    assert.ok(answer.message.content.length > 0);
  },
  async chat_in_both_forms() {
    await bothForms('chat', chat(), chat());
  },
  async tool_calls_in_both_forms() {
    const answer = await bothForms('chat', chat({ tools }), chat({ tools }));
    assert.equal(answer.message.tool_calls[0].function.name, 'paint');
  },
  async thinking_in_both_forms() {
    const answer = await bothForms('chat', chat({ think: true }), chat({ think: true }));
    assert.ok(answer.message.thinking.length > 0);
  },
  async a_schema() {
    const format = { type: 'object', properties: { answer: { type: 'string' } } };
    const answer = await bothForms('chat', chat({ format }), chat({ format }));
    assert.ok(JSON.parse(answer.message.content).answer);
  },
  async generate() {
    const prompt = question();
    const answer = await twice(() => client.generate({ model, prompt }));
    assert.ok(answer.response.length > 0);
    assert.ok(answer.context.length > 0);
  },
  async generate_streamed() {
    const request = { model, prompt: question(), stream: true };
    await twice(async () => gather(await client.generate(request)));
  },
  async generate_in_both_forms() {
    await bothForms('generate', { model, prompt: question() }, { model, prompt: question() });
  },
  async a_limit_ends_by_length() {
    const request = chat({ options: { num_predict: 3 } });
    assert.equal((await twice(() => client.chat(request))).done_reason, 'length');
  },
  async embed() {
    const request = { model, input: [question(), question()] };
    assert.equal((await twice(() => client.embed(request))).embeddings.length, 2);
  },
  async embeddings() {
    const request = { model, prompt: question() };
    assert.ok((await twice(() => client.embeddings(request))).embedding.length > 0);
  },
  async how_long_a_model_stays_does_not_matter() {
    const request = chat();
    await client.chat({ ...request, keep_alive: '5m' });
    await client.chat({ ...request, keep_alive: 10 });
    assert.equal(seen.at(-1).cache, 'HIT');
  },
  async loading_a_model_is_not_cached() {
    await assert.rejects(client.chat({ model: 'error-500', messages: [] }));
    assert.equal(seen.at(-1).cache, 'BYPASS');
  },
  async errors_arrive_as_they_are() {
    await assert.rejects(client.chat(chat({ model: 'error-404' })), (error) => {
      assert.equal(error.status_code, 404);
      assert.match(error.message, /asked for this/);
      return true;
    });
  },
  async errors_of_the_gateway_are_readable() {
    const dead = new Ollama({ host: process.env.DEAD_URL });
    await assert.rejects(dead.chat(chat()), (error) => {
      assert.equal(error.status_code, 502);
      assert.match(error.message, /refused/);
      return true;
    });
  },
};

await run(scenarios);
