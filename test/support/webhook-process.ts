// A webhook of authorization as a program of its own. What it makes of a review stands in the review's object name.
import { type ChildProcess, spawn } from 'node:child_process';

export interface WebhookProcess {
  readonly port: number;
  /** The names it has reviewed so far. */
  readonly reviewed: readonly string[];
  stop(): Promise<void>;
}

const PROGRAM = `
const http = require('node:http');
const server = http.createServer((request, response) => {
  let body = '';
  request.on('data', (chunk) => (body += chunk));
  request.on('end', () => {
    const { name } = JSON.parse(body).spec.resourceAttributes;
    console.log('reviewed ' + name);
    if (name.startsWith('slow')) return;
    if (name === 'half') return response.write('{"status":{"allowed":true');
    if (name === 'torn') return response.socket.destroy();
    if (name === 'garbage') return response.end('{"kind":"Sub');
    if (name === 'endless') {
      response.write('{"reason":"');
      const more = setInterval(() => response.write('x'.repeat(65536)), 1);
      response.on('close', () => clearInterval(more));
      return;
    }
    response.end(JSON.stringify({ status: { allowed: name !== 'no', reason: 'the hook says' } }));
  });
});
server.listen(Number(process.argv[1]), '127.0.0.1', () => console.log('listening ' + server.address().port));
`;

export async function startWebhookProcess(port = 0): Promise<WebhookProcess> {
  const child: ChildProcess = spawn(process.execPath, ['-e', PROGRAM, String(port)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const reviewed: string[] = [];
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const listening = await new Promise<number>((resolve, reject) => {
    child.once('exit', () => reject(new Error('the webhook did not start')));
    let rest = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      const lines = (rest + chunk.toString()).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const [word, value = ''] = line.split(' ');
        if (word === 'reviewed') reviewed.push(value);
        else resolve(Number(value));
      }
    });
  });
  return {
    port: listening,
    reviewed,
    async stop() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
