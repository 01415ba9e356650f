import { cannotUnmarshal } from '../../lib/go/json-kind.js';
import { DecodeError } from './decode.js';

export interface SentKind {
  /** Empty when the body leaves it to the path. */
  readonly kind: string;
  readonly apiVersion: string;
}

/** What kube-apiserver says of a custom resource whose version is null. */
export const NULL_VERSION = '.apiVersion accessor error: <nil> is of the type <nil>, expected string';

/** The kind and version in a body, read before anything else of it. */
export function sentKind(tree: unknown): SentKind {
  if (tree === null) return { kind: '', apiVersion: '' };
  if (typeof tree !== 'object' || Array.isArray(tree)) {
    throw unreadable(cannotUnmarshal(tree, `Go value of type ${PROBE}`));
  }
  const said = { kind: '', apiVersion: '' };
  const members = tree as Readonly<Record<string, unknown>>;
  for (const name in members) {
    const member = memberMeant(name);
    if (member === undefined) continue;
    const value = members[name];
    if (value === null) continue;
    if (typeof value !== 'string') {
      throw unreadable(cannotUnmarshal(value, `Go struct field .${member} of type string`));
    }
    said[member] = value;
  }
  return said;
}

/** In characters of any case, which holds for no other member of an object. */
function memberMeant(name: string): keyof SentKind | undefined {
  if (name === 'kind' || name === 'apiVersion') return name;
  if (name.length !== 'kind'.length && name.length !== 'apiVersion'.length) return undefined;
  const folded = name.toLowerCase();
  return folded === 'kind' ? 'kind' : folded === 'apiversion' ? 'apiVersion' : undefined;
}

export const unreadable = (why: string): DecodeError =>
  new DecodeError(`couldn't get version/kind; json parse error: ${why}`);

/** kube-apiserver looks through a nameless struct, and its decoder writes that in full. */
const PROBE = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
