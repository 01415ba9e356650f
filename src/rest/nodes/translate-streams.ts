// Commands and attaching for clients that speak WebSocket, version 5, to kubelets that speak SPDY: the client's channels
// become streams here.
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { drained } from '../../lib/async/drained.js';
import type { HttpResponse } from '../../lib/http/http.js';
import type { HttpClient } from '../../outbound/http-client.js';
import type { OutboundResponse, Upgraded } from '../../outbound/messages.js';
import { OutboundError, requestErrorText } from '../../outbound/outbound-error.js';
import { SpdySession } from '../../outbound/spdy/session.js';
import type { RestRequest } from '../contract/request.js';
import { endWebSocket, plainAnswer, shakeHands, webSocketRefusal } from '../contract/web-socket.js';
import { failure, type RemoteStatus, statusOfEnd, statusOfRefusal } from './remote-status.js';
import { firstBytes } from './first-bytes.js';
import { forwardSizes } from './terminal-sizes.js';

export const STREAM_PROTOCOL = 'v5.channel.k8s.io';

/** What kubelets may choose from. */
const KUBELET_PROTOCOLS = [
  STREAM_PROTOCOL,
  'v4.channel.k8s.io',
  'v3.channel.k8s.io',
  'v2.channel.k8s.io',
  'channel.k8s.io',
];
/** With these, the end of a command is a Status; before, a text. */
const WITH_STATUS: ReadonlySet<string> = new Set(KUBELET_PROTOCOLS.slice(0, 2));
const WITH_SIZES: ReadonlySet<string> = new Set(KUBELET_PROTOCOLS.slice(0, 3));

const CHANNELS = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const;
const CLOSE_CHANNEL = 255;
/** What a connection counts as having ended with that just broke off. */
const WITHOUT_LEAVE = 1006;
const LAST_WORDS_MS = 10_000;
const IDLE_TIMEOUT_MS = 4 * 60 * 60 * 1000;
/** The end of a command is reported in a few words. */
const MAX_STATUS_BYTES = 256 * 1024;
const MAX_REFUSAL_BYTES = 64 * 1024;

export interface Translation {
  readonly client: HttpClient;
  readonly origin: URL;
  readonly host: string;
  readonly target: string;
  readonly wanted: WantedStreams;
}

export interface WantedStreams {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

/** The client is answered before the kubelet is called: errors of the kubelet go to the error channel. */
export function translateStreams({ http }: RestRequest, translation: Translation): HttpResponse {
  const { upgrade } = http;
  const refused = webSocketRefusal(http);
  if (refused !== undefined || upgrade === undefined) return refused ?? plainAnswer(400, 'not websocket protocol');
  return {
    status: 101,
    headers: {},
    body: {
      async stream({ signal }) {
        const webSocket = await shakeHands(http, upgrade, STREAM_PROTOCOL);
        if (webSocket === undefined) return;
        // Nobody listens before the kubelet's streams are open.
        webSocket.pause();
        (upgrade.socket as Socket).setTimeout(IDLE_TIMEOUT_MS, () => webSocket.terminate());
        const gone = left(webSocket);
        const { stdout, stderr } = translation.wanted;
        const send = (channel: number, bytes: Buffer): void =>
          webSocket.send(Buffer.concat([Buffer.from([channel]), bytes]));
        // The streams are set up.
        send(stdout ? CHANNELS.stdout : stderr ? CHANNELS.stderr : CHANNELS.error, Buffer.alloc(0));
        const status = await run(new Client(webSocket, upgrade.socket, send), translation, { signal, gone });
        if (gone.aborted || webSocket.readyState !== webSocket.OPEN) return;
        webSocket.resume();
        if (status !== undefined) send(CHANNELS.error, Buffer.from(JSON.stringify(status)));
        endWebSocket(webSocket, upgrade.socket);
      },
    },
  };
}

/** A client that closes has no more input; the command may come to its end all the same. */
function left(webSocket: WebSocket): AbortSignal {
  const controller = new AbortController();
  webSocket.once('close', (code) => {
    if (code === WITHOUT_LEAVE) controller.abort();
    else setTimeout(() => controller.abort(), LAST_WORDS_MS).unref();
  });
  return controller.signal;
}

class Client {
  constructor(
    readonly webSocket: WebSocket,
    private readonly socket: Duplex,
    private readonly send: (channel: number, bytes: Buffer) => void,
  ) {}

  /** Resolves at the end of the stream; reads only as fast as the client does. */
  async receive(stream: Duplex, channel: number): Promise<void> {
    for await (const bytes of stream as AsyncIterable<Buffer>) {
      // What comes after the client has closed is dropped.
      if (this.webSocket.readyState !== this.webSocket.OPEN) continue;
      this.send(channel, bytes);
      await drained(this.socket);
    }
  }

  /** Nothing it sends is understood any more. */
  dismiss(): void {
    endWebSocket(this.webSocket, this.socket);
  }
}

interface Leaving {
  /** The client's connection is over. */
  readonly signal: AbortSignal;
  /** The command is over. */
  readonly gone: AbortSignal;
}

/** How it ended; undefined where the kubelet chose an unknown protocol: the client gets no status then. */
async function run(
  client: Client,
  translation: Translation,
  { signal, gone }: Leaving,
): Promise<RemoteStatus | undefined> {
  let session: SpdySession | undefined;
  const leave = (): void => session?.close();
  try {
    const answer = await upgradeKubelet(translation, AbortSignal.any([signal, gone]));
    if (!('socket' in answer)) return await refusalOf(answer);
    if (!speaksSpdy(answer)) {
      answer.socket.destroy();
      return failure('unable to upgrade connection: ');
    }
    session = new SpdySession(answer.socket, answer.head);
    gone.addEventListener('abort', leave, { once: true });
    if (gone.aborted) leave();
    const protocol = String(answer.headers['x-stream-protocol-version'] ?? '');
    if (protocol !== '' && !KUBELET_PROTOCOLS.includes(protocol)) return undefined;
    return await converse(client, session, protocol, translation.wanted);
  } catch (error) {
    return failure(OutboundError.from(error).message);
  } finally {
    gone.removeEventListener('abort', leave);
    leave();
  }
}

const refusalOf = ({ body }: OutboundResponse): Promise<RemoteStatus> =>
  firstBytes(body, MAX_REFUSAL_BYTES).then(statusOfRefusal, () =>
    failure('unable to upgrade connection: unable to read error from server response'),
  );

async function upgradeKubelet(
  { client, origin, host, target }: Translation,
  signal: AbortSignal,
): Promise<Upgraded | OutboundResponse> {
  const where = `https://${host}${target}`;
  const failed = (error: OutboundError, at = where): OutboundError =>
    new OutboundError(error.failure, `error sending request: ${requestErrorText('POST', at, error)}`);
  const answer = await client
    .upgrade({
      method: 'POST',
      url: origin,
      target,
      headers: {
        // The URL leaves out the default port of its scheme; the Host header for the kubelet has it all the same.
        host,
        connection: 'Upgrade',
        upgrade: 'SPDY/3.1',
        'x-stream-protocol-version': KUBELET_PROTOCOLS,
      },
      sendUserAgent: true,
      signal,
    })
    .catch((error: unknown) => {
      const broken = OutboundError.from(error);
      // A kubelet that closed without an answer is reported as one that closed within it.
      throw failed(broken.message === 'EOF' ? new OutboundError('protocol', 'unexpected EOF') : broken);
    });
  const { location } = answer.headers;
  if (!('socket' in answer) && answer.status >= 300 && answer.status < 400 && location !== undefined) {
    answer.body.destroy();
    throw failed(new OutboundError('protocol', 'redirect not allowed'), location);
  }
  return answer;
}

const speaksSpdy = ({ headers }: Upgraded): boolean =>
  (headers.connection ?? '').toLowerCase().includes('upgrade') &&
  (headers.upgrade ?? '').toLowerCase().includes('spdy/3.1');

async function converse(
  client: Client,
  session: SpdySession,
  protocol: string,
  wanted: WantedStreams,
): Promise<RemoteStatus> {
  const open = (streamtype: string): Promise<Duplex> => session.open({ streamtype });
  const error = await open('error');
  const ending = firstBytes(error, MAX_STATUS_BYTES);
  ending.catch(() => undefined);
  const stdin = wanted.stdin ? await open('stdin') : undefined;
  const stdout = wanted.stdout ? await open('stdout') : undefined;
  const stderr = wanted.stderr && !wanted.tty ? await open('stderr') : undefined;
  const resize = wanted.tty && WITH_SIZES.has(protocol) ? await open('resize') : undefined;
  // Nothing comes from there but the end.
  stdin?.resume().once('end', () => stdin.end());
  resize?.resume();
  listen(client, { stdin, resize });
  await Promise.all([
    stdout === undefined ? undefined : client.receive(stdout, CHANNELS.stdout),
    stderr === undefined ? undefined : client.receive(stderr, CHANNELS.stderr),
  ]);
  // A kubelet that is gone without a status counts as one that reported success, as in kube-apiserver.
  return statusOfEnd(await ending, WITH_STATUS.has(protocol));
}

interface Inputs {
  readonly stdin: Duplex | undefined;
  readonly resize: Duplex | undefined;
}

function listen(client: Client, { stdin, resize }: Inputs): void {
  const { webSocket } = client;
  const sizes = resize === undefined ? undefined : forwardSizes(resize);
  webSocket.on('message', (message: Buffer) => {
    if (webSocket.readyState !== webSocket.OPEN) return;
    const [channel] = message;
    const bytes = message.subarray(1);
    if (channel === CLOSE_CHANNEL) {
      const isChannel = bytes.length === 1 && bytes.readUInt8(0) <= CHANNELS.resize;
      if (!isChannel) client.dismiss();
      // Nothing more comes from one that is dismissed, either.
      if (!isChannel || bytes.readUInt8(0) === CHANNELS.stdin) stdin?.end();
    } else if (channel === CHANNELS.stdin && stdin?.writable === true && bytes.length > 0) {
      if (!stdin.write(bytes)) {
        webSocket.pause();
        void drained(stdin).then(() => webSocket.resume());
      }
    } else if (channel === CHANNELS.resize) sizes?.(bytes);
  });
  webSocket.once('close', () => stdin?.end());
  if (webSocket.readyState === webSocket.CLOSED) stdin?.end();
  webSocket.resume();
}
