// Selectable fields that are strings, read from an object's JSON without parsing the rest. Most objects of a kind have the same
// few values, so that they share them: they cost an object one word.
import { BoundedMap } from '../lib/values/bounded-map.js';
import { memberAt, stringAt } from './scan-json.js';

export type Fields = Readonly<Record<string, string>>;

/** So many sets of values are known again; where every object has its own, none is shared anyway. */
const MAX_KNOWN = 4096;

/** Fields that stand in one object: `spec` has `spec.restartPolicy` and `spec.schedulerName`. */
interface Neighbours {
  readonly parent: readonly string[];
  readonly fields: { readonly field: string; readonly name: string }[];
}

export class TextFields {
  readonly #names: ReadonlySet<string>;
  readonly #neighbours: Neighbours[] = [];
  readonly #known = new BoundedMap<string, Fields>(MAX_KNOWN);

  constructor(names: readonly string[]) {
    this.#names = new Set(names);
    for (const field of names) {
      const parent = field.split('.');
      const name = parent.pop() ?? '';
      const beside = this.#neighbours.find((other) => other.parent.join('.') === parent.join('.'));
      if (beside === undefined) this.#neighbours.push({ parent, fields: [{ field, name }] });
      else beside.fields.push({ field, name });
    }
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  of(json: Buffer): Fields {
    const fields: Record<string, string> = {};
    for (const { parent, fields: inside } of this.#neighbours) {
      const at = memberAt(json, parent);
      for (const { field, name } of inside) fields[field] = at < 0 ? '' : stringAt(json, [name], at);
    }
    const text = JSON.stringify(fields);
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    this.#known.set(text, fields);
    return fields;
  }
}
