import { jsonText } from '../../../lib/json-text.js';
import { unifiedDiff } from '../../../lib/unified-diff.js';
import { Verbatim } from '../../../machinery/field-error.js';
import type { LabelSelector } from '../../../schema/generated/meta.v1.js';
import { wasGivenEmpty, withGivenEmptyOf } from '../../../machinery/given-empty.js';
import type { ObjectMeta } from '../../../machinery/object.js';
import { INTERNAL_STRUCTS } from './structs.js';

/** The value of an error, as the reference prints the named struct. `struct` names a line of INTERNAL_STRUCTS. */
export const internalValue = (struct: string, value: unknown): Verbatim =>
  new Verbatim(escapeHtml(jsonText(internalForm(struct, value))));

/** A list of the named struct, printed likewise. */
export const internalList = (struct: string, values: readonly unknown[] | undefined | null): Verbatim =>
  new Verbatim(escapeHtml(jsonText(values == null ? null : values.map((value) => internalForm(struct, value)))));

/** A label selector prints by its JSON names, in their order; labels print by key. */
export function selectorValue(selector: Readonly<LabelSelector> | null | undefined): unknown {
  if (!selector) return null;
  const { matchLabels, matchExpressions } = selector;
  return {
    ...(matchLabels && { matchLabels: sortedByKey(matchLabels) }),
    ...(matchExpressions && {
      matchExpressions: matchExpressions.map(({ key, operator, values }) => ({
        key,
        operator,
        ...(values && { values }),
      })),
    }),
  };
}

export function labelsValue(metadata: Readonly<Pick<ObjectMeta, 'labels'>>): unknown {
  if (metadata.labels !== undefined) return sortedByKey(metadata.labels);
  return wasGivenEmpty(metadata, 'labels') ? {} : null;
}

/** What changed between two values of the named struct, as the reference shows it under a refused update. */
export const internalDiff = (struct: string, old: unknown, now: unknown): string =>
  unifiedDiff(prettyLines(struct, old), prettyLines(struct, now));

function prettyLines(struct: string, value: unknown): string[] {
  const text = escapeHtml(JSON.stringify(internalForm(struct, value), roundBigint, 1));
  return text.split('\n');
}

const roundBigint = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? Number(value) : value);

/** The characters JSON need not escape but the reference's printer does. */
export const escapeHtml = (json: string): string =>
  json.replace(/[<>&\u2028\u2029]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

type Bag = Readonly<Record<string, unknown>>;

interface Member {
  readonly name: string;
  readonly json: string;
  readonly holds: string;
  readonly struct: string;
}

function internalForm(struct: string, value: unknown): unknown {
  if (value === undefined || value === null) return null;
  const bag = struct === 'PodSpec' ? withHostNamespaces(value as Bag) : (value as Bag);
  const form: Record<string, unknown> = {};
  for (const member of membersOf(struct)) {
    if (member.holds === '@') Object.assign(form, bag['metadata']);
    else form[member.name] = memberForm(member, bag[member.json] ?? givenEmpty(bag, member));
  }
  return form;
}

function givenEmpty(bag: Bag, { json, holds }: Member): unknown {
  if ((holds !== '[]' && holds !== '{}') || !wasGivenEmpty(bag, json)) return undefined;
  return holds === '[]' ? [] : {};
}

function memberForm({ holds, struct }: Member, value: unknown): unknown {
  switch (holds) {
    case '#':
      return value ?? 0;
    case '!':
      return value ?? false;
    case '~':
      return value ?? '0';
    case ':':
      return internalForm(struct, value ?? {});
    case '?':
      return struct === '' ? (value ?? null) : internalForm(struct, value);
    case '[]':
      if (value === undefined || value === null) return null;
      return struct === '' ? value : (value as readonly unknown[]).map((item) => internalForm(struct, item));
    case '{}':
      return value === undefined || value === null ? null : sortedByKey(value as Bag);
    default:
      return value ?? '';
  }
}

const sortedByKey = (map: Bag): Bag =>
  Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));

/** The reference keeps a pod's host namespaces with its security context, which it therefore always has. */
function withHostNamespaces(spec: Bag): Bag {
  const { hostNetwork, hostPID, hostIPC, shareProcessNamespace, hostUsers } = spec;
  const securityContext = spec['securityContext'] as Bag | undefined;
  const own = securityContext ?? {};
  return withGivenEmptyOf(spec, {
    ...spec,
    securityContext: withGivenEmptyOf(own, {
      ...own,
      hostNetwork,
      hostPID,
      hostIPC,
      shareProcessNamespace,
      hostUsers,
    }),
  });
}

let structs: Map<string, readonly Member[]> | undefined;

function membersOf(struct: string): readonly Member[] {
  structs ??= parseStructs(INTERNAL_STRUCTS);
  const members = structs.get(struct);
  if (members === undefined) throw new Error(`no internal struct ${struct}`);
  return members;
}

const MEMBER = /^(\w+)(?:=(\w+))?(?:(\[\]|\{\}|[#!~?:])(\w*))?$/;

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
