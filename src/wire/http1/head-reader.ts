// How the heads of requests are read.
import { HeadReader } from '../../lib/http/http1/head-reader.js';
import { isRefusal, parseHead, type RequestHead } from './request-head.js';
import { BAD_REQUEST, parseRequestLine, type Refusal, TOO_LARGE } from './request-line.js';

/** One mebibyte, as kube-apiserver allows, and the size of its read buffer. */
export const MAX_HEAD_BYTES = (1 << 20) + 4096;

export const requestHeadReader = (): HeadReader<RequestHead | Refusal> => new HeadReader(RULES);

const RULES = { maxBytes: MAX_HEAD_BYTES, tooLarge: TOO_LARGE, parse: parseHead, checkFirstLine };

function checkFirstLine(line: string): Refusal | undefined {
  const read = line.endsWith('\r') ? parseRequestLine(line.slice(0, -1)) : BAD_REQUEST;
  return isRefusal(read) ? read : undefined;
}
