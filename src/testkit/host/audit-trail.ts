// What is recorded of a cluster's requests: kube-apiserver's own audit log, in the cluster's folder.
import fs from 'node:fs';
import path from 'node:path';
import type { AuditLevel } from '../protocol/control.js';

const LOG_FILE = 'audit.log';
const POLICY_FILE = 'audit-policy.json';
/** Of all that is kept; one file, so that all of it is read. */
const MAX_MEGABYTES = 1024;

/** An answered request is in the file: events are written before the answer is. */
export function auditFlags(folder: string, level: AuditLevel): string[] {
  if (level === 'None') return [];
  const policy = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', omitStages: ['RequestReceived'], rules: [{ level }] };
  const policyFile = path.join(folder, POLICY_FILE);
  fs.writeFileSync(policyFile, JSON.stringify(policy), { mode: 0o600 });
  return [
    `--audit-policy-file=${policyFile}`,
    `--audit-log-path=${path.join(folder, LOG_FILE)}`,
    '--audit-log-mode=blocking',
    `--audit-log-maxsize=${MAX_MEGABYTES}`,
  ];
}

export function readAudit(folder: string): readonly unknown[] {
  const file = path.join(folder, LOG_FILE);
  if (!fs.existsSync(file)) return [];
  const lines = fs.readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as unknown);
}
