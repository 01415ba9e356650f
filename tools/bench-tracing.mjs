// What tracing costs the requests that are not recorded: the rate of gets without a tracing file and with one that
// records one of a thousand traces, sent to a collector that takes them.
//
//   node tools/bench-tracing.mjs [--seconds 4] [--rounds 7] [--rate 1000]
//
// Needs h2load (Debian package nghttp2-client). In each round both servers run, one after the other; the median of the
// rounds' ratios is shown. That the collector got the spans is checked: a server that records nothing would be quick,
// too. The target holds by processor time; the rate is shown beside it.
import fs from 'node:fs';
import http2 from 'node:http2';
import os from 'node:os';
import path from 'node:path';
import { median, needH2load, option } from './bench/servers.mjs';
import { measureGets, metricSum, shown, startWithObject } from './bench/turns.mjs';

const TARGET = 0.97;
const GET = { clients: 4, streams: 16, seconds: Number(option('--seconds', '4')) };
const rounds = Number(option('--rounds', '7'));
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
  const ratios = { rate: [], processor: [] };
  for (let round = 0; round < rounds; round++) {
    // By turns, and each as often first.
    const order = round % 2 === 0 ? [plain, traced] : [traced, plain];
    for (const server of order) await measureGets(server, GET);
    ratios.rate.push(traced.rates.at(-1) / plain.rates.at(-1));
    ratios.processor.push(plain.perGetUs.at(-1) / traced.perGetUs.at(-1));
  }
  const dropped = await metricSum(traced, 'apiserver_tracing_dropped_spans_total');
  const byProcessor = median(ratios.processor);
  const told = `ratio ${median(ratios.rate).toFixed(3)} by rate, ${byProcessor.toFixed(3)} by processor time`;
  console.log(`no tracing file  ${shown(plain)}`);
  console.log(`${String(samplingRatePerMillion).padEnd(7)} a million ${shown(traced)}`);
  console.log(`${told} (target ${TARGET}); ${collector.batches()} batches, ${dropped} spans dropped`);
  const met = byProcessor >= TARGET && collector.batches() > 0;
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
