// The real program on a free port with a data folder of its own.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import type http from 'node:http';
import https from 'node:https';
import os from 'node:os';
import path from 'node:path';
import { freePort } from './free-port.js';

const root = process.env['BINNACLE_ROOT'] ?? process.cwd();
/** All tests with so many worker processes, by hand. */
const workers = process.env['BINNACLE_WORKERS'];
const READY_WITHIN_MS = 30_000;

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
  /** A request of the administrator with a body as it is. */
  send(
    method: string,
    path: string,
    body: string | undefined,
    contentType?: string,
    headers?: Readonly<Record<string, string>>,
  ): Promise<TestAnswer>;
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
  if (workers !== undefined && !flags.some((flag) => flag.startsWith('--workers='))) flags.push(`--workers=${workers}`);
  const [command = '', ...args] = program;
  const child = spawn(command, [...args, ...flags], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      ...process.env,
      ...(options.meterTasks !== undefined && metered(options.meterTasks, folder)),
      ...(options.hostname !== undefined && onHost(options.hostname, folder)),
      ...(options.clockFile !== undefined && shiftedClock(options.clockFile)),
    },
  });
  let log = '';
  child.stderr.on('data', (text: Buffer) => (log += text.toString()));
  const exited = new Promise<number | null>((resolve) => child.on('exit', (code) => resolve(code)));
  const pki = (name: string): Buffer => fs.readFileSync(path.join(folder, 'pki', name));
  const identity = (): https.RequestOptions =>
    adminToken === undefined
      ? { ca: pki('ca.crt'), cert: pki('admin.crt'), key: pki('admin.key') }
      : { rejectUnauthorized: false };
  const agent = options.keepsConnections === true && new https.Agent({ keepAlive: true });
  const call = (
    method: string,
    to: string,
    contentType = 'application/json',
    headers: Readonly<Record<string, string>> = {},
  ): https.RequestOptions => ({
    host: '127.0.0.1',
    port,
    method,
    path: to,
    ...identity(),
    agent,
    headers: {
      'content-type': contentType,
      ...(adminToken !== undefined && { authorization: `Bearer ${adminToken}` }),
      ...headers,
    },
  });
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (agent !== false) agent.destroy();
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await exited;
  };
  const server: TestServer = {
    url: `https://127.0.0.1:${port}`,
    folder,
    kubeconfig: path.join(folder, 'admin.kubeconfig'),
    log: () => log,
    pid: child.pid ?? 0,
    exited,
    request: (method, to, body, contentType) =>
      server.send(method, to, body === undefined ? undefined : JSON.stringify(body), contentType),
    send: (method, to, body, contentType, headers) =>
      new Promise((resolve, reject) => {
        const request = https.request(call(method, to, contentType, headers), (response) => {
          let text = '';
          response.on('data', (chunk: Buffer) => (text += chunk.toString()));
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, body: text, headers: response.headers }),
          );
          response.on('error', reject);
        });
        request.on('error', reject);
        // Node.js sends the body of a DELETE without saying how long it is, and the server does not see it.
        if (body !== undefined) request.setHeader('content-length', Buffer.byteLength(body));
        request.end(body);
      }),
    watch: (to, signal, line, ended) =>
      new Promise((resolve, reject) => {
        const request = https.request({ ...call('GET', to), signal }, (response) => {
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
      }),
    kill: () => end('SIGKILL'),
    async stop() {
      await end('SIGTERM');
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    await ready(
      server,
      options.untilLive === true ? '/version' : '/readyz',
      () => child.exitCode !== null || child.signalCode !== null,
    );
  } catch (error) {
    await end('SIGKILL');
    throw error;
  }
  return server;
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

async function ready(server: TestServer, sign: string, ended: () => boolean): Promise<void> {
  let last = '';
  for (const deadline = Date.now() + READY_WITHIN_MS; Date.now() < deadline;) {
    if (ended()) throw new Error(`the server ended:\n${server.log()}`);
    const answer = await server.request('GET', sign).catch(() => undefined);
    if (answer?.status === 200) return;
    last = answer?.body ?? '';
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`the server is not ready:\n${last}\n${server.log()}`);
}
