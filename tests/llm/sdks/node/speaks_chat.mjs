// OpenAI's Chat Completions, from its reference.
export const FAMILY = 'openai_chat';
export const PATH = /\/chat\/completions$/;
export const streams = (path, body) => body.stream === true;
export const asked = (path, body) => body.model;
// The parts of an answer that this API can express.
export const able = (answer) => answer;

const FINISH = {refusal: 'stop'};

function usage({input, output, cacheRead, cacheWrite, reasoning}) {
  return {
    prompt_tokens: input, completion_tokens: output, total_tokens: input + output,
    prompt_tokens_details: {cached_tokens: cacheRead, cache_write_tokens: cacheWrite, audio_tokens: 0},
    completion_tokens_details: {reasoning_tokens: reasoning, audio_tokens: 0, accepted_prediction_tokens: 0, rejected_prediction_tokens: 0},
  };
}

export function whole(answer, body, model) {
  const said = answer.finish === 'refusal' ? {content: null, refusal: answer.text} : {content: answer.text, refusal: null};
  const message = {role: 'assistant', ...said, annotations: []};
  if (answer.thinking) message.reasoning_content = answer.thinking;
  if (answer.tools.length) {
    message.tool_calls = answer.tools.map((it) => ({id: it.id, type: 'function', function: {name: it.name, arguments: JSON.stringify(it.input)}}));
  }
  const choice = {index: 0, message, logprobs: null, finish_reason: FINISH[answer.finish] ?? answer.finish};
  return {id: 'chatcmpl-1', object: 'chat.completion', created: 1760000000, model, choices: [choice], usage: usage(answer.usage), service_tier: 'default', system_fingerprint: 'fp_1'};
}

export function* events(answer, body, model) {
  const numbered = body.stream_options?.include_usage;
  const head = {id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1760000000, model, system_fingerprint: 'fp_1'};
  const chunk = (delta, finish_reason = null) =>
    `data: ${JSON.stringify({...head, choices: [{index: 0, delta, logprobs: null, finish_reason}], ...(numbered ? {usage: null} : {})})}\n\n`;
  yield chunk({role: 'assistant', content: '', refusal: null});
  for (const word of pieces(answer.thinking)) yield chunk({reasoning_content: word});
  for (const word of pieces(answer.text)) yield chunk(answer.finish === 'refusal' ? {refusal: word} : {content: word});
  for (const [index, it] of answer.tools.entries()) {
    yield chunk({tool_calls: [{index, id: it.id, type: 'function', function: {name: it.name, arguments: ''}}]});
    for (const piece of pieces(JSON.stringify(it.input))) yield chunk({tool_calls: [{index, function: {arguments: piece}}]});
  }
  yield chunk({}, FINISH[answer.finish] ?? answer.finish);
  if (numbered) yield `data: ${JSON.stringify({...head, choices: [], usage: usage(answer.usage)})}\n\n`;
  yield 'data: [DONE]\n\n';
}

export function failure(status, why) {
  const [type, code, message] = {
    busy: ['requests', 'rate_limit_exceeded', 'Rate limit reached. Please try again in 10ms.'],
    context: ['invalid_request_error', 'context_length_exceeded', 'Your input exceeds the context window of this model.'],
    overloaded: ['server_error', null, 'The engine is currently overloaded.'],
  }[why];
  return {error: {message, type, param: null, code}};
}

export const broken = () => `data: ${JSON.stringify(failure(500, 'overloaded'))}\n\n`;

export function pieces(text) {
  return text.match(/[^]{1,9}/gu) ?? [];
}
