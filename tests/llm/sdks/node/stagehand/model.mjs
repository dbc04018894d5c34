// node model.mjs LOG: serves OpenAI's Responses for Stagehand on a port of loopback, which it prints.
//
// It answers from the page in the request; each answer is logged as a line of JSON in LOG.
import {appendFileSync} from 'node:fs';
import {createServer} from 'node:http';
import * as responses from '../speaks_responses.mjs';

const [log] = process.argv.slice(2);
let asked = 0;

function answerTo(name, shown) {
  if (name === 'Metadata') return {progress: 'It is found.', completed: true};
  if (name === 'Extraction') return {room: /Room [A-Z]\w+/.exec(shown)?.[0] ?? ''};
  const [, elementId] = /\[(\d+-\d+)\] link: Budget review/.exec(shown);
  return {action: {elementId, description: 'the event', method: 'click', arguments: []}, twoStep: false};
}

const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const shown = Buffer.concat(chunks).toString();
  const body = JSON.parse(shown);
  asked += 1;
  const name = body.text.format.name;
  const usage = {input: 1000 + asked, output: 100 + asked, cacheRead: 10 + asked, cacheWrite: 0, reasoning: asked};
  const answer = {text: JSON.stringify(answerTo(name, shown)), thinking: '', tools: [], finish: 'stop', usage};
  appendFileSync(log, JSON.stringify({name, text: answer.text, usage}) + '\n');
  response.writeHead(200, {'content-type': 'application/json'}).end(JSON.stringify(responses.whole(answer, body, body.model)));
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.resume().on('end', () => process.exit());
