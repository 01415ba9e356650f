// What a record of every request costs: the rate of gets without audit, at level Metadata and at RequestResponse, the log
// in batch mode.
//
//   node tools/bench-audit.mjs [--gets 10000] [--rounds 16] [--copies 2]
//
// Needs h2load (Debian package nghttp2-client). The targets hold for the means of the kinds, by the processor time of the
// thread that serves (bench/alternate.mjs). That every event was written is checked: a server that loses them would be
// quick, too.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { needH2load, option } from './bench/servers.mjs';
import { meanUs, measureAlternately, metricSum, shownUs, startWithObject } from './bench/alternate.mjs';

const LEVELS = { Metadata: 0.85, RequestResponse: 0.6 };
const GET = { clients: 4, streams: 16 };
const gets = Number(option('--gets', '10000'));
const rounds = Number(option('--rounds', '16'));
const copies = Number(option('--copies', '2'));

needH2load();
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'bench-audit-'));
const servers = [];
try {
  const kinds = { none: [], Metadata: [], RequestResponse: [] };
  for (let copy = 0; copy < copies; copy++) {
    for (const level in kinds) kinds[level].push(await start(level, copy));
  }
  await measureAlternately(servers, { rounds, gets, ...GET });
  console.log(`no audit         ${shownUs(kinds.none)}`);
  let missed = 0;
  for (const level in LEVELS) {
    const kind = kinds[level];
    const ratio = meanUs(kinds.none) / meanUs(kind);
    let made = 0;
    let lost = 0;
    for (const server of kind) {
      made += await metricSum(server, 'apiserver_audit_event_total');
      lost += await metricSum(server, 'apiserver_audit_error_total');
    }
    if (ratio < LEVELS[level] || lost > 0) missed++;
    const verdict = `ratio ${ratio.toFixed(2)} (target ${LEVELS[level]}); ${made} events, ${lost} lost`;
    console.log(`${level.padEnd(16)} ${shownUs(kind)}   ${verdict}`);
  }
  console.log(missed === 0 ? 'every target met' : `${missed} targets missed`);
  process.exitCode = missed === 0 ? 0 : 1;
} finally {
  for (const { child } of servers) child.kill('SIGKILL');
  fs.rmSync(folder, { recursive: true, force: true });
}

async function start(level, copy) {
  const own = path.join(folder, `${level}-${copy}`);
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
