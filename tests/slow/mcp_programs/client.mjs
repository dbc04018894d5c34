// A client made with the official TypeScript SDK: client.mjs TRANSPORT URL. As client.py.
import {readFileSync} from 'node:fs';
import {Client} from '@modelcontextprotocol/sdk/client/index.js';
import {SSEClientTransport} from '@modelcontextprotocol/sdk/client/sse.js';
import {StdioClientTransport} from '@modelcontextprotocol/sdk/client/stdio.js';
import {StreamableHTTPClientTransport} from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const [transport, url] = process.argv.slice(2);
const opened = () => {
  if (transport === 'stdio') {
    const [command, ...args] = JSON.parse(url);
    return new StdioClientTransport({command, args});
  }
  const Transport = transport === 'sse' ? SSEClientTransport : StreamableHTTPClientTransport;
  return new Transport(new URL(url));
};
const client = new Client({name: 'client', version: '1'});
await client.connect(opened());
const found = [];
for (const [tool, given] of JSON.parse(readFileSync(0, 'utf8'))) {
  const began = performance.now();
  let came;
  try {
    if (tool === null) {
      const {tools} = await client.listTools();
      came = {tools: tools.map((it) => it.name).sort()};
    } else {
      const options = {timeout: tool.startsWith('browser_') ? 30000 : 6000};
      const got = await client.callTool({name: tool, arguments: given}, undefined, options);
      came = {failed: got.isError ?? false, said: got.content.map((it) => it.text ?? it.data ?? '')};
    }
  } catch (error) {
    came = error.code === -32001 && /timed out/.test(error.message)
      ? {waits: true}
      : {error: error.code ?? null, words: error.message};
  }
  found.push({...came, seconds: Math.round((performance.now() - began) / 10) / 100});
}
console.log(JSON.stringify(found));
await client.close();
process.exit(0);
