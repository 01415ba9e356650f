// The control socket: who may open it may start, stop and look into the clusters of this process.
import http from 'node:http';
import { errorText } from '../../lib/text/error-text.js';
import type { ControlFailure, HostReady, StartRequest } from '../protocol/control.js';
import type { Clusters } from './clusters.js';
import { ControlError } from './control-error.js';
import { readStartRequest } from './read-request.js';

const MAX_BODY_BYTES = 1024 * 1024;

/** Resolves when it listens. Its folder is private, and so is the socket. */
export async function serveControl(host: HostReady, clusters: Clusters): Promise<void> {
  const server = http.createServer((request, response) => {
    void answer(request, host, clusters).then(({ status, body }) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(body === undefined ? '' : JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(host.control, resolve);
  });
}

interface Answer {
  readonly status: number;
  readonly body?: unknown;
}

async function answer(request: http.IncomingMessage, host: HostReady, clusters: Clusters): Promise<Answer> {
  try {
    const { pathname } = new URL(request.url ?? '/', 'http://control');
    const [version, resource, id = '', part = ''] = pathname.split('/').slice(1);
    if (pathname === '/v1/host' && request.method === 'GET') return { status: 200, body: host };
    if (version !== 'v1' || resource !== 'clusters') throw new ControlError(404, `${pathname} is not served here`);
    const body = await readBody(request);
    const action = ACTIONS[`${request.method} ${id === '' ? '' : 'ID'}${part === '' ? '' : `/${part}`}`];
    if (action === undefined) throw new ControlError(404, `${request.method} ${pathname} is not served here`);
    return await action(clusters, id, body);
  } catch (error) {
    const failure: ControlFailure = { error: errorText(error) };
    return { status: error instanceof ControlError ? error.status : 500, body: failure };
  }
}

type Action = (clusters: Clusters, id: string, body: unknown) => Promise<Answer> | Answer;

/** By the method and what follows `/v1/clusters/`. */
const ACTIONS: Readonly<Record<string, Action>> = {
  'GET ': (clusters) => ({ status: 200, body: clusters.all().map(({ facts }) => facts) }),
  async 'POST '(clusters, _id, body) {
    const request: StartRequest = readStartRequest(body);
    return { status: 201, body: (await clusters.start(request)).facts };
  },
  'GET ID': (clusters, id) => ({ status: 200, body: clusters.get(id).facts }),
  async 'DELETE ID'(clusters, id) {
    await clusters.stop(id);
    return { status: 200, body: {} };
  },
  'GET ID/audit': (clusters, id) => ({ status: 200, body: clusters.get(id).audit() }),
};

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
