// The vendor's `openai`: Chat, Responses, and Responses over WebSocket.
import OpenAI, {AzureOpenAI} from 'openai';
import {ResponsesWS} from 'openai/resources/responses/ws';

const PARAMETERS = {
  click: {type: 'object', properties: {id: {type: 'integer'}, note: {type: 'string'}}, required: ['id', 'note'], additionalProperties: false},
  goto: {type: 'object', properties: {url: {type: 'string'}}, required: ['url'], additionalProperties: false},
};
const CASES = ['text', 'packed', 'thinking', 'tools', 'length', 'filter', 'refusal', 'busy', 'long', 'overloaded'];
const STREAMED = [...CASES, 'broken', 'cut'];

const all = async (stream) => {
  const events = [];
  for await (const event of stream) events.push(event);
  return events;
};

export async function run({record, origin, images, digest, question}) {
  const at = (name, more) => new OpenAI({apiKey: 'sk-test', baseURL: `${origin}/${name}/v1`, maxRetries: 1, ...more});
  const answered = async (asked) => {
    const {data, response, request_id} = await asked.withResponse();
    return {data, request_id, header: response.headers.get('x-a-header')};
  };
  const raw = async (asked) => digest(await (await asked.asResponse()).text());

  // ---- Chat
  const chat = (name) => ({
    model: 'gpt-5-2025-08-07',
    messages: [{role: 'system', content: 'You are kind.'}, {role: 'user', content: question + name}],
    tools: Object.entries(PARAMETERS).map(([name, parameters]) => ({type: 'function', function: {name, parameters, strict: true}})),
    temperature: 0.5,
    seed: 7,
  });
  const numbered = (name) => ({...chat(name), stream: true, stream_options: {include_usage: true}});
  for (const name of CASES) await record(`openai chat ${name}`, () => answered(at(name).chat.completions.create(chat(name))));
  for (const name of STREAMED) {
    await record(`openai chat ${name} streamed`, async () => all(await at(name).chat.completions.create(numbered(name))));
  }
  await record('openai chat raw', () => raw(at('text').chat.completions.create(chat('raw'))));
  await record('openai chat raw streamed', () => raw(at('text').chat.completions.create(numbered('raw'))));
  await record('openai chat unnumbered', async () => all(await at('unnumbered').chat.completions.create({...chat('unnumbered'), stream: true})));
  await record('openai chat reset', () => answered(at('reset').chat.completions.create(chat('reset'))));
  await record('openai chat gone', () => at('gone', {maxRetries: 0}).chat.completions.create(chat('gone')));
  await record('openai chat late', () => answered(at('late', {timeout: 2500}).chat.completions.create(chat('late'))));
  await record('openai chat aborted', async () => {
    for await (const event of await at('aborted').chat.completions.create(numbered('aborted'))) if (event.choices[0].delta.content) return event;
  });
  await record('openai chat azure', () => {
    const azure = new AzureOpenAI({apiKey: 'key', apiVersion: '2024-10-21', baseURL: `${origin}/text/openai/deployments/gpt-5-2025-08-07`});
    return answered(azure.chat.completions.create({...chat('azure'), model: 'gpt-5-2025-08-07'}));
  });
  await record('openai chat cut, in part', async () => {
    const texts = [];
    try {
      for await (const event of await at('cut').chat.completions.create(numbered('in part'))) texts.push(event);
    } catch (error) {
      texts.push(error.constructor.name);
    }
    return texts;
  });
  await record('openai chat image', () => {
    const parts = images.map((it) => ({type: 'image_url', image_url: {url: `data:image/png;base64,${it}`}}));
    return answered(at('image').chat.completions.create({...chat('image'), messages: [{role: 'user', content: [{type: 'text', text: question}, ...parts]}]}));
  });
  await record('openai chat loop', async () => {
    const does = (it) => `did ${JSON.stringify(it)}`;
    const runner = at('loop').chat.completions.runTools({
      ...numbered('loop'),
      tools: Object.entries(PARAMETERS).map(([name, parameters]) => ({type: 'function', function: {name, parameters, description: name, parse: JSON.parse, function: does}})),
    });
    const last = await runner.finalContent();
    return {last, messages: runner.messages, usage: await runner.totalUsage()};
  });
  await record('openai chat object', () =>
    at('object').chat.completions.parse({
      ...chat('object'),
      tools: undefined,
      response_format: {type: 'json_schema', json_schema: {name: 'place', strict: true, schema: {type: 'object', properties: {room: {type: 'string'}}}}},
    }));

  // ---- Responses
  const asked = (name) => ({
    model: 'gpt-5-2025-08-07',
    instructions: 'You are kind.',
    input: question + name,
    tools: Object.entries(PARAMETERS).map(([name, parameters]) => ({type: 'function', name, parameters, strict: true})),
    top_p: 0.9,
  });
  for (const name of CASES) await record(`openai responses ${name}`, () => answered(at(name).responses.create(asked(name))));
  for (const name of STREAMED) {
    await record(`openai responses ${name} streamed`, async () => all(await at(name).responses.create({...asked(name), stream: true})));
  }
  await record('openai responses raw', () => raw(at('text').responses.create(asked('raw'))));
  await record('openai responses raw streamed', () => raw(at('text').responses.create({...asked('raw'), stream: true})));
  await record('openai responses helper', () => at('tools').responses.stream(asked('helper')).finalResponse());
  await record('openai responses continued', () => {
    const results = ['call_1', 'call_2'].map((call_id) => ({type: 'function_call_output', call_id, output: 'done'}));
    return answered(at('loop').responses.create({...asked('continued'), previous_response_id: 'resp_1', input: results}));
  });
  await record('openai responses gone', () => at('gone', {maxRetries: 0}).responses.create(asked('gone')));
  await record('openai responses aborted', async () => {
    for await (const event of await at('aborted').responses.create({...asked('aborted'), stream: true})) if (event.delta) return event;
  });
  await record('openai responses image', () => {
    const parts = images.map((it) => ({type: 'input_image', detail: 'auto', image_url: `data:image/png;base64,${it}`}));
    return answered(at('image').responses.create({...asked('image'), input: [{role: 'user', content: [{type: 'input_text', text: question}, ...parts]}]}));
  });

  // ---- Responses over WebSocket
  for (const name of ['text', 'tools', 'thinking', 'length', 'refusal', 'long', 'image']) {
    await record(`openai socket ${name}`, () => overSocket(at(name), asked(`socket ${name} `), images));
  }
  await record('openai socket cut', () => overSocket(at('cut'), asked('socket cut '), images));
  await record('openai socket aborted', () => overSocket(at('aborted'), asked('socket aborted '), images));

  // ---- no calls
  await record('openai embeddings', () => at('none').embeddings.create({model: 'text-embedding-3-small', input: 'room', encoding_format: 'float'}));
  await record('openai models', async () => (await at('none').models.list()).data);
}

// Two calls on one socket; the second continues the first.
async function overSocket(client, asked, images) {
  const line = new ResponsesWS(client, {reconnect: null});
  const events = [];
  let calls = 0;
  let over = false;
  const ask = () => {
    const parts = images.map((it) => ({type: 'input_image', detail: 'auto', image_url: `data:image/png;base64,${it}`}));
    const input = [{role: 'user', content: [{type: 'input_text', text: `${asked.input}${calls++}`}, ...parts]}];
    line.send({type: 'response.create', ...asked, input, ...(calls > 1 ? {previous_response_id: 'resp_1'} : {})});
  };
  await new Promise((done, fail) => {
    line.on('error', (error) => {
      events.push({error: error.message, told: error.error});
      line.close();
      done();
    });
    line.on('close', done);
    line.on('event', (event) => {
      if (over) return;
      events.push(event);
      if (asked.input.includes('aborted') && event.delta) {
        over = true;
        return line.close();
      }
      if (!['response.completed', 'response.incomplete', 'response.failed'].includes(event.type)) return;
      if (calls < 2) ask();
      else line.close();
    });
    line.socket.on?.('unexpected-response', fail);
    ask();
  });
  return events;
}
