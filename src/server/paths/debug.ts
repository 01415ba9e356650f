// /debug/pprof/: what the process spends its time and memory on.
import fs from 'node:fs';
import net from 'node:net';
import type { Profiler, Session } from 'node:inspector';
import path from 'node:path';
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import type { HttpRequest, HttpResponse } from '../../lib/http/http.js';
import { parseQuery } from '../../lib/http/request-target.js';
import type { Logger } from '../../lib/telemetry/log.js';
import { pause } from '../../lib/async/pause.js';
import { plainError } from '../../filters/plain-response.js';
import { createHttp1 } from '../../wire/http1.js';
import { BODY_ERRORS } from '../listener/body-errors.js';
import type { PathHandler } from './paths.js';
import { cpuProfile, heapProfile } from './pprof-format.js';

export interface DebugOptions {
  /** `--contention-profiling`: one thread waits for nobody, so what is measured is how long work waits for the thread. */
  readonly contentionProfiling: boolean;
  /** Where several processes are one server: which of them this is. A profile is of one of them. */
  readonly worker?: DebuggedWorker | undefined;
}

export interface DebuggedWorker {
  readonly index: number;
  readonly count: number;
  /** Another one answers, by its index. */
  ask(index: number, request: RelayedRequest): Promise<HttpResponse>;
  /** Answers what others relay. */
  onAsked(answer: (request: RelayedRequest) => unknown): void;
}

/** What crosses between processes. */
export interface RelayedRequest {
  readonly path: string;
  readonly search: string;
}

type DebugRequest = Pick<HttpRequest, 'path' | 'query' | 'search' | 'signal'>;

export interface Debug {
  /** `undefined` when the path is not under /debug/pprof. */
  handle(request: DebugRequest, path: string): Promise<HttpResponse> | HttpResponse | undefined;
}

const DEFAULT_CPU_SECONDS = 30;
const DEFAULT_HEAP_SECONDS = 2;
const MAX_SECONDS = 600;
const CPU_INTERVAL_US = 1000;
const HEAP_INTERVAL_BYTES = 16 * 1024;

export function createDebug({ contentionProfiling, worker }: DebugOptions): Debug {
  const delays = contentionProfiling ? monitorEventLoopDelay({ resolution: 10 }) : undefined;
  delays?.enable();
  const answer = (request: DebugRequest, requested: string) => ownAnswer(request, requested, delays, worker);
  worker?.onAsked(({ path: requested, search }) =>
    answer({ path: requested, search, query: parseQuery(search), signal: new AbortController().signal }, requested),
  );
  return {
    handle(request, requested) {
      if (requested === '/debug/pprof') {
        return {
          status: 302,
          headers: { location: '/debug/pprof/', 'content-type': 'text/html; charset=utf-8' },
          body: '',
        };
      }
      if (!requested.startsWith('/debug/pprof/')) return undefined;
      const other = Number(request.query.get('worker') ?? worker?.index);
      if (worker === undefined || other === worker.index) return answer(request, requested);
      if (!Number.isInteger(other) || other < 0 || other >= worker.count) return plainError(404, 'Unknown worker');
      return worker.ask(other, { path: requested, search: request.search });
    },
  };
}

function ownAnswer(
  request: DebugRequest,
  requested: string,
  delays: IntervalHistogram | undefined,
  worker: DebuggedWorker | undefined,
): Promise<HttpResponse> | HttpResponse {
  switch (requested.slice('/debug/pprof/'.length)) {
    case '':
      return index(worker);
    case 'profile':
      return profileFor(request, DEFAULT_CPU_SECONDS, recordCpuProfile, worker);
    case 'heap':
    case 'allocs':
      return profileFor(request, DEFAULT_HEAP_SECONDS, recordHeapProfile, worker);
    case 'symbol':
      return text('num_symbols: 1\n');
    case 'goroutine':
      return text(`${activeResources()}${workerText(worker)}`);
    case 'block':
    case 'mutex':
      return text(`${delayText(delays)}${workerText(worker)}`);
    case 'threadcreate':
      return text('threadcreate profile: total 0\n');
    default:
      return plainError(404, 'Unknown profile', { 'x-go-pprof': '1' });
  }
}

/** Empty for a server of one process. */
const workerText = (worker: DebuggedWorker | undefined): string =>
  worker === undefined ? '' : `worker process ${worker.index} of ${worker.count}, pid ${process.pid}\n`;

const PROFILES = [
  ['allocs', 'Memory allocated while the profile is taken, by where'],
  ['block', 'How long work waited for the event loop (with --contention-profiling)'],
  ['goroutine', 'What the process waits for now'],
  ['heap', 'The same as allocs, of what is still in use; ?seconds= sets for how long'],
  ['mutex', 'The same as block'],
  ['profile', 'Where processor time goes; ?seconds= sets for how long'],
  ['threadcreate', 'Threads made by the program; there are none'],
] as const;

/** Links of a server with several workers name the one that answered, so that another connection does not lead elsewhere. */
function index(worker: DebuggedWorker | undefined): HttpResponse {
  const query = worker === undefined ? '' : `?worker=${worker.index}`;
  const rows = PROFILES.map(
    ([name, about]) => `<tr><td><a href="${name}${query}">${name}</a></td><td>${about}</td></tr>`,
  );
  const others = Array.from({ length: worker?.count ?? 0 }, (_, i) => `<a href="?worker=${i}">${i}</a>`);
  const about = worker === undefined ? '' : `<p>${workerText(worker)}(workers: ${others.join(' ')})</p>\n`;
  const body = `<html><head><title>/debug/pprof/</title></head><body><h1>/debug/pprof/</h1>${about}<table>\n${rows.join('\n')}\n</table></body></html>\n`;
  return {
    status: 200,
    headers: { 'content-type': 'text/html; charset=utf-8', 'x-content-type-options': 'nosniff' },
    body,
  };
}

async function profileFor(
  request: DebugRequest,
  defaultSeconds: number,
  record: (session: Session, ms: number, signal: AbortSignal) => Promise<Buffer>,
  worker: DebuggedWorker | undefined,
): Promise<HttpResponse> {
  const requested = Number(request.query.get('seconds') ?? '');
  const seconds = Number.isFinite(requested) && requested > 0 ? Math.min(requested, MAX_SECONDS) : defaultSeconds;
  const { Session } = await import('node:inspector');
  const session = new Session();
  session.connect();
  try {
    const body = await record(session, seconds * 1000, request.signal);
    const headers = {
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="${path.basename(request.path)}${worker === undefined ? '' : `-worker-${worker.index}`}"`,
      'x-content-type-options': 'nosniff',
    };
    return { status: 200, headers, body };
  } finally {
    session.disconnect();
  }
}

async function recordCpuProfile(session: Session, ms: number, signal: AbortSignal): Promise<Buffer> {
  const startedMs = Date.now();
  await post(session, 'Profiler.enable');
  await post(session, 'Profiler.setSamplingInterval', { interval: CPU_INTERVAL_US });
  await post(session, 'Profiler.start');
  await pause(ms, signal);
  const { profile } = await new Promise<Profiler.StopReturnType>((resolve, reject) => {
    session.post('Profiler.stop', (error, result) => (error === null ? resolve(result) : reject(error)));
  });
  return cpuProfile(profile, startedMs, CPU_INTERVAL_US);
}

async function recordHeapProfile(session: Session, ms: number, signal: AbortSignal): Promise<Buffer> {
  const startedMs = Date.now();
  await post(session, 'HeapProfiler.startSampling', { samplingInterval: HEAP_INTERVAL_BYTES });
  await pause(ms, signal);
  return await new Promise<Buffer>((resolve, reject) => {
    session.post('HeapProfiler.stopSampling', (error, { profile }) => {
      if (error === null) resolve(heapProfile(profile, startedMs, HEAP_INTERVAL_BYTES));
      else reject(error);
    });
  });
}

const post = (session: Session, method: string, parameters: object = {}): Promise<void> =>
  new Promise((resolve, reject) => {
    session.post(method, parameters, (error) => (error === null ? resolve() : reject(error)));
  });

function activeResources(): string {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const lines = [...counts].sort((a, b) => b[1] - a[1]).map(([kind, count]) => `${count} @ ${kind}`);
  return `goroutine profile: total ${lines.length}\n${lines.join('\n')}\n`;
}

function delayText(delays: IntervalHistogram | undefined): string {
  if (delays === undefined) return '--- contention:\n';
  const at = [50, 90, 99, 100].map((percent) => `p${percent} ${delays.percentile(percent)} ns`);
  return `--- contention:\nevent loop delay over ${delays.count} samples: ${at.join(', ')}\n`;
}

const text = (body: string): HttpResponse => ({
  status: 200,
  headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
  body,
});

/**
 * `--debug-socket-path`: profiles on a unix socket, without authentication: access to the file is access to the
 * profiles.
 */
export async function serveDebugSocket({ file, debug, flags, log }: DebugSocket): Promise<() => void> {
  // The socket of a process that ended without cleaning up would refuse the address for ever.
  fs.rmSync(file, { force: true });
  const http1 = createHttp1({
    bodyErrors: BODY_ERRORS,
    handler: (request) =>
      debug.handle(request, request.path) ?? flags(request, request.path) ?? plainError(404, '404 page not found'),
    onError: (error) => log.error(error, 'Debug request failed'),
  });
  const server = net.createServer((socket) => http1.accept(socket));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(file, resolve);
  });
  return () => {
    http1.retire();
    server.close();
  };
}

interface DebugSocket {
  readonly file: string;
  readonly debug: Debug;
  readonly flags: PathHandler;
  readonly log: Logger;
}
