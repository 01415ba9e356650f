// The control socket: who may open it may start, stop and look into the clusters of this process.
import http from 'node:http';
import { errorText } from '../../lib/text/error-text.js';
import type { ControlFailure, HostReady } from '../protocol/control.js';
import type { Clusters } from './clusters.js';
import { ControlError } from './control-error.js';
import { readFaultSettings } from './read-faults.js';
import { readSnapshotRequest, readStartRequest } from './read-request.js';

const MAX_BODY_BYTES = 1024 * 1024;

export interface ControlServer {
  /** Resolves when what has been asked is answered. */
  close(): Promise<void>;
}

/** Resolves when it listens. Its folder is private, and so is the socket. */
export async function serveControl(host: HostReady, clusters: Clusters): Promise<ControlServer> {
  const server = http.createServer((request, response) => {
    void answer(request, host, clusters).then(({ status, body }) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(body === undefined ? '' : JSON.stringify(body));
    });
  });
  // A client that keeps its connection finds it open, however long it computes in between.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(host.control, resolve);
  });
  return { close: () => new Promise((resolve) => server.close(() => resolve())) };
}

interface Answer {
  readonly status: number;
  readonly body?: unknown;
}

async function answer(request: http.IncomingMessage, host: HostReady, clusters: Clusters): Promise<Answer> {
  try {
    const { pathname } = new URL(request.url ?? '/', 'http://control');
    const [version, resource, id = '', part = '', name = ''] = pathname.split('/').slice(1);
    if (pathname === '/v1/host' && request.method === 'GET') return { status: 200, body: host };
    if (version !== 'v1' || resource !== 'clusters') throw new ControlError(404, `${pathname} is not served here`);
    const body = await readBody(request);
    const action =
      ACTIONS[
        `${request.method} ${id === '' ? '' : 'ID'}${part === '' ? '' : `/${part}`}${name === '' ? '' : '/NAME'}`
      ];
    if (action === undefined) throw new ControlError(404, `${request.method} ${pathname} is not served here`);
    return await action({ clusters, id, name, body });
  } catch (error) {
    const failure: ControlFailure = { error: errorText(error) };
    return { status: error instanceof ControlError ? error.status : 500, body: failure };
  }
}

interface Asked {
  readonly clusters: Clusters;
  readonly id: string;
  readonly name: string;
  readonly body: unknown;
}

type Action = (asked: Asked) => Promise<Answer> | Answer;

/** By the method and what follows `/v1/clusters/`. */
const ACTIONS: Readonly<Record<string, Action>> = {
  'GET ': ({ clusters }) => ok(clusters.all().map(({ facts }) => facts)),
  async 'POST '({ clusters, body }) {
    return { status: 201, body: (await clusters.start(readStartRequest(body))).facts };
  },
  'GET ID': ({ clusters, id }) => ok(clusters.get(id).facts),
  async 'DELETE ID'({ clusters, id }) {
    await clusters.stop(id);
    return ok({});
  },
  'GET ID/audit': ({ clusters, id }) => ok(clusters.get(id).audit()),
  'GET ID/snapshots': ({ clusters, id }) => ok(clusters.get(id).snapshots.all()),
  'POST ID/snapshots': ({ clusters, id }) => ({ status: 201, body: clusters.get(id).snapshots.take() }),
  'DELETE ID/snapshots/NAME'({ clusters, id, name }) {
    clusters.get(id).snapshots.remove(name);
    return ok({});
  },
  async 'POST ID/reset'({ clusters, id, body }) {
    return ok(await clusters.get(id).snapshots.reset(readSnapshotRequest(body)));
  },
  'GET ID/faults': ({ clusters, id }) => ok(clusters.get(id).faults.state()),
  'PUT ID/faults': ({ clusters, id, body }) => ok(clusters.get(id).faults.set(readFaultSettings(body))),
  async 'POST ID/fork'({ clusters, id, body }) {
    return { status: 201, body: (await clusters.fork(id, readSnapshotRequest(body))).facts };
  },
};

const ok = (body: unknown): Answer => ({ status: 200, body });

async function readBody(request: http.IncomingMessage): Promise<unknown> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > MAX_BODY_BYTES) throw new ControlError(413, `a body may have at most ${MAX_BODY_BYTES} bytes`);
    pieces.push(piece);
  }
  if (bytes === 0) return {};
  try {
    return JSON.parse(Buffer.concat(pieces).toString('utf8'));
  } catch (error) {
    throw new ControlError(400, `the body is not JSON: ${errorText(error)}`);
  }
}
