// An answer whose addresses lead through the proxy again: where it redirects to, and the links of a page.
import type { Readable } from 'node:stream';
import { createDeflateRaw, createGunzip, createGzip, createInflateRaw } from 'node:zlib';
import type { OutboundResponse } from '../messages.js';
import type { PassedOn } from './forward.js';
import { returnedHeaders } from './headers.js';
import { HtmlLinks } from './html-links.js';
import { type LinkRules, rewriteLink } from './links.js';

/** Where an answer leads to cannot be read. */
export class UnreadableLocation extends Error {
  constructor(
    readonly location: string,
    why: string,
  ) {
    super(why);
  }
}

/** Throws an UnreadableLocation. */
export function rewriteAnswer(answer: OutboundResponse, rules: LinkRules): PassedOn {
  const { status, body, trailers } = answer;
  const after = trailers && { trailers };
  const headers = returnedHeaders(answer);
  const { location } = answer.headers;
  if (location !== undefined) {
    const text = Buffer.from(location, 'latin1').toString();
    const rewritten = rewriteLink(text, rules);
    if (typeof rewritten === 'object') {
      body.destroy();
      throw new UnreadableLocation(location, rewritten.error);
    }
    return { status, headers: { ...headers, location: Buffer.from(rewritten).toString('latin1') }, body, ...after };
  }
  const type = (answer.headers['content-type'] ?? '').split(';', 1)[0]?.trim();
  const packing = PACKINGS.get(answer.headers['content-encoding'] ?? '');
  if (type !== 'text/html' || packing === undefined) return { status, headers, body, ...after };
  const { 'content-length': _length, ...rest } = headers;
  const links = new HtmlLinks((link) => {
    const rewritten = rewriteLink(link, rules);
    return typeof rewritten === 'string' ? rewritten : undefined;
  });
  const rewritten = through(body, [...packing.open(), links, ...packing.close()]);
  return { status, headers: rest, body: rewritten, isRewritten: true, ...after };
}

interface Packing {
  readonly open: () => readonly Piped[];
  readonly close: () => readonly Piped[];
}

type Piped = NodeJS.ReadWriteStream & Readable;

/** The content encodings that can be rewritten. A page in any other encoding passes as it is. */
const PACKINGS: ReadonlyMap<string, Packing> = new Map([
  ['', { open: () => [], close: () => [] }],
  ['gzip', { open: () => [createGunzip()], close: () => [createGzip()] }],
  ['deflate', { open: () => [createInflateRaw()], close: () => [createDeflateRaw()] }],
]);

/** What breaks anywhere breaks off the end, and who leaves the end leaves the source. */
function through(source: Readable, steps: readonly Piped[]): Readable {
  return steps.reduce<Readable>((from, to) => {
    from.once('error', (error) => to.destroy(error));
    to.on('error', () => undefined);
    to.once('close', () => from.destroy());
    return from.pipe(to);
  }, source);
}
