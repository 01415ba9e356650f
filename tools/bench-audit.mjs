// What a record of every request costs: the rate of gets without audit, at level Metadata and at RequestResponse, the log
// in batch mode.
//
//   node tools/bench-audit.mjs [--seconds 4] [--rounds 5]
//
// Needs h2load (Debian package nghttp2-client). In each round the servers run one after the other, so that what else the
// machine does meets all of them; the median of the rounds' ratios is shown. That every event was written is checked: a
// server that loses them would be quick, too.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { configMap, connect, load, median, needH2load, option, send, startBinnacle } from './bench/servers.mjs';

const LEVELS = { Metadata: 0.85, RequestResponse: 0.6 };
const NS = '/api/v1/namespaces/bench';
const GET = { clients: 4, streams: 16, seconds: Number(option('--seconds', '4')) };
const rounds = Number(option('--rounds', '5'));

needH2load();
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'bench-audit-'));
const servers = [];
try {
  const plain = await start('none');
  const audited = [];
  for (const level in LEVELS) audited.push({ level, ratios: [], ...(await start(level)) });
  for (let round = 0; round < rounds; round++) {
    const rate = await measure(plain);
    for (const server of audited) server.ratios.push((await measure(server)) / rate);
  }
  const perGet = (server) => server.processorUs / server.gets;
  console.log(`no audit         ${shown(plain)}`);
  let missed = 0;
  for (const server of audited) {
    const ratio = median(server.ratios);
    const target = LEVELS[server.level];
    const { made, lost } = await counts(server);
    if (ratio < target || lost > 0) missed++;
    const byProcessor = (perGet(plain) / perGet(server)).toFixed(2);
    const ratios = `ratio ${ratio.toFixed(2)} (target ${target}), by processor time ${byProcessor}`;
    console.log(`${server.level.padEnd(16)} ${shown(server)}   ${ratios}   ${made} events, ${lost} lost`);
  }
  console.log(missed === 0 ? 'every target met' : `${missed} targets missed`);
} finally {
  for (const { child } of servers) child.kill('SIGKILL');
  fs.rmSync(folder, { recursive: true, force: true });
}

/** One round. On a machine that others use as well, the time the serving thread takes says more than the rate. */
async function measure(server) {
  const before = processorUs(server);
  const rate = await load(server, `${NS}/configmaps/one`, GET);
  server.processorUs += processorUs(server) - before;
  // The first second is for warming up; it is not counted in the rate.
  server.gets += rate * (GET.seconds + 1);
  server.rates.push(rate);
  return rate;
}

/** Of the thread that serves. The clock ticks a hundred times a second. */
function processorUs({ child }) {
  const { pid } = child;
  const fields = fs.readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

function shown({ rates, processorUs: us, gets }) {
  return `${median(rates).toFixed(0).padStart(7)} gets/s, ${(us / gets).toFixed(1)} µs of the processor each`;
}

async function start(level) {
  const own = path.join(folder, level);
  const flags = [];
  if (level !== 'none') {
    fs.mkdirSync(own, { recursive: true });
    const policy = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level }] };
    fs.writeFileSync(path.join(own, 'policy.json'), JSON.stringify(policy));
    flags.push(
      `--audit-policy-file=${path.join(own, 'policy.json')}`,
      `--audit-log-path=${path.join(own, 'audit.log')}`,
    );
    flags.push('--audit-log-mode=batch', '--audit-log-maxsize=100', '--audit-log-maxbackup=1');
  }
  const server = { ...(await startBinnacle(own, flags)), rates: [], processorUs: 0, gets: 0 };
  servers.push(server);
  const session = connect(server);
  await send(session, 'POST', '/api/v1/namespaces', JSON.stringify({ metadata: { name: 'bench' } }));
  await send(session, 'POST', `${NS}/configmaps`, configMap({ name: 'one' }));
  session.close();
  return server;
}

async function counts(server) {
  const session = connect(server);
  const text = String(await send(session, 'GET', '/metrics'));
  session.close();
  const sum = (name) =>
    text
      .split('\n')
      .filter((line) => line.startsWith(name))
      .reduce((total, line) => total + Number(line.split(' ').at(-1)), 0);
  return { made: sum('apiserver_audit_event_total'), lost: sum('apiserver_audit_error_total') };
}
