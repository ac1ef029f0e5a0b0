// One logical call, ONE_CALL, as each library writes it.
//   usage: node one_call_scenarios.mjs FOLDER_WITH_NODE_MODULES FAMILY
// Environment: OPENAI_BASE_URL, OPENAI_API_KEY, ONE_CALL (model, system, user, max_tokens and tool as JSON).
import process from 'node:process';
import { require } from './harness.mjs';

const { model, system, user, max_tokens, tool } = JSON.parse(process.env.ONE_CALL);

const families = {
  async openai() {
    const { OpenAI } = require('openai');
    await new OpenAI({ maxRetries: 0 }).chat.completions.create({
      model, temperature: 0, max_tokens, tool_choice: 'auto',
      messages: [{ role: 'system', content: system }, { role: 'user', content: user }],
      tools: [{ type: 'function', function: tool }],
    });
  },

  async langchain() {
    const { ChatOpenAI } = require('@langchain/openai');
    const { HumanMessage, SystemMessage } = require('@langchain/core/messages');
    const chat = new ChatOpenAI({ model, temperature: 0, maxTokens: max_tokens, maxRetries: 0 });
    await chat.bindTools([{ type: 'function', function: tool }], { tool_choice: 'auto' })
      .invoke([new SystemMessage(system), new HumanMessage(user)]);
  },

  async ai() {
    const { generateText, jsonSchema, tool: define } = require('ai');
    const { openai } = require('@ai-sdk/openai');
    await generateText({
      model: openai.chat(model), system, prompt: user, temperature: 0, maxOutputTokens: max_tokens, maxRetries: 0,
      tools: { [tool.name]: define({ description: tool.description, inputSchema: jsonSchema(tool.parameters) }) },
    });
  },
};

await families[process.argv[3]]();
process.exit(0);
