// The token that a limited list answers for its next page, in the reference's form, so that either server takes the
// other's: base64url of {"v":"meta.k8s.io/v1","rv":<revision>,"start":"<first key below the listed prefix>"}.
import { errorText } from '../lib/error-text.js';
import { StorageError } from './store.js';

/** A token with this revision goes on at the newest state. */
export const NEWEST = -1;

export interface ContinueToken {
  readonly revision: number;
  /** The first key wanted, below the listed prefix. */
  readonly start: string;
}

const API_VERSION = 'meta.k8s.io/v1';

export function encodeContinue({ revision, start }: ContinueToken): string {
  // Go's encoder escapes these three in strings.
  const json = JSON.stringify({ v: API_VERSION, rv: revision, start }).replace(
    /[<>&]/g,
    (char) => `\\u00${char.charCodeAt(0).toString(16)}`,
  );
  return Buffer.from(json).toString('base64url');
}

export function decodeContinue(token: string): ContinueToken {
  const bad = token.search(/[^A-Za-z0-9_-]/);
  if (bad >= 0 || token.length % 4 === 1) {
    throw refused(`continue key is not valid: illegal base64 data at input byte ${bad >= 0 ? bad : token.length - 1}`);
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(token, 'base64url').toString());
  } catch (error) {
    throw refused(`continue key is not valid: ${errorText(error)}`);
  }
  const { v, rv, start } = (typeof parsed === 'object' && parsed !== null ? parsed : {}) as Record<string, unknown>;
  if (v !== API_VERSION) {
    throw refused(
      `continue key is not valid: server does not recognize this encoded version ${typeof v === 'string' ? v : ''}`,
    );
  }
  if (typeof rv !== 'number' || !Number.isSafeInteger(rv) || rv === 0) {
    throw refused('continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)');
  }
  if (typeof start !== 'string' || start === '') {
    throw refused('continue key is not valid: encoded start key empty (version meta.k8s.io/v1)');
  }
  return { revision: rv, start: cleanStart(start) };
}

/** A start key may not climb out of the listed prefix. */
function cleanStart(start: string): string {
  const path = start.startsWith('/') ? start : `/${start}`;
  const parts = path.slice(1).split('/');
  const climbs = parts.some(
    (part, index) => part === '.' || part === '..' || (part === '' && (index > 0 || parts.length > 1)),
  );
  if (climbs) throw refused(`continue key is not valid: ${start}`);
  return path.slice(1);
}

const refused = (message: string): StorageError =>
  new StorageError('invalid-continue', `invalid continue token: ${message}`);
