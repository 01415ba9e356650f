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
import { median, needH2load, option } from './bench/servers.mjs';
import { measureGets, metricSum, shown, startWithObject } from './bench/turns.mjs';

const LEVELS = { Metadata: 0.85, RequestResponse: 0.6 };
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
    const rate = await measureGets(plain, GET);
    for (const server of audited) server.ratios.push((await measureGets(server, GET)) / rate);
  }
  const perGet = (server) => server.processorUs / server.gets;
  console.log(`no audit         ${shown(plain)}`);
  let missed = 0;
  for (const server of audited) {
    const ratio = median(server.ratios);
    const target = LEVELS[server.level];
    const made = await metricSum(server, 'apiserver_audit_event_total');
    const lost = await metricSum(server, 'apiserver_audit_error_total');
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
  const server = await startWithObject(own, flags);
  servers.push(server);
  return server;
}
