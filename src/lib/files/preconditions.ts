// The conditions a request for a file may make: If-Match, If-Modified-Since and their like. Files have no entity tags,
// so that of tags only `*` is met.
import type { HttpRequest } from '../http/http.js';
import { parseHttpDate } from './http-date.js';

export interface Judged {
  /** What to answer instead of the file. */
  readonly status?: 304 | 412;
  /** The Range header, where it still counts. */
  readonly range: string;
}

export function judgeConditions(request: HttpRequest, modifiedMs: number): Judged {
  const { headers } = request;
  const ifMatch = headers['if-match'] ?? '';
  if (ifMatch !== '' ? !hasStar(ifMatch) : modifiedSince(headers['if-unmodified-since'], modifiedMs) === true) {
    return { status: 412, range: '' };
  }
  const ifNoneMatch = headers['if-none-match'] ?? '';
  if (ifNoneMatch !== '' ? hasStar(ifNoneMatch) : notModifiedSince(request, modifiedMs)) {
    return { status: 304, range: '' };
  }
  const ifRange = headers['if-range'] ?? '';
  const isThatOne = ifRange === '' || parseHttpDate(ifRange) === wholeSeconds(modifiedMs);
  return { range: isThatOne ? (headers['range'] ?? '') : '' };
}

export const notModifiedSince = ({ headers }: HttpRequest, modifiedMs: number): boolean =>
  modifiedSince(headers['if-modified-since'], modifiedMs) === false;

/** Undefined without a time to compare with. */
function modifiedSince(header: string | undefined, modifiedMs: number): boolean | undefined {
  const timeMs = header === undefined ? undefined : parseHttpDate(header);
  return timeMs === undefined ? undefined : wholeSeconds(modifiedMs) > timeMs;
}

/** Headers have times in whole seconds. */
const wholeSeconds = (ms: number): number => Math.floor(ms / 1000) * 1000;

const hasStar = (tags: string): boolean => {
  for (let rest = tags.trim(); rest !== '';) {
    if (rest.startsWith('*')) return true;
    if (rest.startsWith(',')) {
      rest = rest.slice(1).trim();
      continue;
    }
    const tag = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/.exec(rest);
    if (tag === null) return false;
    rest = rest.slice(tag[0].length).trim();
  }
  return false;
};
