// A server of tools made with the official TypeScript SDK: server.mjs TRANSPORT PORT LOG. As server.py.
import {randomUUID} from 'node:crypto';
import {appendFileSync} from 'node:fs';
import express from 'express';
import {z} from 'zod';
import {McpServer} from '@modelcontextprotocol/sdk/server/mcp.js';
import {SSEServerTransport} from '@modelcontextprotocol/sdk/server/sse.js';
import {StdioServerTransport} from '@modelcontextprotocol/sdk/server/stdio.js';
import {StreamableHTTPServerTransport} from '@modelcontextprotocol/sdk/server/streamableHttp.js';

const [transport, port, log] = process.argv.slice(2);

function made() {
  const server = new McpServer({name: 'tools of TypeScript', version: '1'}, {capabilities: {logging: {}}});
  const note = (tool, given, result) => {
    appendFileSync(log, JSON.stringify({tool, arguments: given, result}) + '\n');
    return result;
  };
  const text = (said) => ({content: [{type: 'text', text: String(said)}]});
  const tool = (name, inputSchema, run) =>
    server.registerTool(name, {description: name, inputSchema}, async (given, extra) =>
      text(note(name, given, await run(given, extra))));
  tool('shout', {text: z.string()}, ({text}) => text.toUpperCase());
  tool('add', {a: z.number(), b: z.number()}, ({a, b}) => a + b);
  server.registerTool('fail', {description: 'fail', inputSchema: {reason: z.string()}}, async (given) => {
    note('fail', given, null);
    throw new Error(given.reason);
  });
  tool('work', {steps: z.number()}, async ({steps}, {sendNotification}) => {
    await sendNotification({method: 'notifications/message', params: {level: 'info', data: 'working'}});
    return `${steps} done`;
  });
  return server;
}

if (transport === 'stdio') {
  await made().connect(new StdioServerTransport());
} else {
  serve();
}

function serve() {
  const app = express();
  app.use(express.json());
  const open = new Map();
  app.all('/mcp', async (request, response) => {
    let it = open.get(request.headers['mcp-session-id']);
    if (!it) {
      it = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        enableJsonResponse: transport === 'json',
        onsessioninitialized: (id) => open.set(id, it),
      });
      await made().connect(it);
    }
    await it.handleRequest(request, response, request.body);
  });
  app.get('/sse', async (request, response) => {
    const it = new SSEServerTransport('/messages', response);
    open.set(it.sessionId, it);
    await made().connect(it);
  });
  app.post('/messages', (request, response) =>
    open.get(request.query.sessionId).handlePostMessage(request, response, request.body));
  app.listen(Number(port), '127.0.0.1');
}
