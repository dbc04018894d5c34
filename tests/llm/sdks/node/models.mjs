// node models.mjs LOG: serves fake model APIs on a port of loopback, which it prints.
//
// The first part of a path is the case, the rest the vendor's path; each answer is logged as a line
// of JSON in LOG, in a format of no vendor.
import {createHash} from 'node:crypto';
import {appendFileSync} from 'node:fs';
import {createServer} from 'node:http';
import {createBrotliCompress, createGzip} from 'node:zlib';
import {WebSocketServer} from 'ws';
import * as anthropic from './speaks_anthropic.mjs';
import * as chat from './speaks_chat.mjs';
import * as gemini from './speaks_gemini.mjs';
import * as responses from './speaks_responses.mjs';

const [log] = process.argv.slice(2);
const SPOKEN = [anthropic, chat, gemini, responses];

const USAGE = {input: 1500, output: 46, cacheRead: 1024, cacheWrite: 128, reasoning: 0};
const PLAIN = {
  text: 'Das Büro liegt im Raum „Wacholder“ 🌿.\n\n“Fine”, said it. ',
  thinking: '', tools: [], finish: 'stop', usage: USAGE,
};
const CLICKS = {
  ...PLAIN,
  text: 'I look.',
  tools: [
    {id: 'call_1', name: 'click', input: {id: 12, note: 'naïve “quotes” \\ "\n"'}},
    {id: 'call_2', name: 'goto', input: {url: 'https://shop.example/?q=ä&b=1'}},
  ],
  finish: 'tool_calls',
};
const ANSWERS = {
  text: PLAIN,
  packed: PLAIN,
  unnumbered: PLAIN,
  thinking: {...PLAIN, thinking: 'Where may it be?\nIn a room.', usage: {...USAGE, output: 90, reasoning: 44}},
  tools: CLICKS,
  length: {...PLAIN, finish: 'length'},
  filter: {...PLAIN, text: 'Das', finish: 'content_filter'},
  refusal: {...PLAIN, text: 'I cannot help with that.', finish: 'refusal'},
  object: {...PLAIN, text: '{"room": "Wacholder", "floor": 3}'},
};
const FAILS = {
  long: [400, 'context'],
  overloaded: [503, 'overloaded'],
};
const answered = new Map();

function answerTo(name, body) {
  if (name === 'loop') return /"role":"tool"|function_call_output|tool_result|functionResponse/.test(body) ? PLAIN : CLICKS;
  if (name === 'image') {
    // Its text says what it saw.
    const seen = [...body.matchAll(/[A-Za-z0-9+/]{400,}={0,2}/g)].map(([it]) => digest(Buffer.from(it, 'base64')));
    return {...PLAIN, text: `I see ${seen.join(' ')}.`};
  }
  return ANSWERS[name] ?? PLAIN;
}

function digest(bytes) {
  return createHash('sha256').update(bytes).digest('hex');
}

function note(entry) {
  appendFileSync(log, JSON.stringify(entry) + '\n');
}

// Read a call; return its answer and its log entry.
function called(spoken, name, path, raw, {stream, asked, transport = 'http'}) {
  const entry = {case: name, family: spoken.FAMILY, path, transport, asked, stream, body: digest(raw)};
  const times = (answered.get(`${name} ${path} ${stream} ${transport}`) ?? 0) + 1;
  answered.set(`${name} ${path} ${stream} ${transport}`, times);
  if (name === 'gone' || (['late', 'reset'].includes(name) && times % 2)) return {entry: {...entry, status: null, finish: 'error'}};
  const fails = name === 'busy' && times % 2 ? [429, 'busy'] : FAILS[name];
  if (fails) return {fails, entry: {...entry, status: fails[0], finish: 'error', error: spoken.failure(...fails).error.message}};
  const answer = spoken.able(answerTo(name, raw.toString()));
  const finish = {broken: 'error', cut: 'cut', aborted: 'cut'}[name] ?? answer.finish;
  const error = name === 'broken' ? spoken.failure(500, 'overloaded').error.message : undefined;
  return {answer, entry: {...entry, status: 200, ...answer, finish, error}};
}

async function serve(request, response) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const raw = Buffer.concat(chunks);
  const [, name, rest] = /^\/([^/]+)(\/.*)$/.exec(request.url) ?? [];
  const path = (rest ?? '').split('?')[0];
  response.sendDate = false;
  const spoken = SPOKEN.find((it) => it.PATH.test(path));
  if (!spoken || request.method !== 'POST') return whole(response, 200, other(path), {});
  const body = JSON.parse(raw);
  const stream = spoken.streams(path, body);
  const {answer, fails, entry} = called(spoken, name, path, raw, {stream, asked: spoken.asked(path, body)});
  note(entry);
  if (entry.status === null) return entry.case === 'late' || response.destroy();
  const headers = {'x-request-id': `req_${name}`, 'request-id': `req_${name}`, 'x-a-header': 'kept'};
  if (fails) return whole(response, fails[0], spoken.failure(...fails), {...headers, 'retry-after-ms': '10'});
  if (!stream) {
    const said = spoken.whole(answer, body, entry.asked);
    return whole(response, 200, said, headers, name === 'packed' && request.headers['accept-encoding']);
  }
  const events = [...spoken.events(answer, body, entry.asked)];
  response.writeHead(200, {...headers, 'content-type': 'text/event-stream; charset=utf-8', ...(name === 'packed' ? {'content-encoding': packing(request)} : {})});
  const out = name === 'packed' ? packer(request) : response;
  if (out !== response) out.pipe(response);
  const half = Math.ceil(events.length / 2);
  const sent = name === 'broken' ? [...events.slice(0, half), spoken.broken()] : ['cut', 'aborted'].includes(name) ? events.slice(0, half) : events;
  for (const event of sent) {
    // In two writes, split within an event.
    const bytes = Buffer.from(event);
    out.write(bytes.subarray(0, 7));
    if (out !== response) await new Promise((done) => out.flush(done));
    out.write(bytes.subarray(7));
    await new Promise(setImmediate);
  }
  // Wait until the client closes.
  if (name === 'aborted') return;
  if (name === 'cut') return setTimeout(() => response.destroy(), 20);
  out.end();
}

function packing(request) {
  return /\bbr\b/.test(request.headers['accept-encoding']) ? 'br' : 'gzip';
}

function packer(request) {
  return packing(request) === 'br' ? createBrotliCompress() : createGzip();
}

function whole(response, status, said, headers, packed = false) {
  const bytes = Buffer.from(JSON.stringify(said));
  const kind = {...headers, 'content-type': 'application/json'};
  if (!packed) return response.writeHead(status, {...kind, 'content-length': bytes.length}).end(bytes);
  response.writeHead(status, {...kind, 'content-encoding': packing(response.req)});
  const out = packer(response.req);
  out.pipe(response);
  out.end(bytes);
}

// Calls that generate nothing, and Vercel's own gateway, an API that WAREX does not read.
function other(path) {
  if (path.endsWith('/embeddings')) {
    return {object: 'list', model: 'text-embedding-3-small', data: [{object: 'embedding', index: 0, embedding: [0.5, -1]}], usage: {prompt_tokens: 3, total_tokens: 3}};
  }
  if (path.endsWith('/count_tokens')) return {input_tokens: 17};
  if (path.endsWith('/language-model')) {
    const usage = {inputTokens: {total: 3}, outputTokens: {total: 2}};
    return {content: [{type: 'text', text: 'Yes.'}], finishReason: {unified: 'stop', raw: 'stop'}, usage, warnings: []};
  }
  return {object: 'list', data: [{id: 'gpt-5', object: 'model', created: 1, owned_by: 'them'}]};
}

const server = createServer((request, response) => void serve(request, response));
const sockets = new WebSocketServer({noServer: true});
server.on('upgrade', (request, socket, head) => {
  const [, name, path] = /^\/([^/]+)(\/[^?]*)/.exec(request.url);
  sockets.handleUpgrade(request, socket, head, (line) => {
    line.on('message', (raw) => {
      const body = JSON.parse(raw);
      if (body.generate === false) return;
      const {answer, fails, entry} = called(responses, name, path, raw, {stream: true, asked: body.model, transport: 'websocket'});
      note(entry);
      if (fails) return line.send(JSON.stringify({type: 'error', status: fails[0], ...responses.failure(...fails)}));
      const events = [...responses.frames(answer, body, entry.asked)];
      const half = ['cut', 'aborted'].includes(name) ? events.length / 2 : events.length;
      for (const event of events.slice(0, half)) line.send(JSON.stringify(event));
      if (name === 'cut') line.terminate();
    });
  });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.resume().on('end', () => process.exit());
