// runs-on: every-node
// Connections through real proxies: HTTP CONNECT and the gRPC tunnel, over unix sockets; what users see when one fails.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import http2, { type ServerHttp2Stream } from 'node:http2';
import net, { type AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createEgress, type EgressSelectionName } from '../src/egress/egress.js';
import { egressMetrics } from '../src/egress/metrics.js';
import { big, bytes, type Encodable, int, message, one, text } from '../src/lib/protobuf/message.js';
import { systemClock } from '../src/lib/async/clock.js';
import { MetricRegistry } from '../src/lib/telemetry/metrics.js';
import type { Dialer } from '../src/outbound/dialer.js';
import { collectBody, HttpClient } from '../src/outbound/http-client.js';
import { OutboundError } from '../src/outbound/outbound-error.js';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'egress-'));
const cleanups: (() => void)[] = [];
let target: URL;
let bytesWanted = 0;

before(async () => {
  const server = http.createServer((request, response) => {
    request.resume().on('end', () => response.end(bytesWanted > 0 ? Buffer.alloc(bytesWanted, 'x') : 'hello'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => (server.close(), server.closeAllConnections()));
  // Nobody is at this address: only a proxy finds the way.
  target = new URL(`http://10.1.2.3:${(server.address() as AddressInfo).port}/x`);
});
after(() => {
  for (const cleanup of cleanups) cleanup();
  fs.rmSync(folder, { recursive: true });
});

async function listenOn(server: net.Server, name: string): Promise<string> {
  const socket = path.join(folder, name);
  const open = new Set<net.Socket>();
  server.on('connection', (connection: net.Socket) => open.add(connection.on('error', () => undefined)));
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  cleanups.push(() => (server.close(), open.forEach((connection) => connection.destroy())));
  return socket;
}

const localOf = (address: string): net.Socket => net.connect(Number(address.split(':').at(-1)), '127.0.0.1');

function egress(proxyProtocol: string, udsName: string): { dialer: Dialer; registry: MetricRegistry } {
  const registry = new MetricRegistry();
  const config = {
    egressSelections: [{ name: 'cluster', connection: { proxyProtocol, transport: { uds: { udsName } } } }],
  };
  const dialers = createEgress(config as never, { metrics: egressMetrics(registry), clock: systemClock });
  const dialer = dialers.get('cluster' satisfies EgressSelectionName);
  assert.ok(dialer !== undefined);
  return { dialer, registry };
}

const get = async (dialer: Dialer, timeoutMs?: number): Promise<string> => {
  const client = new HttpClient({ dialer });
  try {
    const request = { method: 'GET', url: target, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
    return (await collectBody(await client.request(request), 100_000_000)).toString();
  } finally {
    client.close();
  }
};

const failure = async (work: Promise<unknown>): Promise<string> => {
  const error: unknown = await work.then(
    () => assert.fail('it did not fail'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof OutboundError, String(error));
  return error.message;
};

describe('HTTP CONNECT', () => {
  let answer: string | undefined;
  let heads: string[] = [];
  let dialer: Dialer;
  let registry: MetricRegistry;
  before(async () => {
    const proxy = net.createServer((client) => {
      client.once('data', (head) => {
        heads.push(head.toString());
        if (answer === 'hang') return;
        if (answer !== undefined) return void client.end(answer);
        const far = localOf((head.toString().split(' ')[1] ?? '').trim());
        client.write('HTTP/1.1 200 OK\r\n\r\n');
        client.pipe(far).pipe(client);
        client.on('close', () => far.destroy());
      });
    });
    ({ dialer, registry } = egress('HTTPConnect', await listenOn(proxy, 'connect.sock')));
  });

  it('connects to the target by name and passes bytes both ways', async () => {
    answer = undefined;
    assert.equal(await get(dialer), 'hello');
    assert.deepEqual(heads, [`CONNECT ${target.host} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`]);
    heads = [];
  });

  for (const [name, said, words] of [
    ['refuses', 'HTTP/1.1 403 Forbidden\r\n\r\n', /^proxy error from \S+ while dialing \S+, code 403: 403 Forbidden$/],
    ['says something else than 200', 'HTTP/1.1 201 Created\r\n\r\n', /code 201: 201 Created$/],
    [
      'says more than it should',
      'HTTP/1.1 200 OK\r\n\r\nhello',
      /^unexpected 5 bytes of buffered data from CONNECT proxy "/,
    ],
    [
      'has a line in its answer that is no header',
      'HTTP/1.1 200 OK\r\nrubbish\r\n\r\n',
      /failed: malformed MIME header: missing colon: "rubbish"$/,
    ],
    ['ends its lines otherwise', 'HTTP/1.1 503 No\nA: b\n\n', /code 503: 503 No$/],
    ['does not speak HTTP', 'what do you mean\r\n\r\n', /failed: malformed HTTP status code "do"$/],
    ['hangs up', '', /^reading HTTP response from CONNECT to \S+ via proxy \S+ failed: unexpected EOF$/],
  ] as const) {
    it(`reports a proxy that ${name}`, async () => {
      answer = said;
      assert.match(await failure(get(dialer)), words);
    });
  }

  it('gives up in its time on a proxy that never answers', async () => {
    answer = 'hang';
    assert.equal(await failure(get(dialer, 50)), 'context deadline exceeded');
  });

  it('counts dials by what became of them', () => {
    const lines = registry.text();
    assert.match(lines, /dial_start_total\{protocol="http_connect",transport="uds"\} 9/);
    assert.match(lines, /dial_failure_count\{protocol="http_connect",stage="proxy",transport="uds"\} 8/);
  });
});

describe('the gRPC tunnel', () => {
  let answer: string | undefined;
  let dialer: Dialer;
  let registry: MetricRegistry;
  let written = 0;
  before(async () => {
    const proxy = http2.createServer();
    proxy.on('stream', (stream: ServerHttp2Stream) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
      stream.on('error', () => undefined);
      tunnelEnd(
        stream,
        () => answer,
        (length) => (written += length),
      );
    });
    ({ dialer, registry } = egress('GRPC', await listenOn(proxy, 'tunnel.sock')));
  });

  it('dials, passes bytes both ways and closes', async () => {
    answer = undefined;
    assert.equal(await get(dialer), 'hello');
  });

  it('carries a large answer whole, and no faster than it is read', async () => {
    bytesWanted = 20_000_000;
    const client = new HttpClient({ dialer });
    const response = await client.request({ method: 'GET', url: target });
    written = 0;
    let total = 0;
    for await (const chunk of response.body as AsyncIterable<Buffer>) {
      total += chunk.length;
      assert.ok(written - total < 40_000_000);
    }
    assert.equal(total, bytesWanted);
    bytesWanted = 0;
    client.close();
  });

  it('shows what the far side says of a dial that failed', async () => {
    answer = 'nobody knows the way';
    assert.equal(await failure(get(dialer)), 'nobody knows the way');
    answer = 'close';
    assert.equal(await failure(get(dialer)), 'dial closed');
    answer = 'end';
    assert.equal(await failure(get(dialer)), 'tunnel closed');
    answer = 'say no more';
    assert.equal(await failure(get(dialer)), 'tunnel closed');
    answer = 'answer another';
    assert.equal(await failure(get(dialer)), 'tunnel closed');
    answer = 'hang';
    assert.equal(await failure(get(dialer, 50)), 'context deadline exceeded');
    const lines = registry.text();
    for (const [reason, times] of Object.entries({ endpoint: 1, dialclosed: 1, tunnelclosed: 3, context: 1 })) {
      assert.match(lines, new RegExp(`dial_failure_total\\{reason="${reason}"\\} ${times}`));
    }
    // Two streams ended without a word of how it went.
    assert.match(lines, /stream_errors_total\{code="Internal",packet_type="Unknown",segment="to_client"\} 2/);
  });
});

const RECEIVED = message({
  type: int(1),
  dial: one(2, message({ address: text(2), random: big(3) })),
  data: one(4, message({ data: bytes(3) })),
});
const SENT = message({
  type: int(1),
  dialResponse: one(3, message({ error: text(1), connectId: big(2), random: big(3) })),
  data: one(4, message({ connectId: big(1), data: bytes(3) })),
  closeResponse: one(6, message({ connectId: big(2) })),
  dialClose: one(7, message({ random: big(1) })),
});

/** The proxy's end of one tunnel. */
function tunnelEnd(stream: ServerHttp2Stream, answer: () => string | undefined, wrote: (bytes: number) => void): void {
  let rest = Buffer.alloc(0);
  let far: net.Socket | undefined;
  const connectId = 1n;
  const send = (packet: Encodable<typeof SENT>): boolean => {
    const encoded = SENT.encode(packet);
    const head = Buffer.alloc(5);
    head.writeUInt32BE(encoded.length, 1);
    return stream.destroyed || stream.write(Buffer.concat([head, encoded]));
  };
  const dialled = (dialResponse: Encodable<typeof SENT>['dialResponse']): boolean => send({ type: 1, dialResponse });
  const accept = (packet: Buffer): void => {
    const { type, dial, data } = RECEIVED.decode(packet);
    if (type === 4 && data !== undefined) far?.write(data.data);
    if (type === 2) {
      send({ type: 3, closeResponse: { connectId } });
      far?.destroy();
    }
    if (type !== 0 || dial === undefined) return;
    const { address, random } = dial;
    const said = answer();
    if (said === 'hang') return;
    if (said === 'end') return stream.close();
    if (said === 'say no more') return void stream.end();
    if (said === 'answer another') return void dialled({ connectId, random: random + 1n });
    if (said === 'close') return void send({ type: 5, dialClose: { random } });
    if (said !== undefined) return void dialled({ error: said, random });
    const socket = localOf(address);
    far = socket;
    socket.on('connect', () => dialled({ connectId, random }));
    socket.on('data', (chunk) => {
      wrote(chunk.length);
      if (send({ type: 4, data: { connectId, data: chunk } })) return;
      socket.pause();
      stream.once('drain', () => socket.resume());
    });
    socket.on('end', () => send({ type: 3, closeResponse: { connectId } }));
    socket.on('error', () => undefined);
  };
  stream.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 5 && rest.length >= 5 + rest.readUInt32BE(1)) {
      const size = rest.readUInt32BE(1);
      accept(rest.subarray(5, 5 + size));
      rest = rest.subarray(5 + size);
    }
  });
  stream.on('close', () => far?.destroy());
}
