// `node tools/bench-workers.mjs`: a server of one process beside one of several worker processes, in the same run.
//
//   node tools/bench-workers.mjs [--workers 2] [--connections 8] [--streams 16] [--rounds 5] [--gets 80000] [--creates 16000]
//                                [--warm-gets 20000] [--warm-creates 12000]
//
// V8 compiles in each process what runs there often, which takes tens of thousands of requests. So before its rounds each process
// gets as many warm-up requests, and the server of several that many times more. They also show which worker has more to do: new
// connections go to the others.
//
// Needs h2load (Debian package nghttp2-client). Rounds alternate, so that what else the machine does meets both, and medians are
// shown. h2load and the servers share the cores: where there are too few, the rate says less than the processor time of the
// busiest process for a request, which is what bounds a server that has a core for each process. `ratio by processor` is that time
// of one process beside that of the busiest worker.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {
  burst,
  configMap,
  connect,
  headersOf,
  median,
  needH2load,
  option,
  send,
  startBinnacle,
} from './bench/servers.mjs';

const workers = Number(option('--workers', '2'));
const clients = Number(option('--connections', '8'));
const streams = Number(option('--streams', '16'));
const rounds = Number(option('--rounds', '5'));
const counts = { get: Number(option('--gets', '80000')), create: Number(option('--creates', '16000')) };
const warmUps = { get: Number(option('--warm-gets', '20000')), create: Number(option('--warm-creates', '12000')) };
const GOALS = { get: 1.5, create: 1.3 };
const TICKS_PER_SECOND = 100;
const NS = '/api/v1/namespaces/bench';

needH2load();
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'bench-workers-'));
const body = path.join(folder, 'body');
fs.writeFileSync(body, configMap({ generateName: 'gen-' }));
const servers = [];
try {
  for (const count of [1, workers]) {
    const server = await startBinnacle(path.join(folder, String(count)), [`--workers=${count}`, ...limits()]);
    servers.push({ ...server, count });
    await prepare(server);
  }
  for (const work of ['get', 'create']) await compare(work);
} finally {
  for (const { child } of servers) child.kill('SIGTERM');
  await Promise.all(servers.map(({ child }) => new Promise((resolve) => child.on('exit', resolve))));
  fs.rmSync(folder, { recursive: true, force: true });
}

/** Nothing is to be refused. */
function limits() {
  return ['--max-requests-inflight=4000', '--max-mutating-requests-inflight=4000'];
}

async function prepare(server) {
  const session = connect(server);
  await send(session, headersOf('POST', '/api/v1/namespaces'), JSON.stringify({ metadata: { name: 'bench' } }));
  await send(session, headersOf('POST', `${NS}/configmaps`), configMap({ name: 'one' }));
  session.destroy();
}

function loadWith(server, work, count) {
  const target = work === 'get' ? `${NS}/configmaps/one` : `${NS}/configmaps`;
  return burst(server, target, count, { clients, streams, ...(work === 'create' && { bodyFile: body }) });
}

async function compare(work) {
  const seen = servers.map(() => ({ rates: [], micros: [] }));
  for (const server of servers) await loadWith(server, work, warmUps[work] * server.count);
  for (let round = 0; round < rounds; round++) {
    for (const [i, server] of servers.entries()) {
      const { rate, micros } = await measure(server, work);
      seen[i].rates.push(rate);
      seen[i].micros.push(micros);
    }
  }
  const [alone, several] = seen.map(({ rates, micros }) => ({
    rate: median([...rates]),
    micros: micros[0].map((_, process) => median(micros.map((each) => each[process]))),
  }));
  for (const [i, { rate, micros }] of [alone, several].entries()) {
    const shown = micros.map((each, at) => `${nameOf(servers[i], at)} ${each.toFixed(1)}`).join(', ');
    console.log(
      `${work.padEnd(7)} ${servers[i].count} worker(s): ${rate.toFixed(0).padStart(7)}/s   µs of processor a request: ${shown}`,
    );
  }
  const byRate = median(seen[1].rates.map((rate, round) => rate / seen[0].rates[round]));
  const byProcessor = Math.max(...alone.micros) / Math.max(...several.micros);
  const inRounds = seen[0].micros.map((each, round) => Math.max(...each) / Math.max(...seen[1].micros[round]));
  console.log(
    `${work.padEnd(7)} ratio by rate ${byRate.toFixed(2)}, by processor ${byProcessor.toFixed(2)} (goal ${GOALS[work]}; single rounds ${Math.min(...inRounds).toFixed(2)} to ${Math.max(...inRounds).toFixed(2)})`,
  );
}

async function measure(server, work) {
  const pids = processesOf(server.child.pid);
  const before = pids.map(processorMs);
  const rate = await loadWith(server, work, counts[work]);
  return { rate, micros: pids.map((pid, i) => ((processorMs(pid) - before[i]) * 1000) / counts[work]) };
}

/** The supervisor, where there is one, and those that serve. */
function processesOf(pid) {
  const children = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  return [pid, ...children];
}

function nameOf({ count }, at) {
  return count === 1 ? 'server' : at === 0 ? 'supervisor' : `worker ${at - 1}`;
}

function processorMs(pid) {
  const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
}
