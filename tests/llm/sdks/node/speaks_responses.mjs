// OpenAI's Responses, from its reference.
import {failure as chatFailure, pieces} from './speaks_chat.mjs';

export const FAMILY = 'openai_responses';
export const PATH = /\/responses$/;
export const streams = (path, body) => body.stream === true;
export const asked = (path, body) => body.model;
export const able = (answer) => answer;
export const failure = chatFailure;

function items(answer) {
  const found = [];
  if (answer.thinking) found.push({id: 'rs_1', type: 'reasoning', summary: [{type: 'summary_text', text: answer.thinking}]});
  if (answer.text) {
    const part = answer.finish === 'refusal'
      ? {type: 'refusal', refusal: answer.text}
      : {type: 'output_text', annotations: [], logprobs: [], text: answer.text};
    found.push({id: 'msg_1', type: 'message', status: 'completed', role: 'assistant', content: [part]});
  }
  for (const it of answer.tools) {
    found.push({id: `fc_${it.id}`, type: 'function_call', status: 'completed', call_id: it.id, name: it.name, arguments: JSON.stringify(it.input)});
  }
  return found;
}

export function whole(answer, body, model) {
  const {input, output, cacheRead, cacheWrite, reasoning} = answer.usage;
  const reason = {length: 'max_output_tokens', content_filter: 'content_filter'}[answer.finish];
  return {
    id: 'resp_1', object: 'response', created_at: 1760000000, status: reason ? 'incomplete' : 'completed',
    background: false, error: null, incomplete_details: reason ? {reason} : null, instructions: null,
    max_output_tokens: null, model, output: items(answer), parallel_tool_calls: true,
    previous_response_id: body.previous_response_id ?? null, reasoning: {effort: null, summary: null},
    store: true, temperature: 1, text: {format: {type: 'text'}}, tool_choice: 'auto', tools: body.tools ?? [],
    top_p: 1, truncation: 'disabled', user: null, metadata: {},
    usage: {
      input_tokens: input, input_tokens_details: {cached_tokens: cacheRead, cache_write_tokens: cacheWrite},
      output_tokens: output, output_tokens_details: {reasoning_tokens: reasoning}, total_tokens: input + output,
    },
  };
}

export function* frames(answer, body, model) {
  let sequence_number = 0;
  const event = (type, more) => ({type, sequence_number: sequence_number++, ...more});
  const all = whole(answer, body, model);
  const begun = {...all, status: 'in_progress', incomplete_details: null, output: [], usage: null};
  yield event('response.created', {response: begun});
  yield event('response.in_progress', {response: begun});
  for (const [output_index, item] of all.output.entries()) {
    const at = {item_id: item.id, output_index};
    const empty = {reasoning: {summary: []}, message: {status: 'in_progress', content: []}, function_call: {status: 'in_progress', arguments: ''}};
    yield event('response.output_item.added', {output_index, item: {...item, ...empty[item.type]}});
    if (item.type === 'reasoning') {
      const part = item.summary[0];
      const here = {...at, summary_index: 0};
      yield event('response.reasoning_summary_part.added', {...here, part: {...part, text: ''}});
      for (const delta of pieces(part.text)) yield event('response.reasoning_summary_text.delta', {...here, delta});
      yield event('response.reasoning_summary_text.done', {...here, text: part.text});
      yield event('response.reasoning_summary_part.done', {...here, part});
    } else if (item.type === 'message') {
      const part = item.content[0];
      const key = part.type === 'refusal' ? 'refusal' : 'text';
      const kind = key === 'refusal' ? 'response.refusal' : 'response.output_text';
      const here = {...at, content_index: 0};
      const more = key === 'refusal' ? {} : {logprobs: []};
      yield event('response.content_part.added', {...here, part: {...part, [key]: ''}});
      for (const delta of pieces(part[key])) yield event(`${kind}.delta`, {...here, delta, ...more});
      yield event(`${kind}.done`, {...here, [key]: part[key], ...more});
      yield event('response.content_part.done', {...here, part});
    } else {
      for (const delta of pieces(item.arguments)) yield event('response.function_call_arguments.delta', {...at, delta});
      yield event('response.function_call_arguments.done', {...at, name: item.name, arguments: item.arguments});
    }
    yield event('response.output_item.done', {output_index, item});
  }
  yield event(`response.${all.status}`, {response: all});
}

const framed = (event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

export function* events(answer, body, model) {
  for (const event of frames(answer, body, model)) yield framed(event);
}

export const broken = () => framed({type: 'error', code: 'server_error', message: 'The engine is currently overloaded.', param: null, sequence_number: 99});
