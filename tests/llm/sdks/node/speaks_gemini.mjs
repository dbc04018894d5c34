// Gemini's generateContent, from its reference.
import {pieces} from './speaks_chat.mjs';

export const FAMILY = 'gemini';
export const PATH = /:(generateContent|streamGenerateContent)$/;
export const streams = (path) => path.endsWith(':streamGenerateContent');
export const asked = (path) => /([^/]+):\w+$/.exec(path)[1];
// It reports neither cache writes nor refusals.
export const able = (answer) => ({
  ...answer,
  usage: {...answer.usage, cacheWrite: 0},
  finish: answer.finish === 'refusal' ? 'stop' : answer.finish,
});

const FINISH = {stop: 'STOP', tool_calls: 'STOP', length: 'MAX_TOKENS', content_filter: 'SAFETY'};

function usage({input, output, cacheRead, reasoning}) {
  return {
    promptTokenCount: input, candidatesTokenCount: output - reasoning, totalTokenCount: input + output,
    cachedContentTokenCount: cacheRead, thoughtsTokenCount: reasoning,
    promptTokensDetails: [{modality: 'TEXT', tokenCount: input}],
  };
}

function parts(answer) {
  const found = [];
  if (answer.thinking) found.push({text: answer.thinking, thought: true});
  if (answer.text) found.push({text: answer.text});
  for (const it of answer.tools) found.push({functionCall: {id: it.id, name: it.name, args: it.input}, thoughtSignature: 'c2lnbmVk'});
  return found;
}

function said(content, model, finishReason, numbers) {
  const candidate = {content: {parts: content, role: 'model'}, index: 0};
  if (finishReason) candidate.finishReason = finishReason;
  return {candidates: [candidate], usageMetadata: numbers, modelVersion: model, responseId: 'resp-1'};
}

export function whole(answer, body, model) {
  return said(parts(answer), model, FINISH[answer.finish], usage(answer.usage));
}

export function* events(answer, body, model) {
  const framed = (it) => `data: ${JSON.stringify(it)}\r\n\r\n`;
  const soFar = {promptTokenCount: answer.usage.input, totalTokenCount: answer.usage.input};
  for (const part of parts(answer)) {
    if (part.text) for (const text of pieces(part.text)) yield framed(said([{...part, text}], model, null, soFar));
    else yield framed(said([part], model, null, soFar));
  }
  yield framed(said([{text: ''}], model, FINISH[answer.finish], usage(answer.usage)));
}

export function failure(code, why) {
  const [status, message] = {
    busy: ['RESOURCE_EXHAUSTED', 'You exceeded your current quota.'],
    context: ['INVALID_ARGUMENT', 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).'],
    overloaded: ['UNAVAILABLE', 'The model is overloaded. Please try again later.'],
  }[why];
  return {error: {code, message, status}};
}

export const broken = () => `data: ${JSON.stringify(failure(503, 'overloaded'))}\r\n\r\n`;
