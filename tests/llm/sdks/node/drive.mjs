// node drive.mjs ORIGIN: prints what each vendor's SDK returns for the answers of models.mjs, as JSON.
import {createHash} from 'node:crypto';
import {deflateSync} from 'node:zlib';
import {run as runAnthropic} from './with_anthropic.mjs';
import {run as runOpenAi} from './with_openai.mjs';
import {run as runVercel} from './with_vercel.mjs';

const [origin] = process.argv.slice(2);
const results = {};

// Call `work` and record its result: a value, or the error that the SDK throws.
async function record(name, work) {
  if (name in results) throw new Error(`${name} twice`);
  try {
    results[name] = {value: await work()};
  } catch (error) {
    results[name] = {error: described(error)};
  }
}

function described(error) {
  if (!(error instanceof Error)) return String(error);
  const {name, message, status, statusCode, code, type, requestID, responseBody, isRetryable, errors, lastError, reason} = error;
  const cause = error.cause instanceof Error ? described(error.cause) : undefined;
  const body = error.error instanceof Error ? described(error.error) : error.error;
  return {
    class: error.constructor.name, name, message, status, statusCode, code, type, requestID, responseBody, isRetryable, body, reason, cause,
    errors: errors?.map(described), lastError: lastError && described(lastError), header: error.headers?.get?.('x-a-header'),
  };
}

// A PNG of noise from a seed, which a test can recognise.
function noise(seed, side = 40) {
  const rows = Buffer.alloc((side * 3 + 1) * side);
  for (let at = 0; at < rows.length; at += 32) createHash('sha256').update(`${seed}${at}`).digest().copy(rows, at);
  for (let row = 0; row < side; row++) rows[row * (side * 3 + 1)] = 0;
  const head = Buffer.alloc(13);
  head.writeUInt32BE(side, 0);
  head.writeUInt32BE(side, 4);
  head.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), chunk('IHDR', head), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))]);
}

function chunk(name, data) {
  const body = Buffer.concat([Buffer.from(name), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  let crc = ~0;
  for (const byte of body) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  framed.writeUInt32BE(~crc >>> 0, body.length + 4);
  return framed;
}

const given = {
  record,
  origin,
  images: ['one', 'two'].map((seed) => noise(seed).toString('base64')),
  digest: (text) => createHash('sha256').update(text).digest('hex'),
  question: 'In which room is the “Büro”?\n',
};
await runOpenAi(given);
await runAnthropic(given);
await runVercel(given);
process.stdout.write(JSON.stringify(results, null, 1).replaceAll(origin, 'ORIGIN'));
