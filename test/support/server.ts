// The real program on a free port with a data folder of its own.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import fs from 'node:fs';
import type http from 'node:http';
import https from 'node:https';
import os from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { pollUntil } from '../../src/lib/testing/poll-until.js';
import { freePort } from './free-port.js';
import { allWorkersStarted, withWorkers } from './worker-flags.js';

const root = process.env['BINNACLE_ROOT'] ?? process.cwd();

export interface TestAnswer {
  readonly status: number;
  readonly body: string;
  readonly headers: http.IncomingHttpHeaders;
}

export interface TestServer {
  readonly url: string;
  readonly folder: string;
  readonly kubeconfig: string;
  readonly log: () => string;
  readonly pid: number;
  /** Resolves when the process has ended, by whatever cause: with its exit code, or null where a signal ended it. */
  readonly exited: Promise<number | null>;
  /** A request of the administrator, over a connection of its own where connections are not kept. */
  request(method: string, path: string, body?: unknown, contentType?: string): Promise<TestAnswer>;
  /** A request of the administrator with a body as it is, JSON unless the headers say otherwise. */
  send(method: string, path: string, body?: string, headers?: Readonly<Record<string, string>>): Promise<TestAnswer>;
  /** Resolves when the watch has begun; hands over its lines as they come, until the signal or its end. */
  watch(
    path: string,
    signal: AbortSignal,
    line: (event: { type: string; object: unknown }) => void,
    ended?: (status: number) => void,
  ): Promise<void>;
  /** At once, as when the power goes. */
  kill(): Promise<void>;
  /** Sends SIGTERM, waits for the end and removes the folder. */
  stop(): Promise<void>;
}

export interface TestServerOptions {
  readonly flags?: readonly string[];
  /** Start as `npm start` does, with its flags. */
  readonly npmStart?: boolean;
  /** The authorizers, where others are wanted than RBAC; none when flags name a file of them. */
  readonly authorizationModes?: readonly string[];
  /** The administrator shows a token, for servers that make no certificates for clients. */
  readonly adminToken?: string;
  /** Of a server that was killed: it is started again. */
  readonly folder?: string;
  /** Begin when it answers at all, for a server that never becomes ready. */
  readonly untilLive?: boolean;
  /** The name that the server's host has, by which servers know each other. */
  readonly hostname?: string;
  /** Requests go over connections that are kept: for tests that make thousands. */
  readonly keepsConnections?: boolean;
  /** The path of task-meter.cjs: the server reports its longest event loop task at `tasks.sock` in its folder. */
  readonly meterTasks?: string;
  /** A file with milliseconds by which its time of day is shifted; read anew at SIGUSR2. */
  readonly clockFile?: string;
}

export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const folder = options.folder ?? fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-test-'));
  const port = await freePort();
  const server = new ServerProcess(spawnServer(options, folder, port), options, { folder, port });
  try {
    await server.becomesReady(options.untilLive === true ? '/version' : '/readyz');
    if (options.untilLive !== true) await pollUntil(() => allWorkersStarted(server.log()) || server.hasEnded);
  } catch (error) {
    await server.kill();
    throw error;
  }
  return server;
}

function spawnServer(options: TestServerOptions, folder: string, port: number): ServerChild {
  const { adminToken, npmStart = false } = options;
  const flags = [`--data-dir=${folder}`, `--secure-port=${port}`, ...(options.flags ?? [])];
  if (adminToken !== undefined) {
    const file = path.join(folder, 'tokens.csv');
    fs.writeFileSync(file, `${adminToken},admin,admin,"system:masters"\n`);
    flags.push(`--token-auth-file=${file}`, `--cert-dir=${folder}`);
  }
  const program = npmStart
    ? [process.execPath, path.join(root, 'bin', 'binnacle'), 'up', '--foreground']
    : [path.join(root, 'bin', 'binnacle'), '--service-cluster-ip-range=10.0.0.0/24'];
  const modes = npmStart ? [] : (options.authorizationModes ?? ['RBAC']);
  if (modes.length > 0) flags.push(`--authorization-mode=${modes.join(',')}`);
  const [command = '', ...args] = program;
  return spawn(command, [...args, ...withWorkers(flags)], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      ...process.env,
      ...(options.meterTasks !== undefined && metered(options.meterTasks, folder)),
      ...(options.hostname !== undefined && onHost(options.hostname, folder)),
      ...(options.clockFile !== undefined && shiftedClock(options.clockFile)),
    },
  });
}

type ServerChild = ChildProcessByStdio<null, null, Readable>;

class ServerProcess implements TestServer {
  readonly url: string;
  readonly folder: string;
  readonly kubeconfig: string;
  readonly exited: Promise<number | null>;
  readonly #port: number;
  readonly #child: ServerChild;
  readonly #adminToken: string | undefined;
  readonly #agent: https.Agent | false;
  #log = '';

  constructor(
    child: ServerChild,
    { adminToken, keepsConnections = false }: TestServerOptions,
    { folder, port }: { readonly folder: string; readonly port: number },
  ) {
    this.url = `https://127.0.0.1:${port}`;
    this.folder = folder;
    this.kubeconfig = path.join(folder, 'admin.kubeconfig');
    this.#port = port;
    this.#child = child;
    this.#adminToken = adminToken;
    this.#agent = keepsConnections && new https.Agent({ keepAlive: true });
    child.stderr.on('data', (text: Buffer) => (this.#log += text.toString()));
    this.exited = new Promise((resolve) => child.on('exit', (code) => resolve(code)));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  log = (): string => this.#log;

  request(method: string, to: string, body?: unknown, contentType = 'application/json'): Promise<TestAnswer> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    return this.send(method, to, text, { 'content-type': contentType });
  }

  send(method: string, to: string, body?: string, headers?: Readonly<Record<string, string>>): Promise<TestAnswer> {
    return new Promise((resolve, reject) => {
      const request = https.request(this.#call(method, to, headers), (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text, headers: response.headers }));
        response.on('error', reject);
      });
      request.on('error', reject);
      // Node.js sends the body of a DELETE without saying how long it is, and the server does not see it.
      if (body !== undefined) request.setHeader('content-length', Buffer.byteLength(body));
      request.end(body);
    });
  }

  watch(
    to: string,
    signal: AbortSignal,
    line: (event: { type: string; object: unknown }) => void,
    ended?: (status: number) => void,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const request = https.request({ ...this.#call('GET', to), signal }, (response) => {
        resolve();
        let rest = '';
        response.on('data', (chunk: Buffer) => {
          const lines = (rest + chunk.toString()).split('\n');
          rest = lines.pop() ?? '';
          for (const text of lines) line(JSON.parse(text) as { type: string; object: unknown });
        });
        response.on('error', () => undefined);
        response.on('close', () => ended?.(response.statusCode ?? 0));
      });
      request.on('error', reject);
      request.end();
    });
  }

  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  async stop(): Promise<void> {
    await this.#end('SIGTERM');
    fs.rmSync(this.folder, { recursive: true, force: true });
  }

  /** `sign`: a path that is answered with 200 by then. */
  async becomesReady(sign: string): Promise<void> {
    const ask = async (): Promise<{ status: number | undefined; body: string | undefined; log: string }> => {
      if (this.hasEnded) throw new Error(`the server ended:\n${this.#log}`);
      const answer = await this.request('GET', sign).catch(() => undefined);
      return { status: answer?.status, body: answer?.body, log: this.#log };
    };
    await pollUntil(ask, ({ status }) => status === 200);
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    if (this.#agent !== false) this.#agent.destroy();
    if (!this.hasEnded) this.#child.kill(signal);
    await this.exited;
  }

  #call(method: string, to: string, headers: Readonly<Record<string, string>> = {}): https.RequestOptions {
    return {
      host: '127.0.0.1',
      port: this.#port,
      method,
      path: to,
      ...this.#identity(),
      agent: this.#agent,
      headers: {
        'content-type': 'application/json',
        ...(this.#adminToken !== undefined && { authorization: `Bearer ${this.#adminToken}` }),
        ...headers,
      },
    };
  }

  #identity(): https.RequestOptions {
    if (this.#adminToken !== undefined) return { rejectUnauthorized: false };
    const pki = (name: string): Buffer => fs.readFileSync(path.join(this.folder, 'pki', name));
    return { ca: pki('ca.crt'), cert: pki('admin.crt'), key: pki('admin.key') };
  }
}

const metered = (meter: string, folder: string): NodeJS.ProcessEnv => ({
  NODE_OPTIONS: `${process.env['BINNACLE_SERVER_NODE_OPTIONS'] ?? ''} --require ${meter}`,
  BINNACLE_TASK_METER: path.join(folder, 'tasks.sock'),
});

const shiftedClock = (file: string): NodeJS.ProcessEnv => ({
  NODE_OPTIONS: `--require=${path.resolve(root, 'test', 'support', 'shifted-clock.cjs')}`,
  BINNACLE_CLOCK_FILE: file,
});

/** An environment in which os.hostname() returns this name. */
function onHost(hostname: string, folder: string): NodeJS.ProcessEnv {
  const preload = path.join(folder, 'hostname.cjs');
  fs.writeFileSync(preload, `require('node:os').hostname = () => ${JSON.stringify(hostname)};\n`);
  return { NODE_OPTIONS: `--require=${preload}` };
}
