import net from 'node:net';
import path from 'node:path';

/** What turn-meter.cjs tells of the server in a folder, since it was asked last. */
export function longestTurn(folder: string): Promise<{ longestMs: number; totalMs: number }> {
  return new Promise((resolve, reject) => {
    let text = '';
    net
      .connect(path.join(folder, 'turns.sock'))
      .on('data', (chunk: Buffer) => (text += chunk.toString()))
      .on('end', () => resolve(JSON.parse(text) as { longestMs: number; totalMs: number }))
      .on('error', reject);
  });
}
