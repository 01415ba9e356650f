// The token that a limited list answers for its next page, in kube-apiserver's form, so that either server accepts the
// other's: base64url of {"v":"meta.k8s.io/v1","rv":<revision>,"start":"<first key below the listed prefix>"}.
import { base64Fault } from '../lib/text/base64-fault.js';
import { errorText } from '../lib/text/error-text.js';
import { goJsonKind } from '../lib/go/json-kind.js';
import { parseExactJson } from '../schema/json/parse.js';
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
  const fault = base64Fault(token, { url: true, padded: false });
  if (fault !== undefined) throw refused(`continue key is not valid: illegal base64 data at input byte ${fault}`);
  const { v, rv, start } = readToken(Buffer.from(token, 'base64url'));
  if (v !== API_VERSION) {
    throw refused(`continue key is not valid: server does not recognize this encoded version ${v}`);
  }
  if (rv === 0) {
    throw refused('continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)');
  }
  if (start === '') {
    throw refused('continue key is not valid: encoded start key empty (version meta.k8s.io/v1)');
  }
  return { revision: rv, start: cleanStart(start) };
}

interface TokenMembers {
  v: string;
  rv: number;
  start: string;
}

/** Reads the members as Go does: what is missing is empty, what has another type is refused. */
function readToken(bytes: Buffer): TokenMembers {
  let parsed: unknown;
  try {
    // Go names the byte that it could not read, not the character that the byte is a part of.
    parseExactJson(bytes.toString('latin1'));
    parsed = JSON.parse(bytes.toString());
  } catch (error) {
    throw refused(`continue key is not valid: ${errorText(error)}`);
  }
  const members: TokenMembers = { v: '', rv: 0, start: '' };
  if (parsed === null) return members;
  if (typeof parsed !== 'object' || Array.isArray(parsed)) {
    throw refused(
      `continue key is not valid: json: cannot unmarshal ${jsonKind(parsed)} into Go value of type storage.continueToken`,
    );
  }
  for (const [name, value] of Object.entries(parsed)) {
    if (value === null) continue;
    if (name === 'rv' && Number.isSafeInteger(value)) members.rv = value as number;
    else if ((name === 'v' || name === 'start') && typeof value === 'string') members[name] = value;
    else if (Object.hasOwn(members, name)) {
      const wanted = name === 'rv' ? 'int64' : 'string';
      throw refused(
        `continue key is not valid: json: cannot unmarshal ${jsonKind(value)} into Go struct field continueToken.${name} of type ${wanted}`,
      );
    }
  }
  return members;
}

/** A number that does not fit is shown. */
const jsonKind = (value: unknown): string =>
  typeof value === 'number' && !Number.isSafeInteger(value) ? `number ${value}` : goJsonKind(value);

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
