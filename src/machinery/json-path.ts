// JSONPath templates as the API knows them: `{.spec.containers[0].name}`, text outside braces as it is.
//
//   {.items[*].metadata['name']}  →  [[field items, slice, field metadata, field name]]
import { append } from '../lib/values/append.js';

export type JsonPathNode =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'list'; readonly nodes: readonly JsonPathNode[] }
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'identifier'; readonly name: string }
  | { readonly kind: 'wildcard' }
  | { readonly kind: 'recursive' }
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'bool'; readonly value: boolean }
  | { readonly kind: 'slice'; readonly from?: number; readonly to?: number; readonly step?: number }
  | { readonly kind: 'union'; readonly members: readonly (readonly JsonPathNode[])[] }
  | {
      readonly kind: 'filter';
      readonly left: readonly JsonPathNode[];
      readonly operator: string;
      readonly right: readonly JsonPathNode[];
    };

/** Why a template is wrong, in kube-apiserver's words; undefined when it is right. */
export function jsonPathError(template: string): string | undefined {
  try {
    parseJsonPath(template);
    return undefined;
  } catch (error) {
    if (error instanceof JsonPathError) return error.message;
    throw error;
  }
}

export class JsonPathError extends Error {}

/** Throws a JsonPathError. */
export const parseJsonPath = (template: string): readonly JsonPathNode[] => new Parser(template).parse();

/** What may follow an identifier. */
const TERMINATOR = /[ \t\r\n.,[\]$@{}]/;

class Parser {
  private position = 0;

  constructor(private readonly input: string) {}

  parse(): JsonPathNode[] {
    const nodes: JsonPathNode[] = [];
    while (this.position < this.input.length) {
      const brace = this.input.indexOf('{', this.position);
      const end = brace < 0 ? this.input.length : brace;
      if (end > this.position) nodes.push({ kind: 'text', text: this.input.slice(this.position, end) });
      this.position = end;
      if (brace >= 0) nodes.push({ kind: 'list', nodes: this.action() });
    }
    return nodes;
  }

  private action(): JsonPathNode[] {
    this.position += 1;
    const nodes: JsonPathNode[] = [];
    for (;;) {
      const rest = this.input.slice(this.position);
      const character = String.fromCodePoint(rest.codePointAt(0) ?? 0);
      if (rest === '' || character === '\r' || character === '\n') throw new JsonPathError('unclosed action');
      if (character === '}') {
        this.position += 1;
        return nodes;
      }
      if (rest.startsWith('[?(')) nodes.push(this.filter());
      else if (rest.startsWith('..')) append(nodes, this.recursive(nodes));
      else if (character === ' ' || character === '@' || character === '$') this.position += 1;
      else if (character === '[') append(nodes, this.subscript());
      else if (character === '"' || character === "'") nodes.push(this.quoted(character));
      else if (character === '.') nodes.push(this.field(1));
      else if (/[+\-\p{Nd}]/u.test(character)) nodes.push(this.number());
      else if (/[_\p{L}]/u.test(character)) nodes.push(this.identifier());
      else {
        const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
        throw new JsonPathError(`unrecognized character in action: U+${code} '${character}'`);
      }
    }
  }

  private recursive(before: readonly JsonPathNode[]): JsonPathNode[] {
    if (before[before.length - 1]?.kind === 'recursive') {
      throw new JsonPathError('invalid multiple recursive descent');
    }
    this.position += 2;
    const named = /^[_\p{L}\p{Nd}]/u.test(this.input.slice(this.position));
    return named ? [{ kind: 'recursive' }, this.field(0)] : [{ kind: 'recursive' }];
  }

  private field(skip: number): JsonPathNode {
    this.position += skip;
    const start = this.position;
    while (this.position < this.input.length && !TERMINATOR.test(this.input[this.position] ?? '')) {
      this.position += this.input[this.position] === '\\' ? 2 : 1;
    }
    const name = this.input.slice(start, this.position);
    return name === '*' ? { kind: 'wildcard' } : { kind: 'field', name: name.replaceAll('\\', '') };
  }

  private identifier(): JsonPathNode {
    const start = this.position;
    while (this.position < this.input.length && !TERMINATOR.test(this.input[this.position] ?? '')) this.position += 1;
    const name = this.input.slice(start, this.position);
    return name === 'true' || name === 'false'
      ? { kind: 'bool', value: name === 'true' }
      : { kind: 'identifier', name };
  }

  private number(): JsonPathNode {
    const [text = ''] = /^[+-]?[.\d]*/.exec(this.input.slice(this.position)) ?? [];
    this.position += text.length;
    if (!/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/.test(text)) throw new JsonPathError(`cannot parse number ${text}`);
    return { kind: 'number', value: Number(text) };
  }

  private quoted(quote: string): JsonPathNode {
    const start = this.position + 1;
    for (let at = start; ; at++) {
      const character = this.input[at];
      if (character === undefined || character === '\n') throw new JsonPathError('unterminated quoted string');
      if (character !== quote || this.input[at - 1] === '\\') continue;
      this.position = at + 1;
      return { kind: 'text', text: this.input.slice(start, at).replace(/\\(.)/g, '$1') };
    }
  }

  private subscript(): JsonPathNode[] {
    const close = this.input.indexOf(']', this.position);
    const text = this.input.slice(this.position + 1, close);
    if (close < 0 || text.includes('\n')) throw new JsonPathError('unterminated array');
    this.position = close + 1;
    const members = text.split(',');
    if (members.length > 1) {
      return [{ kind: 'union', members: members.map((member) => actionOf(`[${member.trim()}]`)) }];
    }
    const key = /^'([^']*)'$/.exec(text);
    if (key !== null) return actionOf(`.${key[1] ?? ''}`);
    return [sliceOf(text === '*' ? ':' : text)];
  }

  private filter(): JsonPathNode {
    const start = this.position + 3;
    let quote: string | undefined;
    let closed = false;
    for (let at = start; ; at++) {
      const character = this.input[at];
      if (character === undefined || character === '\n') throw new JsonPathError('unterminated filter');
      if (character === '"' || character === "'") {
        if (quote === undefined) quote = character;
        else if (quote === character && this.input[at - 1] !== '\\') closed = true;
      }
      if (character !== ')' || (quote !== undefined) !== closed) continue;
      if (this.input[at + 1] !== ']') throw new JsonPathError('unclosed array expect ]');
      this.position = at + 2;
      return filterOf(this.input.slice(start, at));
    }
  }
}

function actionOf(text: string): JsonPathNode[] {
  const [first] = new Parser(`{${text}}`).parse();
  return first?.kind === 'list' ? [...first.nodes] : [];
}

function filterOf(text: string): JsonPathNode {
  const start = text.search(/[!<>=]/);
  const [run = ''] = /^[!<>=]+/.exec(text.slice(Math.max(start, 0))) ?? [];
  // Something must be left to compare with, and be it the last sign.
  const end = Math.min(start + run.length, text.length - 1);
  if (start <= 0 || end <= start) return { kind: 'filter', left: actionOf(text), operator: 'exists', right: [] };
  return {
    kind: 'filter',
    left: actionOf(text.slice(0, start)),
    operator: text.slice(start, end),
    right: actionOf(text.slice(end)),
  };
}

/** `1`, `-1`, `1:3`, `::2`: a lone index is a slice of one. */
function sliceOf(text: string): JsonPathNode {
  const parts = /^(-?\d*)(:-?\d*)?(:-?\d*)?$/.exec(text);
  if (parts === null) throw new JsonPathError(`invalid array index ${text}`);
  const numberAt = (i: number): number | undefined => {
    const part = (parts[i] ?? '').replace(/^:/, '');
    if (part === '') return undefined;
    if (part === '-') throw new JsonPathError(`array index ${part} is not a number`);
    return Number(part);
  };
  const from = numberAt(1);
  const to = parts[2] === undefined && from !== undefined ? from + 1 : numberAt(2);
  const step = numberAt(3);
  return {
    kind: 'slice',
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(step === undefined ? {} : { step }),
  };
}
