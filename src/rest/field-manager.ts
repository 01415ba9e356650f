import type { HttpRequest } from '../lib/http.js';

const LONGEST_NAME_BYTES = 128;

/** Who a write is noted under: as stated, or else the program's name from its user agent. */
export function managerName(stated: string, http: HttpRequest): string {
  if (stated !== '') return stated;
  const agent = http.headers['user-agent'];
  // A client that says nothing is noted as the reference's HTTP library would have named it.
  const program = (agent ?? 'unknown').split('/', 1)[0] ?? '';
  let name = '';
  let bytes = 0;
  for (const char of program) {
    if (/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(char)) continue;
    bytes += Buffer.byteLength(char);
    if (bytes > LONGEST_NAME_BYTES) break;
    name += char;
  }
  return name;
}
