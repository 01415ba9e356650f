// A kubelet that is played: it has logs, runs real commands in a folder of its own, and forwards ports of this machine.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import net, { type AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type AgentStream, serveSpdy } from './spdy-server.js';

export interface TestKubelet {
  readonly port: number;
  /** The requests so far, method and target. */
  readonly requests: string[];
  /** Answers a log; without it a line is all there is. */
  onLog: ((request: IncomingMessage, write: (text: string) => void, end: () => void) => void) | undefined;
  close(): void;
}

export interface AgentOptions {
  readonly cert: string;
  readonly key: string;
  /** Where commands run. */
  readonly folder: string;
}

export async function startTestKubelet({ cert, key, folder }: AgentOptions): Promise<TestKubelet> {
  const open = new Set<Duplex>();
  const server = https.createServer({ cert: fs.readFileSync(cert), key: fs.readFileSync(key) });
  server.on('request', (request, response) => {
    kubelet.requests.push(`${request.method} ${request.url}`);
    response.setHeader('content-type', 'text/plain');
    if (kubelet.onLog === undefined) response.end(`hello from ${request.url}\n`);
    else
      kubelet.onLog(
        request,
        (text) => response.write(text),
        () => response.end(),
      );
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    kubelet.requests.push(`${request.method} ${request.url}`);
    const offered = [request.headers['x-stream-protocol-version'] ?? []].flat().join(',').split(',');
    const protocol = ['v5.channel.k8s.io', 'v4.channel.k8s.io', 'portforward.k8s.io'].find((one) =>
      offered.some((other) => other.trim() === one),
    );
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: ${protocol}\r\n\r\n`,
    );
    const url = new URL(request.url ?? '/', 'https://kubelet');
    const serve = url.pathname.startsWith('/portForward') ? forwardPorts() : runCommand(url, folder, socket);
    serveSpdy(socket, head, serve);
  });
  server.on('connection', (socket: net.Socket) => {
    open.add(socket);
    socket.on('error', () => undefined).once('close', () => open.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const kubelet: TestKubelet = {
    port: (server.address() as AddressInfo).port,
    requests: [],
    onLog: undefined,
    close: () => {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
  return kubelet;
}

/** Runs when all requested streams are there. */
function runCommand(url: URL, folder: string, socket: Duplex): (stream: AgentStream) => void {
  const tty = url.searchParams.has('tty');
  const wanted = ['input', 'output', 'error'].filter(
    (name) => url.searchParams.has(name) && !(tty && name === 'error'),
  );
  const streams = new Map<string, AgentStream>();
  const command = url.pathname.startsWith('/attach') ? ['cat'] : url.searchParams.getAll('command');
  return (stream) => {
    streams.set(stream.headers.get('streamtype') ?? '', stream);
    if (streams.size !== wanted.length + 1 + (tty ? 1 : 0)) return;
    const [program = '', ...args] = command;
    const child = spawn(program, args, { cwd: folder, stdio: 'pipe' });
    const [stdin, stdout, stderr] = ['stdin', 'stdout', 'stderr'].map((name) => streams.get(name));
    if (stdin === undefined) child.stdin.end();
    else stdin.pipe(child.stdin);
    child.stdin.on('error', () => undefined);
    if (stdout === undefined) child.stdout.resume();
    else child.stdout.pipe(stdout);
    if (stderr === undefined) child.stderr.resume();
    else child.stderr.pipe(stderr);
    streams.get('resize')?.once('data', (size: Buffer) => stdout?.write(`size ${size.toString()}`));
    socket.once('close', () => child.kill());
    child.once('close', (code) => {
      const details = { causes: [{ reason: 'ExitCode', message: String(code) }] };
      const status =
        code === 0
          ? { metadata: {}, status: 'Success' }
          : { metadata: {}, status: 'Failure', reason: 'NonZeroExitCode', message: `exit ${code}`, details };
      streams.get('error')?.end(JSON.stringify(status));
      stdin?.end();
    });
  };
}

function forwardPorts(): (stream: AgentStream) => void {
  return (stream) => {
    if (stream.headers.get('streamtype') !== 'data') return void stream.end();
    const target = net.connect(Number(stream.headers.get('port')), '127.0.0.1');
    target.on('error', () => stream.destroy());
    stream.on('error', () => undefined);
    stream.pipe(target).pipe(stream);
  };
}
