// The server's side of SPDY/3.1, as kubelets speak it, for a simulated kubelet.
import { Duplex } from 'node:stream';
import zlib from 'node:zlib';

const WORDS = [
  ['options', 'head', 'post', 'put', 'delete', 'trace', 'accept', 'accept-charset', 'accept-encoding'],
  ['accept-language', 'accept-ranges', 'age', 'allow', 'authorization', 'cache-control', 'connection'],
  ['content-base', 'content-encoding', 'content-language', 'content-length', 'content-location', 'content-md5'],
  ['content-range', 'content-type', 'date', 'etag', 'expect', 'expires', 'from', 'host', 'if-match'],
  ['if-modified-since', 'if-none-match', 'if-range', 'if-unmodified-since', 'last-modified', 'location'],
  ['max-forwards', 'pragma', 'proxy-authenticate', 'proxy-authorization', 'range', 'referer', 'retry-after'],
  ['server', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'user-agent', 'vary', 'via', 'warning'],
  ['www-authenticate', 'method', 'get', 'status', '200 OK', 'version', 'HTTP/1.1', 'url', 'public'],
  ['set-cookie', 'keep-alive', 'origin'],
].flat();
const TAIL =
  '100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505' +
  '203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized' +
  '403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable' +
  'Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT' +
  'chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,text/javascript,' +
  'publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.';

const word = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
/** What the protocol's compression of headers starts from. */
const dictionary = Buffer.concat([
  ...WORDS.flatMap((text) => [word(text.length), Buffer.from(text)]),
  Buffer.from(TAIL),
]);

const ZLIB_HEAD = Buffer.from([0x78, 0x01]);
/** A block of no headers in a zlib stream, stored as it is, and flushed. */
const NO_HEADERS = Buffer.from([0, 4, 0, 0xfb, 0xff, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]);

export interface AgentStream extends Duplex {
  readonly headers: ReadonlyMap<string, string>;
}

/** Tells of every stream that the other side opens, and accepts it. */
export function serveSpdy(socket: Duplex, head: Buffer, onStream: (stream: AgentStream) => void): void {
  const inflate = zlib.createInflate({ dictionary });
  const streams = new Map<number, AgentStream>();
  let input: Buffer = Buffer.alloc(0);
  let work = Promise.resolve();
  let replied = false;
  const control = (type: number, payload: Buffer): void => {
    const frame = Buffer.concat([Buffer.from([0x80, 3, 0, type]), word(payload.length), payload]);
    if (!socket.destroyed) socket.write(frame);
  };
  const data = (id: number, piece: Buffer, fin: boolean): void => {
    const frame = Buffer.concat([word(id), word(piece.length + (fin ? 0x0100_0000 : 0)), piece]);
    if (!socket.destroyed) socket.write(frame);
  };
  const open = async (payload: Buffer, fin: boolean): Promise<void> => {
    const id = payload.readUInt32BE(0);
    const headers = readHeaders(await inflated(inflate, payload.subarray(10)));
    const stream = Object.assign(
      new Duplex({
        read: () => undefined,
        write: (piece: Buffer, _encoding, done) => (data(id, piece, false), done()),
        final: (done) => (data(id, Buffer.alloc(0), true), done()),
      }),
      { headers },
    );
    streams.set(id, stream);
    control(2, Buffer.concat([word(id), ...(replied ? [] : [ZLIB_HEAD]), NO_HEADERS]));
    replied = true;
    if (fin) stream.push(null);
    onStream(stream);
  };
  const accept = async (bytes: Buffer): Promise<void> => {
    input = Buffer.concat([input, bytes]);
    while (input.length >= 8) {
      const length = input.readUIntBE(5, 3);
      if (input.length < 8 + length) return;
      const [first, , , type, flags] = input;
      const payload = input.subarray(8, 8 + length);
      const id = input.readUInt32BE(0);
      input = input.subarray(8 + length);
      const fin = ((flags ?? 0) & 1) !== 0;
      if (((first ?? 0) & 0x80) === 0) {
        const stream = streams.get(id);
        if (payload.length > 0) stream?.push(payload);
        if (fin) stream?.push(null);
      } else if (type === 1) await open(payload, fin);
      else if (type === 6) control(6, payload);
      else if (type === 3) streams.get(payload.readUInt32BE(0))?.destroy();
    }
  };
  const enqueue = (bytes: Buffer): void => {
    work = work.then(() => accept(bytes)).catch(() => void socket.destroy());
  };
  socket.on('error', () => undefined);
  socket.on('close', () => streams.forEach((stream) => stream.destroy()));
  socket.on('data', enqueue);
  if (head.length > 0) enqueue(head);
}

function inflated(inflate: zlib.Inflate, bytes: Buffer): Promise<Buffer> {
  return new Promise((resolve) => {
    const out: Buffer[] = [];
    const onData = (piece: Buffer): void => void out.push(piece);
    inflate.on('data', onData);
    inflate.write(bytes, () =>
      setImmediate(() => {
        inflate.off('data', onData);
        resolve(Buffer.concat(out));
      }),
    );
  });
}

function readHeaders(text: Buffer): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  let at = 4;
  const next = (): string => {
    const length = text.readUInt32BE(at);
    at += 4 + length;
    return text.toString('latin1', at - length, at);
  };
  for (let left = text.readUInt32BE(0); left > 0; left--) headers.set(next(), next());
  return headers;
}
