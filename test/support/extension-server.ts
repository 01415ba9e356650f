// An extension API server that is played: it has one group version, and answers as the test says.
import fs from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import https from 'node:https';
import type net from 'node:net';
import type { AddressInfo } from 'node:net';
import type { TestServer } from './server.js';
import { pollUntil } from '../../src/lib/testing/poll-until.js';

export interface ExtensionServer {
  readonly port: number;
  close(): void;
}

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** `answer` handles every request but that for the version's resource list. */
export async function startExtensionServer(
  { folder }: TestServer,
  {
    group,
    version,
    resources,
  }: { readonly group: string; readonly version: string; readonly resources: readonly object[] },
  answer: Answer,
): Promise<ExtensionServer> {
  const pki = (name: string): Buffer => fs.readFileSync(`${folder}/pki/${name}`);
  const list = { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: `${group}/${version}`, resources };
  const open = new Set<net.Socket>();
  const server = https.createServer({ cert: pki('apiserver.crt'), key: pki('apiserver.key') }, (request, response) => {
    if (request.url === `/apis/${group}/${version}`) json(response, list);
    else answer(request, response);
  });
  server.on('connection', (socket: net.Socket) => {
    open.add(socket);
    socket.on('error', () => undefined).once('close', () => open.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

export function json(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

/** Registers the version, and waits until the server is found available. */
export async function registerExtension(
  server: TestServer,
  { group, version, port }: { readonly group: string; readonly version: string; readonly port: number },
): Promise<void> {
  const service = { namespace: 'default', name: `at-${port}`, port };
  await server.request('POST', '/api/v1/namespaces/default/services', {
    metadata: { name: service.name },
    spec: { type: 'ExternalName', externalName: '127.0.0.1' },
  });
  const services = '/apis/apiregistration.k8s.io/v1/apiservices';
  const name = `${version}.${group}`;
  const spec = { group, version, service, insecureSkipTLSVerify: true, groupPriorityMinimum: 100, versionPriority: 10 };
  const made = await server.request('POST', services, { metadata: { name }, spec });
  if (made.status !== 201) throw new Error(made.body);
  await pollUntil(
    () => server.request('GET', `${services}/${name}`),
    ({ body }) => body.includes('"reason":"Passed"'),
  );
}
