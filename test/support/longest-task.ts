import net from 'node:net';
import path from 'node:path';
import { pollUntil } from '../../src/lib/testing/poll-until.js';

/** What task-meter.cjs reports of the server in a folder, since the last call. */
export function longestTask(folder: string): Promise<{ longestMs: number; totalMs: number }> {
  return report(path.join(folder, 'tasks.sock'));
}

/** More than the meter itself takes between two reports. */
const IDLE_MS = 5;
const IDLE_PART = 0.1;

/** What longestTask() reports until the server has had nothing to do in so many reports in a row. */
export async function longestUntilIdle(folder: string, reports = 10): Promise<{ longestMs: number; totalMs: number }> {
  const all = { longestMs: 0, totalMs: 0 };
  let idle = 0;
  let lastMs = performance.now();
  await pollUntil(async () => {
    const { longestMs, totalMs } = await longestTask(folder);
    const nowMs = performance.now();
    all.longestMs = Math.max(all.longestMs, longestMs);
    all.totalMs += totalMs;
    idle = totalMs < IDLE_MS + IDLE_PART * (nowMs - lastMs) ? idle + 1 : 0;
    lastMs = nowMs;
    return idle === reports;
  });
  return all;
}

/** What such a server has in use, without garbage. */
export async function keptMib(folder: string): Promise<number> {
  return (await report<{ keptMib: number }>(path.join(folder, 'tasks.sock.memory'))).keptMib;
}

/** How often V8 has collected its whole heap, and the young objects alone. */
export function collections(folder: string): Promise<{ full: number; young: number }> {
  return report(path.join(folder, 'tasks.sock.collections'));
}

function report<T>(at: string): Promise<T> {
  return new Promise((resolve, reject) => {
    let text = '';
    net
      .connect(at)
      .on('data', (chunk: Buffer) => (text += chunk.toString()))
      .on('end', () => resolve(JSON.parse(text) as T))
      .on('error', reject);
  });
}
