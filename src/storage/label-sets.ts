// Label sets as objects share them: those of one deployment all have the same, so that a set costs an object one word.
export type Labels = Readonly<Record<string, string>>;

const NONE: Labels = Object.freeze({});
/** So many sets are known again; where every object has its own, none is shared anyway. */
const MAX_KNOWN = 4096;

export class LabelSets {
  readonly #known = new Map<string, Labels>();

  /** `text`: the JSON of `metadata.labels`. */
  of(text: string | undefined): Labels {
    if (text === undefined || text === '{}') return NONE;
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const labels = Object.freeze(JSON.parse(text) as Record<string, string>);
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.set(text, labels);
    return labels;
  }
}
