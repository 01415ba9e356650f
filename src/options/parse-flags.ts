// Reads a command line by the rules of Go's pflag: `--x=y`, `--x y`, bare booleans, `-v4`, `--` before positional
// arguments, words joined by `-` or `_`. The first mistake ends the reading.
import { append } from '../lib/values/append.js';
import { goQuote } from '../lib/go/quote.js';
import { platformWord } from '../machinery/names.js';
import { FLAG_KINDS, isValueMistake, type FlagKind } from './flag-kinds.js';
import { fieldName, type FlagSpec, type FlagValues, type Topic } from './flag-table.js';

export interface ParsedFlags<Topics extends readonly Topic[]> {
  readonly values: FlagValues<Topics>;
  /** The flags that stood on the command line, by name. */
  readonly setFlags: ReadonlySet<string>;
  readonly positional: readonly string[];
  /** Warnings for users of deprecated flags. */
  readonly notices: readonly string[];
}

/** A command line that cannot be read. */
export class CommandLineMistake extends Error {
  constructor(
    message: string,
    /** What was written for a flag that there is not. */
    readonly unknownFlag?: string,
  ) {
    super(message);
  }
}

export function parseFlags<Topics extends readonly Topic[]>(
  topics: Topics,
  argv: readonly string[],
): ParsedFlags<Topics> {
  const reader = new FlagReader(topics);
  reader.read(argv);
  return {
    values: reader.values as FlagValues<Topics>,
    setFlags: reader.given,
    positional: reader.positional,
    notices: reader.notices,
  };
}

interface KnownFlag {
  readonly name: string;
  readonly spec: FlagSpec;
  readonly kind: FlagKind<unknown>;
  readonly topic: string;
  readonly field: string;
}

class FlagReader {
  readonly values: Record<string, Record<string, unknown>> = {};
  readonly given = new Set<string>();
  readonly positional: string[] = [];
  readonly notices: string[] = [];
  private readonly byName = new Map<string, KnownFlag>();
  private readonly byLetter = new Map<string, KnownFlag>();

  constructor(topics: readonly Topic[]) {
    for (const topic of topics) {
      const values: Record<string, unknown> = {};
      for (const [name, spec] of Object.entries(topic.flags)) {
        const kind = FLAG_KINDS[spec.type] as FlagKind<unknown>;
        const flag = { name, spec, kind, topic: topic.key, field: fieldName(name, spec.type) };
        values[flag.field] = spec.default ?? kind.zero;
        this.byName.set(name, flag);
        if (spec.short !== undefined) this.byLetter.set(spec.short, flag);
      }
      this.values[topic.key] = values;
    }
  }

  read(argv: readonly string[]): void {
    const rest = [...argv];
    for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
      if (arg === '--') {
        append(this.positional, rest);
        return;
      }
      if (arg.startsWith('--')) this.readLong(arg, rest);
      else if (arg.startsWith('-') && arg !== '-') this.readShort(arg, rest);
      else this.positional.push(arg);
    }
  }

  private readLong(arg: string, rest: string[]): void {
    const body = arg.slice(2);
    if (body.startsWith('-') || body.startsWith('=')) throw new CommandLineMistake(`bad flag syntax: ${arg}`);
    const equals = body.indexOf('=');
    const written = equals < 0 ? body : body.slice(0, equals);
    const flag = this.byName.get(platformWord(written.replaceAll('_', '-')));
    if (flag === undefined) throw new CommandLineMistake(`unknown flag: --${written}`, written);
    if (equals >= 0) this.set(flag, body.slice(equals + 1));
    else if (flag.kind.bare !== undefined) this.set(flag, flag.kind.bare);
    else {
      const next = rest.shift();
      if (next === undefined) throw new CommandLineMistake(`flag needs an argument: --${written}`);
      this.set(flag, next);
    }
  }

  /** Shorthands may be combined, `-hv4`; the first that needs a value consumes what follows it. */
  private readShort(arg: string, rest: string[]): void {
    for (let characters = arg.slice(1); characters !== ''; characters = characters.slice(1)) {
      const letter = characters.slice(0, 1);
      const after = characters.slice(1);
      const flag = this.byLetter.get(letter);
      if (flag === undefined) throw new CommandLineMistake(`unknown shorthand flag: '${letter}' in -${characters}`);
      if (after.length > 1 && after.startsWith('=')) return this.set(flag, after.slice(1));
      if (flag.kind.bare !== undefined) {
        this.set(flag, flag.kind.bare);
        continue;
      }
      const value = after !== '' ? after : rest.shift();
      if (value === undefined) throw new CommandLineMistake(`flag needs an argument: '${letter}' in -${characters}`);
      return this.set(flag, value);
    }
  }

  private set(flag: KnownFlag, text: string): void {
    const values = this.values[flag.topic] ?? {};
    const previous = this.given.has(flag.name) ? values[flag.field] : undefined;
    try {
      values[flag.field] = flag.kind.read(text, previous);
    } catch (error) {
      if (!isValueMistake(error)) throw error;
      const shown = flag.spec.short === undefined ? `--${flag.name}` : `-${flag.spec.short}, --${flag.name}`;
      throw new CommandLineMistake(`invalid argument ${goQuote(text)} for ${goQuote(shown)} flag: ${error.message}`);
    }
    if (!this.given.has(flag.name) && flag.spec.deprecated !== undefined) {
      this.notices.push(`Flag --${flag.name} has been deprecated, ${flag.spec.deprecated}`);
    }
    this.given.add(flag.name);
  }
}
