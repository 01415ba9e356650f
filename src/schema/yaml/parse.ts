// YAML as kube-apiserver reads it: YAML 1.1 scalars, every key a string, the first document only.
import {
  defineMappingTag,
  defineScalarTag,
  defineSequenceTag,
  EVENT_ID,
  type Event,
  getScalarValue,
  constructFromEvents,
  mergeTag,
  NOT_RESOLVED,
  parseEvents,
  Schema,
  seqTag,
  strTag,
  YAMLException,
} from 'js-yaml';
import { errorText } from '../../lib/text/error-text.js';
import { goQuote } from '../../lib/go/quote.js';
import { setMember } from '../../lib/values/plain-object.js';
import { maxJsonDepth } from '../json/parse.js';
import { DecodeError } from '../json/walk.js';
import { parsePlainJson } from './plain-json.js';
import { misplacedKey } from './key-lines.js';
import { hasSeparators, relaxed } from './relax.js';
import { resolvePlain } from './resolve.js';
import { readUtf8, type Utf8 } from './utf8.js';

export interface ParsedYaml {
  /** The tree its JSON form would parse to. */
  readonly value: unknown;
  /** What a strict reader says of keys that are set twice; the last one counts. */
  readonly strictError?: string;
}

// hot: every apply.
export function parseYaml(input: Uint8Array | string): ParsedYaml {
  const { text: source, fault }: Utf8 = typeof input === 'string' ? { text: input } : readUtf8(input);
  if (NEVER_IN_YAML.test(source)) throw new DecodeError('yaml: control characters are not allowed');
  if (fault !== undefined) throw new DecodeError(`yaml: ${fault}`);
  // A line ends with it as with any other.
  if (source.includes(NEXT_LINE)) return parseAnyYaml(source.replaceAll(NEXT_LINE, '\n'));
  const value = parsePlainJson(source);
  return value === undefined ? parseAnyYaml(source) : { value };
}

const NEXT_LINE = '\x85';
const NEVER_IN_YAML = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

/** Exported for the test that compares the two ways. */
export function parseAnyYaml(text: string): ParsedYaml {
  let source = hasSeparators(text) ? relaxed(text) : text;
  for (let isRepaired = false; ; isRepaired = true) {
    try {
      return parseEventsOf(source);
    } catch (error) {
      const repaired = isRepaired ? undefined : repair(source, error);
      if (repaired === undefined) throw new DecodeError(describe(error, source));
      source = repaired;
    }
  }
}

/** The text without what our reader minds and kube-apiserver does not; undefined where there is no such. */
function repair(source: string, error: unknown): string | undefined {
  if (!(error instanceof YAMLException)) return undefined;
  if (error.reason === UNINDENTED) return relaxed(source);
  const end = error.reason === NOT_ENDED ? (error.mark?.position ?? 0) : 0;
  return end > 0 && HARMLESS.test(source.slice(end)) ? source.slice(0, end) : undefined;
}

/** Said of lines within brackets and quotes, which may begin anywhere. */
const UNINDENTED = 'deficient indentation';
/** Said of what follows a document that has ended: kube-apiserver reads on until it knows that nothing there is a key. */
const NOT_ENDED = 'end of the stream or a document separator is expected';
const HARMLESS = /^(?:[A-Za-z0-9{}[\],][^:"']*|%(?:YAML|TAG) [^"']*)$/;

function parseEventsOf(source: string): ParsedYaml {
  checkDirectives(source);
  checkBeginning(source);
  const events = firstDocument(parseEvents(source, { maxDepth: maxJsonDepth }));
  checkEscapes(source, events);
  const misplaced = misplacedKey(source, events);
  if (misplaced !== undefined) throw new Error(`yaml: ${lineText(source, misplaced)}did not find expected key`);
  if (events.length === 0) {
    if (TAB_FIRST.test(source)) throw new Error('yaml: found character that cannot start any token');
    return { value: null };
  }
  const repeats = repeatedKeys(source, events);
  const [tree] = constructFromEvents(events, { source, schema, json: true, maxAliases });
  if (SURROGATE_ESCAPE.test(source) && !wellFormed(tree)) {
    throw new Error('yaml: found invalid Unicode character escape code');
  }
  const value = events.some((event) => event.type === EVENT_ID.ALIAS) ? unshared(tree, events.length) : tree;
  return repeats.length === 0
    ? { value: value ?? null }
    : { value: value ?? null, strictError: `yaml: unmarshal errors:\n  ${repeats.join('\n  ')}` };
}

/** Directives stand in front of the first document. They may say of which version it is, and there is but one. */
function checkDirectives(source: string): void {
  if (!source.includes('%')) return;
  for (const line of source.split('\n', MAX_DIRECTIVE_LINES)) {
    const [word = '', version] = line.split(/[ \t\r]+/, 2);
    if (word === '%YAML') {
      if (version !== '1.1') throw new Error('yaml: found incompatible YAML document');
      return;
    }
    if (word.startsWith('%') && word !== '%TAG') throw new Error('yaml: found unknown directive name');
    if (line.trim() !== '' && !/^[%#]/.test(line)) return;
  }
}

/** No document ends before it has begun. */
function checkBeginning(source: string): void {
  if (!source.startsWith(DOCUMENT_END) && !source.includes(`\n${DOCUMENT_END}`)) return;
  for (let start = 0, end = 0; end >= 0; start = end + 1) {
    end = source.indexOf('\n', start);
    const line = source.slice(start, end < 0 ? undefined : end);
    if (line === DOCUMENT_END || (line.startsWith(DOCUMENT_END) && /^[ \t\r]/.test(line.slice(DOCUMENT_END.length)))) {
      throw new Error(`yaml: ${lineText(source, start)}did not find expected node content`);
    }
    if (!/^[ \t\r\ufeff]*(?:#|$)/.test(line)) return;
  }
}

const DOCUMENT_END = '...';

/** The parser's position, which counts lines from zero and leaves the first out. */
function lineText(source: string, at: number): string {
  const line = lineCounter(source)(at) - 1;
  return line === 0 ? '' : `line ${line}: `;
}

/** A slash is not escaped in YAML 1.1. */
function checkEscapes(source: string, events: readonly Event[]): void {
  if (!source.includes('\\/')) return;
  for (const event of events) {
    if (event.type !== EVENT_ID.SCALAR || source[event.valueStart - 1] !== '"') continue;
    for (let at = event.valueStart; at < event.valueEnd; at++) {
      if (source[at] !== '\\') continue;
      if (source[++at] === '/') throw new Error('yaml: found unknown escape character');
    }
  }
}

const MAX_DIRECTIVE_LINES = 1000;
const TAB_FIRST = /^ *\t/m;

const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;
const LONE_SURROGATE = /\p{Surrogate}/u;

function wellFormed(value: unknown): boolean {
  if (typeof value === 'string') return !LONE_SURROGATE.test(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, member]) => wellFormed(key) && wellFormed(member));
}

const maxAliases = 10_000;
/** Nodes a document may grow to when its aliases are written out. */
const maxNodes = 1_000_000;
/** How many times its written size a document may grow to, unless it stays small: writing out a bomb stops everyone. */
const maxGrowth = 100;
const alwaysAllowedNodes = 1000;

function firstDocument(events: Event[]): Event[] {
  const second = events.findIndex((event, index) => index > 0 && event.type === EVENT_ID.DOCUMENT);
  return second < 0 ? events : events.slice(0, second);
}

/** One rule looks at every plain scalar; only what that rule rejects is a string. */
const plain = defineScalarTag<unknown>('tag:yaml.org,2002:plain', {
  implicit: true,
  implicitFirstChars: null,
  resolve: (source) => finite(resolvePlain(source)) ?? NOT_RESOLVED,
  identify: () => false,
});

const nothing = defineScalarTag<unknown>('tag:yaml.org,2002:null', {
  implicit: true,
  implicitFirstChars: null,
  resolve: (source, isExplicit) => (isExplicit || resolvePlain(source) === null ? null : NOT_RESOLVED),
  identify: () => false,
});

/** A tag in the text requires a sort of scalar; what is not of that sort is refused. */
const explicit = (name: string, accepts: (value: unknown) => boolean) =>
  defineScalarTag<unknown>(`tag:yaml.org,2002:${name}`, {
    implicit: false,
    resolve: (source) => {
      const value = finite(resolvePlain(source));
      return accepts(value) ? value : NOT_RESOLVED;
    },
    identify: () => false,
  });
const int = explicit('int', (value) => Number.isInteger(value) || typeof value === 'bigint');
const float = explicit('float', (value) => typeof value === 'number' || typeof value === 'bigint');
const bool = explicit('bool', (value) => typeof value === 'boolean');

/** JSON has no words for these. */
function finite(value: unknown): unknown {
  if (typeof value !== 'number' || Number.isFinite(value)) return value;
  throw new Error(`json: unsupported value: ${Number.isNaN(value) ? 'NaN' : value < 0 ? '-Inf' : '+Inf'}`);
}

const binary = defineScalarTag<unknown>('tag:yaml.org,2002:binary', {
  implicit: false,
  resolve: (source) => Buffer.from(source, 'base64').toString('utf8'),
  identify: () => false,
});

const timestamp = defineScalarTag<unknown>('tag:yaml.org,2002:timestamp', {
  implicit: false,
  resolve: (source) => source,
  identify: () => false,
});

const objects: Parameters<typeof defineMappingTag<Record<string, unknown>>>[1] = {
  create: () => ({}),
  addPair: (carrier, key, value) => {
    const name = keyText(key);
    if (name === undefined) return 'unsupported map key';
    setMember(carrier, name, value);
    return '';
  },
  has: (carrier, key) => Object.hasOwn(carrier, keyText(key) ?? ''),
  keys: (result) => Object.keys(result),
  get: (result, key) => result[String(key)],
  identify: () => false,
};
const mapping = defineMappingTag('tag:yaml.org,2002:map', objects);

/** Tags that nobody knows say nothing, but that a scalar is a text. */
const ANY_TAG = { matchByTagPrefix: true, identify: () => false };
const unknown = [
  defineScalarTag<unknown>('', { ...ANY_TAG, implicit: false, resolve: (source) => source }),
  defineSequenceTag<unknown[]>('', {
    ...ANY_TAG,
    create: () => [],
    addItem: (carrier, item) => {
      carrier.push(item);
      return '';
    },
  }),
  defineMappingTag('', { ...objects, ...ANY_TAG }),
];

const known = [strTag, mergeTag, nothing, plain, bool, int, float, binary, timestamp, seqTag, mapping];
const schema = new Schema([...known, ...unknown]);

function keyText(key: unknown): string | undefined {
  if (typeof key === 'string') return key;
  if (typeof key === 'number' || typeof key === 'bigint' || typeof key === 'boolean') return String(key);
  return undefined;
}

/** Writes out aliases: what is shared in the tree would be changed in two places at once. */
function unshared(tree: unknown, written: number): unknown {
  const limit = Math.min(maxNodes, Math.max(alwaysAllowedNodes, written * maxGrowth));
  let nodes = 0;
  const copy = (value: unknown, depth: number): unknown => {
    if (++nodes > limit || depth > maxJsonDepth) throw new Error('yaml: document contains excessive aliasing');
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => copy(item, depth + 1));
    const object: Record<string, unknown> = {};
    for (const [key, member] of Object.entries(value)) setMember(object, key, copy(member, depth + 1));
    return object;
  };
  return copy(tree, 0);
}

interface Frame {
  /** The keys of a mapping; none in a list or a document. */
  readonly keys?: Set<string>;
  key?: string;
  keyIsNext: boolean;
  line: number;
}

/** Keys set twice, in the order in which their values end. */
function repeatedKeys(source: string, events: readonly Event[]): string[] {
  const repeats: string[] = [];
  const frames: Frame[] = [];
  const lineAt = lineCounter(source);
  const value = (line: number, text?: string): void => {
    const frame = frames.at(-1);
    if (frame?.keys === undefined) return;
    if (frame.keyIsNext) {
      frame.key = text;
      frame.keyIsNext = false;
      return;
    }
    frame.keyIsNext = true;
    if (frame.key === undefined || frame.key === '<<') return;
    if (frame.keys.has(frame.key)) repeats.push(`line ${line}: key ${goQuote(frame.key)} already set in map`);
    frame.keys.add(frame.key);
  };
  for (const event of events) {
    switch (event.type) {
      case EVENT_ID.SCALAR:
        value(lineAt(event.valueStart), getScalarValue(source, event));
        break;
      case EVENT_ID.ALIAS:
        value(lineAt(event.anchorStart));
        break;
      case EVENT_ID.MAPPING:
        frames.push({ keys: new Set(), keyIsNext: true, line: lineAt(event.start) });
        break;
      case EVENT_ID.SEQUENCE:
        frames.push({ keyIsNext: false, line: lineAt(event.start) });
        break;
      case EVENT_ID.DOCUMENT:
        frames.push({ keyIsNext: false, line: 1 });
        break;
      case EVENT_ID.POP: {
        const ended = frames.pop();
        value(ended?.line ?? 1);
        break;
      }
    }
  }
  return repeats;
}

/** Lines are counted on as the places move forward. */
function lineCounter(source: string): (offset: number) => number {
  const newlineFrom = (at: number): number => {
    const found = source.indexOf('\n', at);
    return found < 0 ? Infinity : found;
  };
  let line = 1;
  // Looked for once: JSON is often one long line, and has thousands of keys in it.
  let newline = newlineFrom(0);
  return (offset) => {
    for (; newline < offset; newline = newlineFrom(newline + 1)) line++;
    return line;
  };
}

function describe(error: unknown, source: string): string {
  if (!(error instanceof YAMLException)) return errorText(error);
  if (error.reason.startsWith('json: ') || error.reason.startsWith('yaml: ')) return error.reason;
  const { mark } = error;
  // Where a document is split lines are counted from zero.
  if (error.reason.startsWith('undeclared tag handle')) {
    return `yaml: ${mark === undefined || mark.line === 0 ? '' : `line ${mark.line}: `}found undefined tag handle`;
  }
  const reason = reasonOf(error.reason, source);
  return mark === undefined ? `yaml: ${reason}` : `yaml: line ${mark.line + 1}: ${reason}`;
}

/** The words that are met most often, as kube-apiserver has them. */
function reasonOf(reason: string, source: string): string {
  if (reason.includes('tab')) return 'found character that cannot start any token';
  if (!reason.includes('within a flow collection')) return reason;
  const last = source.trimEnd().at(-1) ?? '';
  if (last === '[' || last === ',' || last === '{') return 'did not find expected node content';
  return `did not find expected ',' or '${source.lastIndexOf('{') > source.lastIndexOf('[') ? '}' : ']'}'`;
}
