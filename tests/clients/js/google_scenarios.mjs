// What an application does with the official Google Gen AI SDK, run through Idem. The SDK is configured by its environment
// variables alone. Environment: GOOGLE_GEMINI_BASE_URL (Idem before a simulated engine), GEMINI_API_KEY, PROVIDER_URL
// (Idem before support/provider.py), PROVIDER_STATS (its own address), DEAD_URL (Idem before nothing).
import assert from 'node:assert/strict';
import process from 'node:process';
import { abortedStreams, recorder, require, run, stamp } from './harness.mjs';

const { ApiError, GoogleGenAI } = require('@google/genai');
const client = new GoogleGenAI({ apiKey: process.env.GEMINI_API_KEY });
const at = (baseUrl, apiKey = process.env.GEMINI_API_KEY) => new GoogleGenAI({ apiKey, httpOptions: { baseUrl } });
const recorded = recorder();
const model = 'gemini-simulated';
let questions = 0;

/** A request that nobody has sent before. */
const ask = (config = {}) => ({
  model, contents: `Question ${stamp}-${++questions}: why is the sky blue? "quoted" é 漢 🙂`, config: { temperature: 0, ...config },
});

/** What a stream's chunks make together. */
async function gathered(stream) {
  const all = { text: '', thought: '', calls: [], finish: null, usage: null, chunks: 0 };
  for await (const chunk of stream) {
    all.chunks += 1;
    for (const part of chunk.candidates?.[0]?.content?.parts ?? []) {
      if (part.functionCall) all.calls.push(part.functionCall);
      else if (part.thought) all.thought += part.text;
      else all.text += part.text ?? '';
    }
    all.finish = chunk.candidates?.[0]?.finishReason ?? all.finish;
    all.usage = chunk.usageMetadata ?? all.usage;
  }
  return all;
}

const words = ({ text, thought, calls, finish, usage }) => ({ text, thought, calls, finish, usage });
const streams = async (request, of = client) => gathered(await of.models.generateContentStream(request));
const object = async (request, of = client) => gathered([await of.models.generateContent(request)]);

/** Sends the request twice; the second is a hit with the same bytes. */
async function twice(call) {
  const first = await recorded(call), second = await recorded(call);
  assert.equal(first.status, 200);
  assert.deepEqual([first.cache, second.cache], ['MISS', 'HIT']);
  assert.equal(second.body, first.body);
  return second.value;
}

/** An entry filled in one form answers the other form, and the SDK sees the same answer both ways. */
async function bothForms(config = {}) {
  const one = ask(config);
  const answer = await object(one);
  const stream = await recorded(() => streams(one));
  assert.equal(stream.cache, 'HIT', 'a stream after an object');
  assert.deepEqual(words(stream.value), words(answer));

  const two = ask(config);
  const streamed = await streams(two);
  // A word to stop at may come first of all.
  assert.ok(streamed.chunks > 1 || streamed.calls.length || config.stopSequences);
  const again = await recorded(() => object(two));
  // A stream is at its end before the store has answered: until then its flight can be joined.
  assert.ok(['HIT', 'COALESCED'].includes(again.cache), `an object after a stream: ${again.cache}`);
  assert.deepEqual(words(again.value), words(streamed));
  return answer;
}

const tools = [{ functionDeclarations: [{
  name: 'paint', description: 'Paints the wall.',
  parametersJsonSchema: { type: 'object', properties: { colour: { type: 'string' }, coats: { type: 'integer' } }, required: ['colour'] },
}] }];

/** A call as it travels, without the SDK. */
async function post(path, body, headers = {}) {
  const response = await fetch(process.env.GOOGLE_GEMINI_BASE_URL + path, {
    method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body),
  });
  return { status: response.status, cache: response.headers.get('x-cache'), body: await response.text() };
}

const scenarios = {
  async generate() {
    const request = ask();
    const answer = await twice(() => client.models.generateContent(request));
    assert.ok(answer.text.length > 0);
    assert.equal(answer.candidates[0].finishReason, 'STOP');
    assert.ok(answer.usageMetadata.promptTokenCount > 0);
  },

  async streaming() {
    const request = ask();
    const all = await twice(() => streams(request));
    assert.ok(all.text.length > 0 && all.chunks > 1);
    assert.equal(all.finish, 'STOP');
  },

  async 'object and stream share an entry'() { await bothForms(); },

  async tools() {
    const answer = await bothForms({ tools });
    assert.equal(answer.calls[0].name, 'paint');
    assert.equal(typeof answer.calls[0].args.coats, 'number');
    const [user] = [ask({ tools })];
    const answered = { ...user, contents: [{ role: 'user', parts: [{ text: user.contents }] }, { role: 'model', parts: [{ functionCall: answer.calls[0] }] },
      { role: 'user', parts: [{ functionResponse: { name: 'paint', response: { output: 'done' } } }] }] };
    const said = await twice(() => client.models.generateContent(answered));
    assert.ok(said.text.length > 0);
  },

  async thinking() {
    const answer = await bothForms({ thinkingConfig: { includeThoughts: true } });
    assert.ok(answer.thought.length > 0 && answer.text.length > 0);
  },

  async 'schema, limit, stop sequences and candidates'() {
    const answer = await bothForms({ responseMimeType: 'application/json', responseJsonSchema: { type: 'object', properties: { colour: { type: 'string' } } } });
    assert.equal(typeof JSON.parse(answer.text).colour, 'string');
    assert.equal((await bothForms({ maxOutputTokens: 3 })).finish, 'MAX_TOKENS');
    await bothForms({ stopSequences: ['q'] });
    const two = ask({ candidateCount: 2 });
    assert.equal((await twice(() => client.models.generateContent(two))).candidates.length, 2);
  },

  async chat() {
    const history = async (streamed) => {
      const chat = client.chats.create({ model, config: { temperature: 0 } });
      for (const message of ['one', 'two']) {
        const request = { message: `${message} ${stamp}` };
        if (streamed) await gathered(await chat.sendMessageStream(request));
        else await chat.sendMessage(request);
      }
      return chat.getHistory().map(({ role, parts }) => ({ role, text: parts.map((part) => part.text).join('') })).filter(({ text }) => text);
    };
    assert.deepEqual(await history(false), await history(false));
  },

  async 'counting tokens and embedding'() {
    const counted = { model, contents: `count ${stamp}` };
    assert.ok((await twice(() => client.models.countTokens(counted))).totalTokens > 0);
    const embedded = { model, contents: [`one ${stamp}`, `two ${stamp}`], config: { outputDimensionality: 4 } };
    const { embeddings } = await twice(() => client.models.embedContent(embedded));
    assert.deepEqual(embeddings.map(({ values }) => values.length), [4, 4]);
  },

  async 'labels and tracing change nothing, the model does'() {
    const body = (text, labels) => ({ contents: [{ role: 'user', parts: [{ text: `${text} ${stamp}` }] }], ...labels });
    const path = '/v1beta/models/gemini-simulated:generateContent';
    assert.equal((await post(path, body('labels'))).cache, 'MISS');
    assert.equal((await post(path, body('labels', { labels: { team: 'a' } }), { 'x-goog-api-client': 'other' })).cache, 'HIT');
    assert.equal((await post(path.replace('gemini', 'gemma'), body('labels'))).cache, 'MISS');
  },

  async 'a key in the query is a credential'() {
    const call = (key) => post(`/v1beta/models/gemini-simulated:generateContent?key=${key}`, { contents: [{ parts: [{ text: `key ${stamp}` }] }] });
    assert.deepEqual([(await call('a')).cache, (await call('b')).cache, (await call('a')).cache], ['MISS', 'MISS', 'HIT']);
    const request = ask();
    assert.equal((await recorded(() => client.models.generateContent(request))).cache, 'MISS');
    const other = at(process.env.GOOGLE_GEMINI_BASE_URL, 'another-key');
    assert.equal((await recorded(() => other.models.generateContent(request))).cache, 'MISS');
  },

  async 'a stream as one array passes through'() {
    for (let i = 0; i < 2; ++i) {
      const answer = await post('/v1beta/models/gemini-simulated:streamGenerateContent', { contents: [{ parts: [{ text: `array ${stamp}` }] }] });
      assert.equal(answer.cache, 'BYPASS');
      assert.ok(JSON.parse(answer.body).length > 1);
    }
  },

  async 'what Google runs or holds is not cached'() {
    for (const config of [{ tools: [{ googleSearch: {} }] }, { tools: [{ codeExecution: {} }] }, { tools: [{ urlContext: {} }] }, { cachedContent: 'cachedContents/1' }]) {
      const request = ask(config);
      for (let i = 0; i < 2; ++i) assert.equal((await recorded(() => client.models.generateContent(request))).cache, 'BYPASS', JSON.stringify(config));
    }
  },

  async 'aborted stream'() {
    const controller = new AbortController();
    const before = await abortedStreams();
    const request = { model: `endless-${stamp}`, contents: 'go on', config: { abortSignal: controller.signal } };
    let seen = 0;
    await assert.rejects(async () => {
      for await (const chunk of await at(process.env.PROVIDER_URL).models.generateContentStream(request)) {
        assert.equal(chunk.text, 'on and ');
        if (++seen === 3) controller.abort();
      }
    });
    assert.ok(seen >= 3);
    const end = Date.now() + 10_000;
    while ((await abortedStreams()) <= before) assert.ok(Date.now() < end, 'the upstream was not told');
  },

  async 'error classes'() {
    for (const status of [400, 401, 403, 404, 429, 500, 503]) {
      for (const call of ['generateContent', 'generateContentStream']) {
        await assert.rejects(at(process.env.PROVIDER_URL).models[call]({ model: `fail-${status}`, contents: 'x' }), (error) => {
          assert.ok(error instanceof ApiError, String(error));
          assert.equal(error.status, status);
          assert.match(error.message, new RegExp(`made to fail with ${status}`));
          return true;
        });
      }
    }
  },

  async 'errors of the gateway'() {
    for (const call of ['generateContent', 'generateContentStream', 'countTokens']) {
      await assert.rejects(at(process.env.DEAD_URL).models[call]({ model, contents: 'x' }), (error) => {
        assert.ok(error instanceof ApiError, String(error));
        assert.equal(error.status, 502);
        const told = JSON.parse(error.message).error;
        assert.equal(told.status, 'UNAVAILABLE');
        assert.ok(told.details[0].reason, 'the reason is in the details');
        return true;
      });
    }
  },
};

await run(scenarios);
