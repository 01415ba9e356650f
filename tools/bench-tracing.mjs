// What tracing costs the requests that are not recorded: the rate of gets without a tracing file and with one that
// records one of a thousand traces, sent to a collector that takes them.
//
//   node tools/bench-tracing.mjs [--gets 10000] [--rounds 16] [--pairs 4] [--rate 1000]
//
// Needs h2load (Debian package nghttp2-client). V8 makes other code of the same server each time it starts, and two of the
// same kind differ by up to a tenth: so there are several of each kind. In each round all answer a short burst, one after
// the other. Of each server the quicker half of its bursts counts, by processor time, which other work on the machine met
// least; the target holds for the means of the kinds. That the collector got the spans is checked: a server that records
// nothing would be quick, too.
import fs from 'node:fs';
import http2 from 'node:http2';
import os from 'node:os';
import path from 'node:path';
import { needH2load, option } from './bench/servers.mjs';
import { measureBurst, metricSum, startWithObject } from './bench/turns.mjs';

const TARGET = 0.97;
const GET = { clients: 4, streams: 16 };
const WARMING_GETS = 100_000;
const gets = Number(option('--gets', '10000'));
const rounds = Number(option('--rounds', '16'));
const pairs = Number(option('--pairs', '4'));
const samplingRatePerMillion = Number(option('--rate', '1000'));

needH2load();
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'bench-tracing-'));
const collector = await startCollector();
const servers = [];
try {
  const config = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'TracingConfiguration' };
  const file = path.join(folder, 'tracing.json');
  fs.writeFileSync(file, JSON.stringify({ ...config, endpoint: collector.endpoint, samplingRatePerMillion }));
  const plain = [];
  const traced = [];
  for (let pair = 0; pair < pairs; pair++) {
    plain.push(await start(`plain-${pair}`, []));
    traced.push(await start(`traced-${pair}`, [`--tracing-config-file=${file}`]));
  }
  for (const server of servers) {
    await measureBurst(server, WARMING_GETS, GET);
    server.perGetUs = [];
  }
  for (let round = 0; round < rounds; round++) {
    // By turns, and each as often first.
    const first = round % servers.length;
    for (const server of [...servers.slice(first), ...servers.slice(0, first)]) await measureBurst(server, gets, GET);
  }
  let dropped = 0;
  for (const server of traced) dropped += await metricSum(server, 'apiserver_tracing_dropped_spans_total');
  const shown = (kind) => {
    const each = kind.map((server) => quickerHalf(server).toFixed(2)).join(', ');
    return `${mean(kind.map(quickerHalf)).toFixed(2)} µs of the processor for a get (${each})`;
  };
  const ratio = mean(plain.map(quickerHalf)) / mean(traced.map(quickerHalf));
  console.log(`no tracing file  ${shown(plain)}`);
  console.log(`${String(samplingRatePerMillion).padEnd(7)} a million ${shown(traced)}`);
  console.log(`ratio ${ratio.toFixed(3)} (target ${TARGET}); ${collector.batches()} batches, ${dropped} spans dropped`);
  const met = ratio >= TARGET && collector.batches() > 0;
  console.log(met ? 'the target is met' : 'the target is missed');
  process.exitCode = met ? 0 : 1;
} finally {
  for (const { child } of servers) child.kill('SIGKILL');
  collector.close();
  fs.rmSync(folder, { recursive: true, force: true });
}

async function start(name, flags) {
  const server = await startWithObject(path.join(folder, name), flags);
  servers.push(server);
  return server;
}

/** The mean of the quicker half of a server's bursts. */
function quickerHalf({ perGetUs }) {
  const sorted = perGetUs.toSorted((a, b) => a - b);
  return mean(sorted.slice(0, Math.ceil(sorted.length / 2)));
}

function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Takes everything, and counts. */
async function startCollector() {
  let batches = 0;
  const server = http2.createServer();
  server.on('stream', (stream) => {
    stream.resume();
    stream.on('end', () => {
      batches++;
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.end(Buffer.alloc(5));
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `127.0.0.1:${server.address().port}`,
    batches: () => batches,
    close: () => server.close(),
  };
}
