import assert from 'node:assert/strict';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import type { HttpClient } from '../../outbound/http-client.js';
import type { OutboundRequest } from '../../outbound/messages.js';
import { isStream, type ResponseSink } from '../../lib/http/http.js';
import type { RestRequest } from '../contract/request.js';
import { translateStreams } from './translate-streams.js';

/** A socket of a client that says nothing. */
const silent = (): Duplex =>
  Object.assign(new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() }), {
    setTimeout: () => undefined,
  });

test('the kubelet receives its host with its port, also where the port is that of HTTPS', async () => {
  const requests: OutboundRequest[] = [];
  const client = {
    upgrade: (request: OutboundRequest) => {
      requests.push(request);
      return Promise.reject(new Error('nobody there'));
    },
  } as unknown as HttpClient;
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': Buffer.alloc(16).toString('base64'),
    'sec-websocket-protocol': 'v5.channel.k8s.io',
  };
  const socket = silent();
  const http = { method: 'GET', headers, upgrade: { socket, head: Buffer.alloc(0) } };
  const { body } = translateStreams({ http } as unknown as RestRequest, {
    client,
    origin: new URL('https://10.0.0.1:443'),
    host: '10.0.0.1:443',
    target: '/exec/default/p/c',
    wanted: { stdin: false, stdout: true, stderr: false, tty: false },
  });
  assert.ok(isStream(body));
  await body.stream({ signal: new AbortController().signal } as ResponseSink);
  socket.destroy();
  assert.deepEqual(
    requests.map((request) => request.headers?.['host']),
    ['10.0.0.1:443'],
  );
});
