import { execFileSync } from 'node:child_process';
import fs from 'node:fs';

/** What the process of the server with this data folder holds in memory. */
export function residentMib(folder: string): number {
  const pids = execFileSync('pgrep', ['-f', `data-dir=${folder} `])
    .toString()
    .trim()
    .split('\n');
  const sizes = pids.map((pid) => /VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  return Math.max(...sizes.map(Number)) / 1024;
}
