// Objects that are encoded already, without their managed fields: found by a walk over the bytes, and cut out.
import type { AnsweredForm } from '../lib/http/http.js';
import type { StepGenerator } from '../lib/scheduling/yield.js';

/** Where objects carry their managed fields; `*` stands for each element of a list. */
const PATHS: Readonly<Record<AnsweredForm, readonly (readonly string[])[]>> = {
  object: [['metadata', 'managedFields']],
  list: [['items', '*', 'metadata', 'managedFields']],
  table: [['rows', '*', 'object', 'metadata', 'managedFields']],
  status: [],
};

/** `json` is well formed. */
export function* withoutManagedFields(json: Buffer, form: AnsweredForm): StepGenerator<Buffer> {
  const walk = new Walk(json);
  for (const path of PATHS[form]) yield* walk.cut(path);
  return walk.rest();
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COLON = 0x3a;
const SPACE = 0x20;

/** So many bytes are walked over in one step. */
const STEP_BYTES = 128 * 1024;

class Walk {
  private stepEnd = STEP_BYTES;
  private readonly cuts: { readonly start: number; readonly end: number }[] = [];

  constructor(private readonly json: Buffer) {}

  *cut(path: readonly string[]): StepGenerator<void> {
    yield* this.into(this.blank(0), path, 0);
  }

  rest(): Buffer {
    if (this.cuts.length === 0) return this.json;
    const kept: Buffer[] = [];
    let at = 0;
    for (const { start, end } of this.cuts) {
      kept.push(this.json.subarray(at, start));
      at = end;
    }
    kept.push(this.json.subarray(at));
    return Buffer.concat(kept);
  }

  /** Follows a path into the value at `at`, and answers where that value ends. */
  private *into(at: number, path: readonly string[], step: number): StepGenerator<number> {
    const opening = this.json[at];
    if (opening === OPEN_BRACKET && path[step] === '*') {
      let next = this.blank(at + 1);
      while (this.json[next] !== CLOSE_BRACKET && next < this.json.length) {
        next = this.blank(yield* this.into(next, path, step + 1));
        if (this.json[next] === COMMA) next = this.blank(next + 1);
      }
      return next + 1;
    }
    return yield* opening === OPEN_BRACE ? this.members(at, path, step) : this.over(at);
  }

  private *members(at: number, path: readonly string[], step: number): StepGenerator<number> {
    const wanted = path[step] ?? '';
    let before = at + 1;
    let next = this.blank(before);
    while (this.json[next] !== CLOSE_BRACE && next < this.json.length) {
      const nameEnd = this.overString(next);
      const found =
        nameEnd - next === wanted.length + 2 && this.json.toString('latin1', next + 1, nameEnd - 1) === wanted;
      let value = this.blank(nameEnd);
      if (this.json[value] === COLON) value = this.blank(value + 1);
      const last = step === path.length - 1;
      const end = yield* found && !last ? this.into(value, path, step + 1) : this.over(value);
      const after = this.blank(end);
      const more = this.json[after] === COMMA;
      // A member goes with the comma behind it; the last one with the comma before it.
      if (found && last) this.cuts.push(more ? { start: next, end: this.blank(after + 1) } : { start: before, end });
      before = end;
      next = more ? this.blank(after + 1) : after;
    }
    return next + 1;
  }

  private *over(at: number): StepGenerator<number> {
    if (this.json[at] === QUOTE) return this.overString(at);
    let next = at;
    let depth = 0;
    while (next < this.json.length) {
      const byte = this.json[next] as number;
      if (next > this.stepEnd) {
        this.stepEnd = next + STEP_BYTES;
        yield;
      }
      if (byte === QUOTE) {
        next = this.overString(next);
        continue;
      }
      if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        if (depth === 0) return next;
        if (--depth === 0) return next + 1;
      } else if (depth === 0 && byte === COMMA) return next;
      next++;
    }
    return next;
  }

  private overString(at: number): number {
    let next = at + 1;
    while (next < this.json.length) {
      const byte = this.json[next];
      if (byte === BACKSLASH) next += 2;
      else if (byte === QUOTE) return next + 1;
      else next++;
    }
    return next;
  }

  private blank(at: number): number {
    let next = at;
    while (next < this.json.length && (this.json[next] as number) <= SPACE) next++;
    return next;
  }
}
