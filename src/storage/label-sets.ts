// Label sets as objects share them: those of one deployment all have the same, so that a set costs an object one word.
import { boundedMemo } from '../lib/values/bounded-memo.js';

export type Labels = Readonly<Record<string, string>>;

const NONE: Labels = Object.freeze({});
/** So many sets are known again; where every object has its own, none is shared anyway. */
const MAX_KNOWN = 4096;

export class LabelSets {
  readonly #known = boundedMemo(MAX_KNOWN, (text: string): Labels =>
    Object.freeze(JSON.parse(text) as Record<string, string>),
  );

  /** `text`: the JSON of `metadata.labels`. */
  of(text: string | undefined): Labels {
    if (text === undefined || text === '{}') return NONE;
    return this.#known(text);
  }
}
