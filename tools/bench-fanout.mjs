// How many watch events a server delivers, and what each costs it, with clients that only count them.
//
//   node tools/bench-fanout.mjs [--watches 200] [--connections 4] [--readers 2] [--creates 2000] [--rounds 5]
//
// A client of Node's takes longer for an event than the server does, and so measures itself. Here the clients are
// processes of their own that walk over the frames: what they take for an event is shown beside what the server takes.
// Needs h2load (Debian package nghttp2-client), which writes the objects, eight at a time.
import { fork } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import tls from 'node:tls';
import { burst, connect, median, needH2load, option, headersOf, send, startBinnacle, TOKEN } from './bench/servers.mjs';

const SECRETS = '/api/v1/namespaces/bench/secrets';
const FRAME_HEAD_BYTES = 9;
const [DATA, HEADERS, SETTINGS, WINDOW_UPDATE] = [0, 1, 4, 8];
const [ACK, END_STREAM_AND_HEADERS] = [1, 5];
const MAX_WINDOW = 2 ** 31 - 1;
const DEFAULT_WINDOW = 65_535;
const NEWLINE = 10;

const reader = option('--reader', '');
if (reader === '') await main();
else read(reader);

async function main() {
  needH2load();
  const [watches, connections, readers, creates, rounds] = Object.entries({
    '--watches': '200',
    '--connections': '4',
    '--readers': '2',
    '--creates': '2000',
    '--rounds': '5',
  }).map(([name, fallback]) => Number(option(name, fallback)));
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-fanout-'));
  const bodyFile = path.join(folder, 'body');
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { generateName: 'f-' } };
  fs.writeFileSync(bodyFile, JSON.stringify({ ...secret, stringData: { pad: 'x'.repeat(300) } }));
  const server = await startBinnacle(folder);
  const children = [];
  try {
    const session = connect(server);
    await send(session, headersOf('POST', '/api/v1/namespaces'), JSON.stringify({ metadata: { name: 'bench' } }));
    session.close();
    const each = { connections: connections / readers, watches: watches / connections };
    for (let i = 0; i < readers; i++) {
      const args = ['--reader', server.url, '--connections', each.connections, '--watches', each.watches];
      children.push(fork(import.meta.filename, args.map(String)));
    }
    const all = () => Promise.all(children.map(countOf));
    const sum = (counts, what) => counts.reduce((total, count) => total + count[what], 0);
    while (sum(await all(), 'answered') < watches) await pause(50);
    const rates = [];
    for (let round = 0; round < rounds; round++) {
      const before = await all();
      const usedMs = mainThreadMs(server.child.pid);
      const began = performance.now();
      const wanted = sum(before, 'events') + creates * watches;
      await burst(server, SECRETS, creates, { clients: 1, streams: 8, bodyFile });
      let after = await all();
      while (sum(after, 'events') < wanted) {
        await pause(5);
        after = await all();
      }
      const events = creates * watches;
      const rate = events / ((performance.now() - began) / 1000);
      const serverUs = ((mainThreadMs(server.child.pid) - usedMs) * 1000) / events;
      const readerUs = ((sum(after, 'usedMs') - sum(before, 'usedMs')) * 1000) / events;
      rates.push(rate);
      console.log(
        `${Math.round(rate)} events/s   server ${serverUs.toFixed(2)} µs each, with the write   readers ${readerUs.toFixed(2)} µs`,
      );
    }
    console.log(`${Math.round(median(rates))} events/s, the median of ${rounds}`);
  } finally {
    for (const child of children) child.kill('SIGKILL');
    server.child.kill('SIGKILL');
    fs.rmSync(folder, { recursive: true, force: true });
  }
  process.exit(0);
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function mainThreadMs(pid) {
  return Number(fs.readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}

function countOf(child) {
  return new Promise((resolve) => {
    child.once('message', resolve);
    child.send('count');
  });
}

/** Opens watches and counts their events, until it is ended. */
function read(url) {
  const counts = { answered: 0, events: 0 };
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send({ ...counts, usedMs: (user + system) / 1000 });
  });
  for (let i = 0; i < Number(option('--connections')); i++) watch(new URL(url), Number(option('--watches')), counts);
}

function watch({ hostname, port, host }, watches, counts) {
  const socket = tls.connect({ host: hostname, port: Number(port), ALPNProtocols: ['h2'], rejectUnauthorized: false });
  socket.write(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), ...firstFrames(host, watches)]));
  // What a frame has left, of the kind that it is; and a head that came in parts.
  let left = 0;
  let isData = false;
  let rest = Buffer.alloc(0);
  socket.on('data', (received) => {
    const bytes = rest.length === 0 ? received : Buffer.concat([rest, received]);
    let at = 0;
    for (;;) {
      const end = Math.min(bytes.length, at + left);
      if (isData) for (let i = at; (i = bytes.indexOf(NEWLINE, i)) >= 0 && i < end; i++) counts.events++;
      left -= end - at;
      at = end;
      if (left > 0 || bytes.length - at < FRAME_HEAD_BYTES) break;
      left = bytes.readUIntBE(at, 3);
      isData = bytes[at + 3] === DATA;
      if (bytes[at + 3] === HEADERS) counts.answered++;
      at += FRAME_HEAD_BYTES;
    }
    rest = bytes.subarray(at);
  });
}

/** Settings and windows as large as they may be, and a request for each watch, without compression of its head. */
function firstFrames(authority, watches) {
  const window = Buffer.alloc(6);
  window.writeUInt16BE(4);
  window.writeUInt32BE(MAX_WINDOW, 2);
  const more = Buffer.alloc(4);
  more.writeUInt32BE(MAX_WINDOW - DEFAULT_WINDOW);
  const head = Buffer.concat([
    Buffer.from([0x82, 0x87]),
    literal([0x01], authority),
    literal([0x04], `${SECRETS}?watch=1&resourceVersion=0`),
    literal([0x0f, 0x08], `Bearer ${TOKEN}`),
  ]);
  const requests = Array.from({ length: watches }, (_, i) => frame(HEADERS, END_STREAM_AND_HEADERS, 2 * i + 1, head));
  return [frame(SETTINGS, 0, 0, window), frame(SETTINGS, ACK, 0), frame(WINDOW_UPDATE, 0, 0, more), ...requests];
}

/** A field whose name is in the table that everybody has. */
function literal(name, value) {
  return Buffer.concat([Buffer.from([...name, value.length]), Buffer.from(value)]);
}

function frame(type, flags, stream, payload = Buffer.alloc(0)) {
  const head = Buffer.alloc(FRAME_HEAD_BYTES);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}
