// runs-on: every-node
// Watching over WebSockets, as pages in a browser do.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { WebSocket } from 'ws';
import { startTestServer, type TestServer } from './support/server.js';

const TOKEN = 'socket-token';
const ORIGIN = 'https://page.test';
const TEXT = new TextDecoder();

interface Message {
  readonly data: Buffer;
  readonly isBinary: boolean;
}

describe('a watch over a WebSocket', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ adminToken: TOKEN });
  });
  after(() => server.stop());

  const open = (path: string, options: { protocols?: string[]; headers?: Record<string, string>; origin?: string }) =>
    new WebSocket(`${server.url.replace('https', 'wss')}${path}`, options.protocols ?? [], {
      rejectUnauthorized: false,
      headers: options.headers ?? { authorization: `Bearer ${TOKEN}` },
      ...(options.origin !== '' && { origin: options.origin ?? ORIGIN }),
    });
  const refusal = (socket: WebSocket): Promise<number> =>
    new Promise((resolve, reject) => {
      socket.on('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0));
      socket.on('open', () => reject(new Error('it was let in')));
    });
  const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
  const MAPS = '/api/v1/namespaces/default/configmaps';

  it('has a message of text for each event, and ends in good order when its time is over', async () => {
    const socket = open(`${MAPS}?watch=1&timeoutSeconds=2&fieldSelector=metadata.name=seen`, {});
    const { messages, closed } = reader(socket);
    await opened(socket);
    assert.equal(socket.protocol, '');
    await server.request('POST', MAPS, configMap('unseen'));
    await server.request('POST', MAPS, configMap('seen'));
    await server.request('DELETE', `${MAPS}/seen`);
    const events = [await messages.next(), await messages.next()].map(({ value }) => value as Message);
    const texts = events.map(({ data }) => TEXT.decode(data));
    assert.deepEqual(
      events.map(({ isBinary }) => isBinary),
      [false, false],
    );
    assert.ok(texts.every((text) => text.endsWith('}\n')));
    const parsed = texts.map((text) => JSON.parse(text) as { type: string; object: { metadata: { name: string } } });
    assert.deepEqual(
      parsed.map(({ type, object }) => [type, object.metadata.name]),
      [
        ['ADDED', 'seen'],
        ['DELETED', 'seen'],
      ],
    );
    assert.equal(await closed, 1000);
  });

  it('has messages of bytes where the requested form is binary', async () => {
    const socket = open(`${MAPS}?watch=1&resourceVersion=1&timeoutSeconds=1`, {
      headers: { authorization: `Bearer ${TOKEN}`, accept: 'application/vnd.kubernetes.protobuf' },
    });
    const { messages } = reader(socket);
    await opened(socket);
    const first = (await messages.next()).value as Message;
    assert.equal(first.isBinary, true);
    // A message has its own end: no length stands before it.
    assert.equal(first.data[0], 0x0a);
    socket.close();
  });

  it('reads a token from the protocols and speaks the other one', async () => {
    const token = `base64url.bearer.authorization.k8s.io.${Buffer.from(TOKEN).toString('base64url')}`;
    const socket = open(`${MAPS}?watch=1`, { protocols: [token, 'mine'], headers: {} });
    await opened(socket);
    assert.equal(socket.protocol, 'mine');
    socket.close();
    assert.equal(await refusal(open(`${MAPS}?watch=1`, { protocols: [`${token}AAAA`, 'mine'], headers: {} })), 401);
  });

  it('refuses pages of no origin, several protocols, and what a watch itself refuses', async () => {
    assert.equal(await refusal(open(`${MAPS}?watch=1`, { origin: '' })), 403);
    assert.equal(await refusal(open(`${MAPS}?watch=1`, { protocols: ['one', 'two'] })), 400);
    assert.equal(await refusal(open(`${MAPS}?watch=1&labelSelector=a+b`, {})), 400);
    assert.equal(await refusal(open('/api/v1/nothings?watch=1', {})), 404);
  });

  it('lets the client go first', async () => {
    const socket = open(`${MAPS}?watch=1`, {});
    const { closed } = reader(socket);
    await opened(socket);
    socket.send('what clients say is not listened to');
    socket.close(1000);
    assert.equal(await closed, 1000);
  });
});

const opened = (socket: WebSocket): Promise<void> =>
  new Promise((resolve, reject) => {
    socket.on('open', () => resolve());
    socket.on('error', reject);
  });

/** The messages in order, and the close code. */
function reader(socket: WebSocket): { messages: AsyncIterator<Message>; closed: Promise<number> } {
  const waiting: ((message: IteratorResult<Message>) => void)[] = [];
  const arrived: Message[] = [];
  socket.on('message', (data: Buffer, isBinary) => {
    const wants = waiting.shift();
    if (wants === undefined) arrived.push({ data, isBinary });
    else wants({ done: false, value: { data, isBinary } });
  });
  return {
    messages: {
      next: () => {
        const value = arrived.shift();
        if (value !== undefined) return Promise.resolve({ done: false, value });
        return new Promise((resolve) => waiting.push(resolve));
      },
    },
    closed: new Promise((resolve) => socket.on('close', resolve)),
  };
}
