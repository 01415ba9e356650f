import net from 'node:net';
import path from 'node:path';

/** What turn-meter.cjs tells of the server in a folder, since it was asked last. */
export function longestTask(folder: string): Promise<{ longestMs: number; totalMs: number }> {
  return told(path.join(folder, 'turns.sock'));
}

/** What such a server has in use, without garbage. */
export async function keptMib(folder: string): Promise<number> {
  return (await told<{ keptMib: number }>(path.join(folder, 'turns.sock.memory'))).keptMib;
}

function told<T>(at: string): Promise<T> {
  return new Promise((resolve, reject) => {
    let text = '';
    net
      .connect(at)
      .on('data', (chunk: Buffer) => (text += chunk.toString()))
      .on('end', () => resolve(JSON.parse(text) as T))
      .on('error', reject);
  });
}
