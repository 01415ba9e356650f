// A file or folder of this machine as the answer to a request, as Go's http.ServeFile serves it: pages of folders,
// conditions, ranges.
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { escapePath } from '../go/url-parts.js';
import type { HttpRequest, HttpResponse, ResponseSink } from '../http/http.js';
import { type ByteRange, contentRange, readRanges } from './byte-ranges.js';
import { contentTypeByName, SNIFFED_BYTES, sniffContentType } from './content-type.js';
import { directoryPage } from './directory-page.js';
import { httpDate } from './http-date.js';
import { judgeConditions, notModifiedSince } from './preconditions.js';

/**
 * `requested` is the request's path with its escapes read; `file` is what it stands for, a clean path from the root.
 */
export async function serveFile(request: HttpRequest, requested: string, file: string): Promise<HttpResponse> {
  // What leads upwards was cleaned away from `file`, but no honest client requests that.
  if (leadsUp(requested)) return plain(400, 'invalid URL path');
  if (requested.endsWith('/index.html')) return redirect(request, './');
  if (file.includes('\0')) return plain(500, '500 Internal Server Error');
  try {
    return await serve(request, requested, file);
  } catch (error) {
    return openingFailed(error);
  }
}

async function serve(request: HttpRequest, requested: string, file: string): Promise<HttpResponse> {
  // Without waiting for a writer, where the file is a pipe.
  const opened = await fs.promises.open(file, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
  let handedOver = false;
  try {
    const stat = await opened.stat();
    if (stat.isDirectory()) {
      if (!requested.endsWith('/')) return redirect(request, `${escapePath(path.posix.basename(requested))}/`);
      return (await indexPage(request, file)) ?? (await listFolder(request, file, stat.mtimeMs));
    }
    if (!stat.isFile()) return plain(500, "seeker can't seek");
    const answer = await content(request, { opened, name: path.basename(file), stat });
    handedOver = typeof answer.body === 'object';
    return answer;
  } finally {
    if (!handedOver) await opened.close();
  }
}

/** The folder's own page, where it has one. */
async function indexPage(request: HttpRequest, folder: string): Promise<HttpResponse | undefined> {
  const index = path.join(folder, 'index.html');
  const stat = await fs.promises.stat(index).catch(() => undefined);
  return stat?.isFile() === true ? serve(request, index, index) : undefined;
}

async function listFolder(request: HttpRequest, folder: string, modifiedMs: number): Promise<HttpResponse> {
  const headers = lastModified(modifiedMs);
  if (notModifiedSince(request, modifiedMs)) return { status: 304, headers, body: undefined };
  const entries = await fs.promises.readdir(folder, { withFileTypes: true }).catch(() => undefined);
  if (entries === undefined) return plain(500, 'Error reading directory');
  const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name));
  return {
    status: 200,
    headers: { ...headers, 'content-type': 'text/html; charset=utf-8' },
    body: directoryPage(names),
  };
}

interface OpenFile {
  readonly opened: fs.promises.FileHandle;
  readonly name: string;
  readonly stat: fs.Stats;
}

async function content(request: HttpRequest, { opened, name, stat }: OpenFile): Promise<HttpResponse> {
  const { size, mtimeMs } = stat;
  const headers = lastModified(mtimeMs);
  const judged = judgeConditions(request, mtimeMs);
  if (judged.status !== undefined) return { status: judged.status, headers, body: undefined };
  const type = contentTypeByName(name) ?? (await sniffed(opened));
  const ranges = readRanges(judged.range, size);
  if (ranges === 'invalid') return plain(416, 'invalid range');
  if (ranges === 'no overlap') {
    return plain(416, 'invalid range: failed to overlap', { 'content-range': `bytes */${size}` });
  }
  const parts = partsOf(ranges, type, size);
  const length = parts.pieces.reduce((sum, piece) => sum + piece.length, 0);
  // Where nobody comes to stream it, the file closes with the request.
  request.signal.addEventListener('abort', () => void opened.close(), { once: true });
  return {
    status: ranges.length === 0 ? 200 : 206,
    headers: { ...headers, ...parts.headers, 'accept-ranges': 'bytes', 'content-length': String(length) },
    body: { stream: (sink) => send(opened, parts.pieces, sink) },
  };
}

async function sniffed(opened: fs.promises.FileHandle): Promise<string> {
  const { buffer, bytesRead } = await opened.read(Buffer.alloc(SNIFFED_BYTES), 0, SNIFFED_BYTES, 0);
  return sniffContentType(buffer.subarray(0, bytesRead));
}

interface Parts {
  readonly headers: Readonly<Record<string, string>>;
  readonly pieces: readonly (Buffer | ByteRange)[];
}

/** All of it, one piece of it, or several with a head for each. */
function partsOf(ranges: readonly ByteRange[], type: string, size: number): Parts {
  const [only, another] = ranges;
  if (only === undefined) return { headers: { 'content-type': type }, pieces: [{ start: 0, length: size }] };
  if (another === undefined) {
    return { headers: { 'content-type': type, 'content-range': contentRange(only, size) }, pieces: [only] };
  }
  const boundary = crypto.randomBytes(30).toString('hex');
  const pieces = ranges.flatMap((range, i) => {
    const head = `Content-Range: ${contentRange(range, size)}\r\nContent-Type: ${type}\r\n\r\n`;
    return [Buffer.from(`${i === 0 ? '' : '\r\n'}--${boundary}\r\n${head}`), range];
  });
  const headers = { 'content-type': `multipart/byteranges; boundary=${boundary}` };
  return { headers, pieces: [...pieces, Buffer.from(`\r\n--${boundary}--\r\n`)] };
}

const CHUNK_BYTES = 64 * 1024;

/** Reads on only when the client has received what was read before. */
async function send(opened: fs.promises.FileHandle, pieces: Parts['pieces'], sink: ResponseSink): Promise<void> {
  try {
    for (const piece of pieces) {
      if (Buffer.isBuffer(piece)) {
        sink.write(piece);
        continue;
      }
      for (let done = 0; done < piece.length;) {
        if (sink.signal.aborted) return;
        const wanted = Math.min(CHUNK_BYTES, piece.length - done);
        const { buffer, bytesRead } = await opened.read(Buffer.allocUnsafe(wanted), 0, wanted, piece.start + done);
        // Less than was promised: the client learns it by the connection's end.
        if (bytesRead === 0) throw new Error('a file became shorter while it was sent');
        done += bytesRead;
        if (!sink.write(buffer.subarray(0, bytesRead))) await sink.drained();
      }
    }
  } finally {
    await opened.close();
  }
}

function openingFailed(error: unknown): HttpResponse {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return plain(404, '404 page not found');
    case 'ENAMETOOLONG':
      return plain(404, 'file not found');
    case 'EACCES':
    case 'EPERM':
      return plain(403, '403 Forbidden');
    default:
      return plain(500, '500 Internal Server Error');
  }
}

const leadsUp = (requested: string): boolean => requested.includes('..') && requested.split(/[/\\]/).includes('..');

const lastModified = (modifiedMs: number): Record<string, string> => ({ 'last-modified': httpDate(modifiedMs) });

const redirect = ({ search }: HttpRequest, to: string): HttpResponse => ({
  status: 301,
  headers: { location: search === '' ? to : `${to}?${search}` },
  body: '',
});

const plain = (status: number, text: string, headers: Record<string, string> = {}): HttpResponse => ({
  status,
  headers: { ...headers, 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
  body: `${text}\n`,
});
