import fs from 'node:fs';

export interface Footprint {
  readonly residentMib: number;
  readonly descriptors: number;
}

/** What a process holds now. */
export function footprintOf(pid: number): Footprint {
  const status = fs.readFileSync(`/proc/${pid}/status`, 'utf8');
  return {
    residentMib: Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024),
    descriptors: fs.readdirSync(`/proc/${pid}/fd`).length,
  };
}
