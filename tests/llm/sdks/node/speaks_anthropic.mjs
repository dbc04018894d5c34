// Anthropic's Messages, from its reference.
import {pieces} from './speaks_chat.mjs';

export const FAMILY = 'anthropic_messages';
export const PATH = /\/messages$/;
export const streams = (path, body) => body.stream === true;
export const asked = (path, body) => body.model;
// A content filter is reported as a refusal.
export const able = (answer) => (answer.finish === 'content_filter' ? {...answer, finish: 'refusal'} : answer);

const STOP = {stop: 'end_turn', tool_calls: 'tool_use', length: 'max_tokens', refusal: 'refusal'};

function usage({input, output, cacheRead, cacheWrite, reasoning}) {
  return {
    input_tokens: input - cacheRead - cacheWrite, cache_creation_input_tokens: cacheWrite, cache_read_input_tokens: cacheRead,
    cache_creation: {ephemeral_5m_input_tokens: cacheWrite, ephemeral_1h_input_tokens: 0},
    output_tokens: output, output_tokens_details: {thinking_tokens: reasoning}, service_tier: 'standard',
  };
}

function blocks(answer) {
  const found = [];
  if (answer.thinking) found.push({type: 'thinking', thinking: answer.thinking, signature: 'c2lnbmVk'});
  if (answer.text) found.push({type: 'text', text: answer.text});
  for (const it of answer.tools) found.push({type: 'tool_use', id: `toolu_${it.id}`, name: it.name, input: it.input});
  return found;
}

export function whole(answer, body, model) {
  return {id: 'msg_1', type: 'message', role: 'assistant', model, content: blocks(answer), stop_reason: STOP[answer.finish], stop_sequence: null, usage: usage(answer.usage)};
}

const framed = (event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

export function* events(answer, body, model) {
  const all = whole(answer, body, model);
  const usage = {...all.usage, output_tokens: 1};
  delete usage.output_tokens_details;
  yield framed({type: 'message_start', message: {...all, content: [], stop_reason: null, usage}});
  yield framed({type: 'ping'});
  for (const [index, block] of all.content.entries()) {
    const begun = {thinking: {thinking: '', signature: ''}, text: {text: ''}, tool_use: {input: {}}}[block.type];
    yield framed({type: 'content_block_start', index, content_block: {...block, ...begun}});
    const delta = (it) => framed({type: 'content_block_delta', index, delta: it});
    if (block.type === 'thinking') {
      for (const thinking of pieces(block.thinking)) yield delta({type: 'thinking_delta', thinking});
      yield delta({type: 'signature_delta', signature: block.signature});
    } else if (block.type === 'text') {
      for (const text of pieces(block.text)) yield delta({type: 'text_delta', text});
    } else {
      for (const partial_json of ['', ...pieces(JSON.stringify(block.input))]) yield delta({type: 'input_json_delta', partial_json});
    }
    yield framed({type: 'content_block_stop', index});
  }
  const {output_tokens, output_tokens_details, ...rest} = all.usage;
  delete rest.cache_creation;
  delete rest.service_tier;
  yield framed({type: 'message_delta', delta: {stop_reason: all.stop_reason, stop_sequence: null}, usage: {...rest, output_tokens, output_tokens_details}});
  yield framed({type: 'message_stop'});
}

export function failure(status, why) {
  const [type, message] = {
    busy: ['rate_limit_error', 'This request would exceed your rate limit.'],
    context: ['invalid_request_error', 'prompt is too long: 250000 tokens > 200000 maximum'],
    overloaded: ['overloaded_error', 'Overloaded'],
  }[why];
  return {type: 'error', error: {type, message}, request_id: 'req_1'};
}

export const broken = () => framed(failure(529, 'overloaded'));
