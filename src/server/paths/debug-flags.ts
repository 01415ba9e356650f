// /debug/flags/: flags that can be changed while the server runs, which is `-v` alone.
import type { HttpRequest, HttpResponse } from '../../lib/http/http.js';
import { parseInteger, SyntaxMistake } from '../../lib/go/strconv.js';
import type { PathHandler } from './paths.js';

const FOLDER = '/debug/flags';
const MAX_LEVEL_BYTES = 1024;

/** `setVerbosity` is fulfilled when the level holds in all processes of the server. */
export function debugFlags(setVerbosity: (verbosity: number) => Promise<void>): PathHandler {
  return (request, path) => {
    if (path === `${FOLDER}/v`) return putVerbosity(request, setVerbosity);
    return path === FOLDER || path.startsWith(`${FOLDER}/`) ? index() : undefined;
  };
}

async function putVerbosity(
  request: HttpRequest,
  setVerbosity: (verbosity: number) => Promise<void>,
): Promise<HttpResponse> {
  if (request.method !== 'PUT') return plain(406, 'unsupported http method');
  const text = (await request.body(MAX_LEVEL_BYTES)).toString('utf8');
  try {
    await setVerbosity(parseInteger(text, { as: 'ParseInt', bits: 32, signed: true, base: 10 }));
  } catch (error) {
    if (!(error instanceof SyntaxMistake)) throw error;
    return plain(400, `failed set klog.logging.verbosity ${text}: ${error.message}`);
  }
  return plain(200, `successfully set klog.logging.verbosity to ${text}`);
}

const index = (): HttpResponse => ({
  status: 200,
  headers: { 'content-type': 'text/html; charset=utf-8' },
  body: `<html><head><title>${FOLDER}/</title></head><body><h1>${FOLDER}/</h1><ul><li>v</li></ul></body></html>\n`,
});

const plain = (status: number, text: string): HttpResponse => ({
  status,
  headers: { 'content-type': 'text/plain', 'x-content-type-options': 'nosniff' },
  body: `${text}\n`,
});
