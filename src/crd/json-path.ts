// The JSONPath that columns and selectable fields are written in: `.spec.ports[0].name`,
// `.status.conditions[?(@.type=="Ready")].status`, `.metadata.labels['example\.test/name']`.
import { isPlainObject } from '../lib/plain-object.js';

/** Finds values, in the order of the document; none where a member is missing. */
export type JsonPath = (root: unknown) => readonly unknown[];

/** Undefined for a text that is no path, or one with a kind of step this server does not know. */
export function parseJsonPath(text: string): JsonPath | undefined {
  const steps = parseSteps(new Reader(text));
  if (steps === undefined) return undefined;
  return (root) => steps.reduce<readonly unknown[]>((values, step) => values.flatMap(step), [root]);
}

type Step = (value: unknown) => readonly unknown[];

class Reader {
  at = 0;
  constructor(readonly text: string) {}

  get done(): boolean {
    return this.at >= this.text.length;
  }

  /** What the pattern (sticky) matches here, taken. */
  take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text);
    if (match === null) return undefined;
    this.at += match[0].length;
    return match;
  }
}

function parseSteps(reader: Reader): Step[] | undefined {
  const steps: Step[] = [];
  reader.take(/[@$]/y);
  while (!reader.done) {
    const step = parseStep(reader);
    if (step === undefined) return undefined;
    steps.push(step);
  }
  return steps;
}

function parseStep(reader: Reader): Step | undefined {
  if (reader.take(/\.\./y)) return descendants;
  if (reader.take(/\.?\*/y)) return children;
  const name = reader.take(/\.?((?:\\.|[^.[\]*@$?()\s\\])+)/y);
  if (name !== undefined) return memberStep((name[1] ?? '').replace(/\\(.)/g, '$1'));
  if (reader.take(/\.(?=\[)/y)) return parseStep(reader);
  if (reader.take(/\.$/y)) return (value) => [value];
  const filter = reader.take(/\[\?\(\s*((?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^"'])*?)\s*\)\]/y);
  if (filter !== undefined) return filterStep(filter[1] ?? '');
  const quoted = reader.take(/\[\s*(?:'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)")\s*\]/y);
  if (quoted !== undefined) return memberStep((quoted[1] ?? quoted[2] ?? '').replace(/\\(.)/g, '$1'));
  const slice = reader.take(/\[(-?\d+)?(?:(:)(-?\d+)?(?::(\d+))?)?\]/y);
  if (slice !== undefined) return sliceStep(slice);
  return reader.take(/\[\*\]/y) === undefined ? undefined : children;
}

const memberStep =
  (name: string): Step =>
  (value) =>
    isPlainObject(value) && Object.hasOwn(value, name) ? [value[name]] : [];

const children: Step = (value) =>
  Array.isArray(value)
    ? value
    : isPlainObject(value)
      ? Object.keys(value)
          .sort()
          .map((key) => value[key])
      : [];

const descendants: Step = (value) => [value, ...children(value).flatMap(descendants)];

function sliceStep([, from, colon, to, step]: RegExpExecArray): Step {
  return (value) => {
    if (!Array.isArray(value)) return [];
    if (colon === undefined) {
      const position = Number(from ?? 0);
      const index = position < 0 ? value.length + position : position;
      return index in value ? [value[index]] : [];
    }
    const part = value.slice(from === undefined ? 0 : Number(from), to === undefined ? undefined : Number(to));
    const every = Math.max(1, Number(step ?? 1));
    return part.filter((_, i) => i % every === 0);
  };
}

/** Both sides of a comparison: a path below the item, or a literal. */
type Operand = (item: unknown) => unknown;

function filterStep(text: string): Step | undefined {
  const [, left = '', operator, right = ''] = /^(.+?)\s*(==|!=|<=|>=|<|>)\s*(.+)$/.exec(text) ?? [undefined, text];
  const first = operandOf(left);
  if (first === undefined) return undefined;
  const items = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : children(value));
  if (operator === undefined) return (value) => items(value).filter((item) => first(item) !== undefined);
  const second = operandOf(right);
  if (second === undefined) return undefined;
  return (value) => items(value).filter((item) => compare(first(item), second(item), operator));
}

function operandOf(text: string): Operand | undefined {
  const trimmed = text.trim();
  const [, single, double] = /^(?:'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)")$/.exec(trimmed) ?? [];
  const literal = single ?? double;
  if (literal !== undefined) return () => literal.replace(/\\(.)/g, '$1');
  if (/^-?\d+(\.\d+)?$/.test(trimmed)) return () => Number(trimmed);
  if (trimmed === 'true' || trimmed === 'false') return () => trimmed === 'true';
  if (!trimmed.startsWith('@')) return undefined;
  const path = parseJsonPath(trimmed);
  return path === undefined ? undefined : (item) => path(item)[0];
}

function compare(left: unknown, right: unknown, operator: string): boolean {
  if (left === undefined || right === undefined) return false;
  if (operator === '==') return left === right;
  if (operator === '!=') return left !== right;
  const comparable =
    (typeof left === 'number' && typeof right === 'number') || (typeof left === 'string' && typeof right === 'string');
  if (!comparable) return false;
  if (operator === '<') return left < right;
  if (operator === '>') return left > right;
  return operator === '<=' ? left <= right : left >= right;
}
