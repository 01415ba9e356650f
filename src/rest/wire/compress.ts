import zlib from 'node:zlib';
import type { AnsweredObject, HttpRequest, HttpResponse, ResponseBody } from '../../lib/http/http.js';
import { isStream } from '../../lib/http/http.js';

/** Answers above this size are worth compressing for a client that accepts gzip. */
const SMALLEST_COMPRESSED_BYTES = 128 * 1024;
/** The fastest level: the others cost much more for little. */
const LEVEL = 1;

const spared = new WeakSet<HttpRequest>();

/** Answers to this request are sent as they are: the gate APIResponseCompression is off. */
export const neverCompress = (request: HttpRequest): void => void spared.add(request);

/** Compresses a large answer when the client accepts gzip. */
export function compressed(request: HttpRequest, response: HttpResponse, bytes: number): HttpResponse {
  if (bytes <= SMALLEST_COMPRESSED_BYTES || !acceptsGzip(request.headers['accept-encoding'])) return response;
  if (spared.has(request)) return response;
  return {
    status: response.status,
    headers: { ...response.headers, 'content-encoding': 'gzip', vary: 'Accept-Encoding' },
    body: gzipped(response.body),
    object: uncompressed(response),
  };
}

function uncompressed({ body, object }: HttpResponse): AnsweredObject | undefined {
  if (object === undefined || object.json !== undefined || body === undefined || isStream(body)) return object;
  const json = (): string | Buffer => (Array.isArray(body) ? Buffer.concat(body) : (body as string | Buffer));
  return { form: object.form, json };
}

function acceptsGzip(header: string | undefined): boolean {
  if (header === undefined) return false;
  // As in kube-apiserver, a gzip with a quality is passed over: `gzip;q=0` would mean none at all.
  return header.split(',').some((token) => token.trim() === 'gzip');
}

function gzipped(body: ResponseBody): ResponseBody {
  return {
    async stream(sink) {
      const gzip = zlib.createGzip({ level: LEVEL });
      const closed = new Promise<void>((resolve, reject) => gzip.on('close', resolve).on('error', reject));
      const leave = (): void => void gzip.destroy();
      sink.signal.addEventListener('abort', leave, { once: true });
      gzip.on('data', (chunk: Buffer) => {
        if (sink.write(chunk)) return;
        gzip.pause();
        sink.drained().then(() => gzip.resume(), leave);
      });
      await feed(body, gzip, sink.signal);
      gzip.end();
      await closed;
      sink.signal.removeEventListener('abort', leave);
    },
  };
}

async function feed(body: ResponseBody, gzip: zlib.Gzip, signal: AbortSignal): Promise<void> {
  const write = (chunk: Buffer | string): boolean => gzip.destroyed || gzip.write(chunk);
  const drained = (): Promise<void> =>
    new Promise((resolve) => {
      if (gzip.destroyed || !gzip.writableNeedDrain) return resolve();
      const done = (): void => {
        gzip.off('drain', done).off('close', done);
        resolve();
      };
      gzip.on('drain', done).on('close', done);
    });
  if (body === undefined) return;
  if (isStream(body)) {
    await body.stream({ write, drained, signal, pendingBytes: 0 });
    return;
  }
  for (const chunk of Array.isArray(body) ? (body as readonly Buffer[]) : [body as Buffer | string]) {
    if (!write(chunk)) await drained();
  }
}
