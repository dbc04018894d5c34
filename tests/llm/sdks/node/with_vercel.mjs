// The Vercel AI SDK, `ai`, with its providers for OpenAI (Responses and Chat), Anthropic and Google.
import {createAnthropic} from '@ai-sdk/anthropic';
import {createGoogleGenerativeAI} from '@ai-sdk/google';
import {createOpenAI} from '@ai-sdk/openai';
import {createGateway, generateObject, generateText, stepCountIs, streamText, tool} from 'ai';
import {z} from 'zod';

const CASES = ['text', 'packed', 'thinking', 'tools', 'length', 'filter', 'busy', 'long'];
const STREAMED = [...CASES, 'broken', 'cut'];
const TOOLS = {
  click: {description: 'Click.', inputSchema: z.object({id: z.number(), note: z.string()})},
  goto: {description: 'Go.', inputSchema: z.object({url: z.string()})},
};

export async function run({record, origin, images, question}) {
  const providers = {
    responses: (name) => createOpenAI({apiKey: 'sk-test', baseURL: `${origin}/${name}/v1`})('gpt-5-2025-08-07'),
    chat: (name) => createOpenAI({apiKey: 'sk-test', baseURL: `${origin}/${name}/v1`}).chat('gpt-5-2025-08-07'),
    anthropic: (name) => createAnthropic({apiKey: 'sk-ant-test', baseURL: `${origin}/${name}/v1`})('claude-opus-4-8'),
    google: (name) => createGoogleGenerativeAI({apiKey: 'AIza-test', baseURL: `${origin}/${name}/v1beta`})('gemini-2.5-pro'),
  };
  const gateway = createGateway({apiKey: 'key', baseURL: `${origin}/gateway/v4/ai`});
  await record('vercel gateway', async () => described(await generateText({model: gateway('openai/gpt-5'), prompt: question})));
  const tools = Object.fromEntries(Object.entries(TOOLS).map(([name, it]) => [name, tool(it)]));
  const able = Object.fromEntries(
    Object.entries(TOOLS).map(([name, it]) => [name, tool({...it, execute: async (input) => `did ${JSON.stringify(input)}`})]));
  for (const [provider, of] of Object.entries(providers)) {
    const asked = (name) => ({model: of(name), system: 'You are kind.', prompt: question + name, tools, maxRetries: 1});
    for (const name of CASES) await record(`vercel ${provider} ${name}`, async () => described(await generateText(asked(name))));
    for (const name of STREAMED) {
      await record(`vercel ${provider} ${name} streamed`, async () => {
        const parts = [];
        const {fullStream} = streamText({...asked(name), onError: () => {}});
        for await (const part of fullStream) parts.push(steady(part));
        return parts;
      });
    }
    await record(`vercel ${provider} loop`, async () => described(await generateText({...asked('loop'), tools: able, stopWhen: stepCountIs(3)})));
    await record(`vercel ${provider} object`, async () =>
      (await generateObject({model: of('object'), prompt: question, schema: z.object({room: z.string(), floor: z.number()})})).object);
    await record(`vercel ${provider} image`, async () => {
      const parts = images.map((image) => ({type: 'image', image, mediaType: 'image/png'}));
      const messages = [{role: 'user', content: [{type: 'text', text: question}, ...parts]}];
      return described(await generateText({model: of('image'), messages}));
    });
  }
}

function described({text, reasoningText, toolCalls, toolResults, finishReason, usage, totalUsage, warnings, steps, providerMetadata, response}) {
  const headers = {...response.headers};
  return steady({
    text, reasoningText, toolCalls, toolResults, finishReason, usage, totalUsage, warnings, providerMetadata, headers, body: response.body,
    steps: steps.map((it) => it.content),
  });
}

// Without the SDK's times, and without the content coding, which differs over TLS.
function steady(value) {
  if (value instanceof Error) {
    const {name, message, statusCode, responseBody, cause, errors} = value;
    return steady({name, message, statusCode, responseBody, cause: cause && String(cause), errors});
  }
  if (Array.isArray(value)) return value.map(steady);
  if (value === null || typeof value !== 'object') return value;
  const made = new Set(['timestamp', 'performance', 'content-encoding']);
  return Object.fromEntries(
    Object.entries(value).filter(([key]) => !made.has(key)).map(([key, it]) => [key, steady(it)]));
}
