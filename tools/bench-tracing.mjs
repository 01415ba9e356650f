// What tracing costs the requests that are not recorded: the rate of gets without a tracing file and with one that
// records one of a thousand traces, sent to a collector that accepts them.
//
//   node tools/bench-tracing.mjs [--gets 10000] [--rounds 16] [--pairs 4] [--rate 1000]
//
// Needs h2load (Debian package nghttp2-client). The target holds for the means of the kinds, by the processor time of the
// thread that serves (bench/alternate.mjs). That the collector got the spans is checked: a server that records nothing
// would be quick, too.
import fs from 'node:fs';
import http2 from 'node:http2';
import os from 'node:os';
import path from 'node:path';
import { needH2load, option } from './bench/servers.mjs';
import { meanUs, measureAlternately, metricSum, shownUs, startWithObject } from './bench/alternate.mjs';

const TARGET = 0.97;
const GET = { clients: 4, streams: 16 };
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
  await measureAlternately(servers, { rounds, gets, ...GET });
  let dropped = 0;
  for (const server of traced) dropped += await metricSum(server, 'apiserver_tracing_dropped_spans_total');
  const ratio = meanUs(plain) / meanUs(traced);
  console.log(`no tracing file  ${shownUs(plain)}`);
  console.log(`${String(samplingRatePerMillion).padEnd(7)} a million ${shownUs(traced)}`);
  console.log(`ratio ${ratio.toFixed(3)} (target ${TARGET}); ${collector.batches()} batches, ${dropped} spans dropped`);
  const met = ratio >= TARGET && (samplingRatePerMillion === 0 || collector.batches() > 0);
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
