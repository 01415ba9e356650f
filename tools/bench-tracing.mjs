// What tracing costs the requests that are not recorded: the rate of gets without a tracing file and with one that
// records one of a thousand traces, sent to a collector that takes them.
//
//   node tools/bench-tracing.mjs [--gets 20000] [--rounds 40] [--rate 1000]
//
// Needs h2load (Debian package nghttp2-client). In each round both servers answer a short burst, one after the other, and
// the target holds for the median of the rounds' ratios, by processor time: what else the machine does meets few of them.
// That the collector got the spans is checked: a server that records nothing would be quick, too.
import fs from 'node:fs';
import http2 from 'node:http2';
import os from 'node:os';
import path from 'node:path';
import { median, needH2load, option } from './bench/servers.mjs';
import { measureBurst, metricSum, startWithObject } from './bench/turns.mjs';

const TARGET = 0.97;
const GET = { clients: 4, streams: 16 };
const WARMING_GETS = 200_000;
const gets = Number(option('--gets', '20000'));
const rounds = Number(option('--rounds', '40'));
const samplingRatePerMillion = Number(option('--rate', '1000'));

needH2load();
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'bench-tracing-'));
const collector = await startCollector();
const servers = [];
try {
  const plain = await start('plain', []);
  const config = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'TracingConfiguration' };
  const file = path.join(folder, 'tracing.json');
  fs.writeFileSync(file, JSON.stringify({ ...config, endpoint: collector.endpoint, samplingRatePerMillion }));
  const traced = await start('traced', [`--tracing-config-file=${file}`]);
  for (const server of [plain, traced]) {
    await measureBurst(server, WARMING_GETS, GET);
    server.perGetUs = [];
  }
  const ratios = [];
  for (let round = 0; round < rounds; round++) {
    // By turns, and each as often first.
    const order = round % 2 === 0 ? [plain, traced] : [traced, plain];
    for (const server of order) await measureBurst(server, gets, GET);
    ratios.push(plain.perGetUs.at(-1) / traced.perGetUs.at(-1));
  }
  const dropped = await metricSum(traced, 'apiserver_tracing_dropped_spans_total');
  const shown = ({ perGetUs }) => `${median(perGetUs).toFixed(2)} µs of the processor for a get`;
  const ratio = median(ratios);
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
