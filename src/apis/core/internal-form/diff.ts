// What changed between two values of a struct, as kube-apiserver shows it under a refused update: a diff of both encoded
// with a member to a line. Most lines say that a member is unset: a small volume has forty of them. So lines are made
// from the table, and those of unset members once.
import { escapeHtml } from '../../../lib/go/json.js';
import { unifiedDiff } from './unified-diff.js';
import { type Bag, bagOf, explicitEmpty, type Member, membersOf, metaForm } from './members.js';

export const internalDiff = (struct: string, old: unknown, now: unknown): string =>
  unifiedDiff(internalLines(struct, old), internalLines(struct, now));

/** `struct` names a line of INTERNAL_STRUCTS. */
export function internalLines(struct: string, value: unknown): string[] {
  const lines: string[] = [];
  printStruct(lines, struct, value, { open: '', indent: '', end: '' });
  return lines;
}

/** Where a value stands: what its first line begins with, and its last line begins and ends with. */
interface Place {
  readonly open: string;
  readonly indent: string;
  readonly end: string;
}

function printStruct(lines: string[], struct: string, value: unknown, { open, indent, end }: Place): void {
  if (value === undefined || value === null) {
    lines.push(`${open}null${end}`);
    return;
  }
  const bag = bagOf(struct, value);
  lines.push(`${open}{`);
  for (const row of rowsOf(struct, `${indent} `)) {
    const { member, place, unset } = row;
    if (member.holds === '@') printMetadata(lines, bag['metadata'] as Bag | undefined, place);
    else {
      const own = bag[member.json] ?? explicitEmpty(bag, member);
      if (own !== undefined && own !== null) printMember(lines, row, own);
      else if (unset !== undefined) lines.push(unset);
      else printStruct(lines, member.struct, {}, place);
    }
  }
  lines.push(`${indent}}${end}`);
}

function printMember(lines: string[], { member: { holds, struct }, place }: Row, value: unknown): void {
  if (holds === '{}') return printMap(lines, value as Bag, place);
  if (holds === '^') return printPlain(lines, metaForm(struct, value), place);
  if (struct === '') return printPlain(lines, value, place);
  if (holds === '[]') printList(lines, struct, value as readonly unknown[], place);
  else printStruct(lines, struct, value, place);
}

function printList(lines: string[], struct: string, items: readonly unknown[], { open, indent, end }: Place): void {
  if (items.length === 0) {
    lines.push(`${open}[]${end}`);
    return;
  }
  lines.push(`${open}[`);
  const inner = `${indent} `;
  const place = { open: inner, indent: inner, end: ',' };
  items.forEach((item, at) => printStruct(lines, struct, item, at < items.length - 1 ? place : { ...place, end: '' }));
  lines.push(`${indent}]${end}`);
}

function printMap(lines: string[], map: Bag, { open, indent, end }: Place): void {
  const keys = Object.keys(map).sort();
  if (keys.length === 0) {
    lines.push(`${open}{}${end}`);
    return;
  }
  lines.push(`${open}{`);
  keys.forEach((key, at) => {
    const place = memberPlace(key, `${indent} `, at < keys.length - 1 ? ',' : '');
    printPlain(lines, map[key], place);
  });
  lines.push(`${indent}}${end}`);
}

/** Inlined, and never last. */
function printMetadata(lines: string[], metadata: Bag | undefined, { indent }: Place): void {
  for (const [name, value] of Object.entries(metaForm('ObjectMeta', metadata ?? {}) as Bag)) {
    if (value !== undefined) printPlain(lines, value, memberPlace(name, indent, ','));
  }
}

function printPlain(lines: string[], value: unknown, { open, indent, end }: Place): void {
  const [first = '', ...more] = escapeHtml(JSON.stringify(value, roundBigint, 1)).split('\n');
  if (more.length === 0) {
    lines.push(`${open}${first}${end}`);
    return;
  }
  lines.push(open + first);
  more.forEach((line, at) => lines.push(`${indent}${line}${at < more.length - 1 ? '' : end}`));
}

const roundBigint = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? Number(value) : value);

const memberPlace = (name: string, indent: string, end: string): Place => ({
  open: `${indent}${escapeHtml(JSON.stringify(name))}: `,
  indent,
  end,
});

/** A member where its struct is indented so. */
interface Row {
  readonly member: Member;
  readonly place: Place;
  /** Its line when nothing is set; a struct that is always there has several. */
  readonly unset: string | undefined;
}

const UNSET: Readonly<Record<string, string>> = {
  '#': '0',
  '!': 'false',
  '~': '"0"',
  '?': 'null',
  '^': 'null',
  '[]': 'null',
  '{}': 'null',
  '': '""',
};

const rows = new Map<string, Map<string, readonly Row[]>>();

function rowsOf(struct: string, indent: string): readonly Row[] {
  let byIndent = rows.get(struct);
  if (byIndent === undefined) rows.set(struct, (byIndent = new Map()));
  let known = byIndent.get(indent);
  if (known === undefined) {
    const members = membersOf(struct);
    known = members.map((member, at) => {
      const place = memberPlace(member.name, indent, at < members.length - 1 ? ',' : '');
      const unset = UNSET[member.holds];
      return { member, place, unset: unset === undefined ? undefined : `${place.open}${unset}${place.end}` };
    });
    byIndent.set(indent, known);
  }
  return known;
}
