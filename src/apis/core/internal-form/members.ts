// How the table of internal structs is read, and what of a value belongs to each of its members.
import { wasExplicitEmpty, withExplicitEmptyOf } from '../../../machinery/explicit-empty.js';
import { metaType } from '../../../schema/catalogue.js';
import { inFieldOrder } from '../../../schema/field-order.js';
import { INTERNAL_STRUCTS } from './structs.js';

export type Bag = Readonly<Record<string, unknown>>;

export interface Member {
  readonly name: string;
  readonly json: string;
  readonly holds: string;
  readonly struct: string;
}

/** The members of a value as kube-apiserver has them. */
export const bagOf = (struct: string, value: unknown): Bag =>
  struct === 'PodSpec' ? withHostNamespaces(value as Bag) : (value as Bag);

/** kube-apiserver keeps a pod's host namespaces with its security context, which it therefore always has. */
function withHostNamespaces(spec: Bag): Bag {
  const { hostNetwork, hostPID, hostIPC, shareProcessNamespace, hostUsers } = spec;
  const securityContext = spec['securityContext'] as Bag | undefined;
  const own = securityContext ?? {};
  return withExplicitEmptyOf(spec, {
    ...spec,
    securityContext: withExplicitEmptyOf(own, {
      ...own,
      hostNetwork,
      hostPID,
      hostIPC,
      shareProcessNamespace,
      hostUsers,
    }),
  });
}

/** The empty list or map that was sent for a member. */
export function explicitEmpty(bag: Bag, { json, holds }: Member): unknown {
  if ((holds !== '[]' && holds !== '{}') || !wasExplicitEmpty(bag, json)) return undefined;
  return holds === '[]' ? [] : {};
}

/** A value of meta/v1, which has one form everywhere. */
export const metaForm = (struct: string, value: unknown): unknown => inFieldOrder(metaType(struct), value);

export const sortedByKey = (map: Bag): Bag =>
  Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));

let structs: Map<string, readonly Member[]> | undefined;

export function membersOf(struct: string): readonly Member[] {
  structs ??= parseStructs(INTERNAL_STRUCTS);
  const members = structs.get(struct);
  if (members === undefined) throw new Error(`no internal struct ${struct}`);
  return members;
}

const MEMBER = /^(\w+)(?:=(\w+))?(?:(\[\]|\{\}|[#!~?:^])(\w*))?$/;

function parseStructs(notation: string): Map<string, readonly Member[]> {
  const parsed = new Map<string, readonly Member[]>();
  for (const line of notation
    .replace(/\n {2}/g, ' ')
    .trim()
    .split('\n')) {
    const [name = '', ...members] = line.split(/:? +/);
    parsed.set(name, members.map(parseMember));
  }
  return parsed;
}

function parseMember(text: string): Member {
  if (text === '@metadata') return { name: '', json: '', holds: '@', struct: '' };
  const match = MEMBER.exec(text);
  if (match === null) throw new Error(`cannot read ${text}`);
  const [, name = '', json, holds = '', struct = ''] = match;
  return { name, json: json ?? name.charAt(0).toLowerCase() + name.slice(1), holds, struct };
}
