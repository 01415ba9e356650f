import zlib from 'node:zlib';
import type { HttpRequest, HttpResponse, ResponseBody } from '../lib/http.js';
import { isStream } from '../lib/http.js';

/** Answers above this size are worth compressing for a client that asks for it. */
const SMALLEST_COMPRESSED_BYTES = 128 * 1024;
/** The fastest level: the others cost much more for little. */
const LEVEL = 1;

/** Compresses a large answer when the client takes gzip. */
export function compressed(request: HttpRequest, response: HttpResponse, bytes: number): HttpResponse {
  if (bytes <= SMALLEST_COMPRESSED_BYTES || !acceptsGzip(request.headers['accept-encoding'])) return response;
  return {
    status: response.status,
    headers: { ...response.headers, 'content-encoding': 'gzip', vary: 'Accept-Encoding' },
    body: gzipped(response.body),
  };
}

function acceptsGzip(header: string | undefined): boolean {
  if (header === undefined) return false;
  return header.split(',').some((token) => {
    const name = token.split(';', 1)[0]?.trim();
    return name === 'gzip';
  });
}

function gzipped(body: ResponseBody): ResponseBody {
  return {
    async stream(sink) {
      const gzip = zlib.createGzip({ level: LEVEL });
      const done = new Promise<void>((resolve, reject) => gzip.on('end', resolve).on('error', reject));
      gzip.on('data', (chunk: Buffer) => {
        if (sink.write(chunk)) return;
        gzip.pause();
        sink.drained().then(
          () => gzip.resume(),
          () => gzip.destroy(),
        );
      });
      await feed(body, gzip);
      gzip.end();
      await done;
    },
  };
}

async function feed(body: ResponseBody, gzip: zlib.Gzip): Promise<void> {
  const write = (chunk: Buffer | string): boolean => gzip.write(chunk);
  const drained = (): Promise<void> => new Promise((resolve) => gzip.once('drain', resolve));
  if (body === undefined) return;
  if (isStream(body)) {
    const signal = new AbortController().signal;
    await body.stream({ write, drained, signal, pendingBytes: 0 });
    return;
  }
  for (const chunk of Array.isArray(body) ? (body as readonly Buffer[]) : [body as Buffer | string]) {
    if (!write(chunk)) await drained();
  }
}
