import net from 'node:net';
import path from 'node:path';

/** What task-meter.cjs reports of the server in a folder, since the last call. */
export function longestTask(folder: string): Promise<{ longestMs: number; totalMs: number }> {
  return report(path.join(folder, 'tasks.sock'));
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
