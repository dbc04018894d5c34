// The vendor's `@anthropic-ai/sdk`: Messages.
import Anthropic from '@anthropic-ai/sdk';

const TOOLS = [
  {name: 'click', description: 'Click.', input_schema: {type: 'object', properties: {id: {type: 'integer'}, note: {type: 'string'}}}},
  {name: 'goto', description: 'Go.', input_schema: {type: 'object', properties: {url: {type: 'string'}}}, cache_control: {type: 'ephemeral'}},
];
const CASES = ['text', 'packed', 'thinking', 'tools', 'length', 'refusal', 'busy', 'long', 'overloaded'];
const STREAMED = [...CASES, 'broken', 'cut'];

export async function run({record, origin, images, digest, question}) {
  const at = (name, more) => new Anthropic({apiKey: 'sk-ant-test', baseURL: `${origin}/${name}`, maxRetries: 1, ...more});
  const asked = (name) => ({
    model: 'claude-opus-4-8',
    max_tokens: 2000,
    system: [{type: 'text', text: 'You are kind.', cache_control: {type: 'ephemeral'}}],
    messages: [{role: 'user', content: question + name}],
    tools: TOOLS,
    temperature: 0.5,
  });
  for (const name of CASES) {
    await record(`anthropic ${name}`, async () => {
      const {data, response, request_id} = await at(name).messages.create(asked(name)).withResponse();
      return {data, request_id, header: response.headers.get('x-a-header')};
    });
  }
  for (const name of STREAMED) {
    await record(`anthropic ${name} streamed`, async () => {
      const events = [];
      for await (const event of await at(name).messages.create({...asked(name), stream: true})) events.push(event);
      return events;
    });
  }
  await record('anthropic raw', async () => digest(await (await at('text').messages.create(asked('raw')).asResponse()).text()));
  await record('anthropic raw streamed', async () =>
    digest(await (await at('text').messages.create({...asked('raw'), stream: true}).asResponse()).text()));
  await record('anthropic helper', () =>
    at('tools').messages.stream({...asked('helper'), thinking: {type: 'enabled', budget_tokens: 1024}, temperature: 1}).finalMessage());
  await record('anthropic gone', () => at('gone', {maxRetries: 0}).messages.create(asked('gone')));
  await record('anthropic aborted', async () => {
    for await (const event of await at('aborted').messages.create({...asked('aborted'), stream: true})) if (event.delta) return event;
  });
  await record('anthropic image', () => {
    const blocks = images.map((data) => ({type: 'image', source: {type: 'base64', media_type: 'image/png', data}}));
    return at('image').messages.create({...asked('image'), messages: [{role: 'user', content: [...blocks, {type: 'text', text: question}]}]});
  });
  await record('anthropic loop', async () => {
    const tools = TOOLS.map(({cache_control, ...it}) => ({...it, run: (input) => [{type: 'text', text: `did ${JSON.stringify(input)}`}]}));
    const said = [];
    for await (const stream of at('loop').beta.messages.toolRunner({...asked('loop'), tools, stream: true})) said.push(await stream.finalMessage());
    return said;
  });
  await record('anthropic count', () => at('none').messages.countTokens({model: 'claude-opus-4-8', messages: [{role: 'user', content: question}]}));
}
