import type { Toleration } from '../schema/generated/core.v1.js';

/** Both lists in one, without those another one says already. */
export function mergeTolerations(first: readonly Toleration[], second: readonly Toleration[]): Toleration[] {
  const all = [...first, ...second];
  const coveredLater = coveredByLater(all);
  const merged: Toleration[] = [];
  const kept = new Coverage();
  for (const [position, toleration] of all.entries()) {
    if (coveredLater[position] === true || kept.hasSame(toleration) || kept.covers(toleration)) continue;
    merged.push(toleration);
    kept.add(toleration);
  }
  return merged;
}

/** Whether each toleration is covered by one that is allowed. No list allows everything. */
export function allowedBy(tolerations: readonly Toleration[], allowed: readonly Toleration[]): boolean {
  if (allowed.length === 0) return true;
  const coverage = new Coverage();
  for (const wide of allowed) coverage.add(wide);
  return tolerations.every((toleration) => coverage.hasSame(toleration) || coverage.covers(toleration));
}

/** Of each whether one that comes later covers it, and is another. */
function coveredByLater(all: readonly Toleration[]): boolean[] {
  const later = new Coverage();
  const covered: boolean[] = [];
  for (let position = all.length - 1; position >= 0; position--) {
    const toleration = all[position] as Toleration;
    covered[position] = later.coversAsAnother(toleration);
    later.add(toleration);
  }
  return covered;
}

/** How long the longest of those in one place tolerate, and the longest of those that are not just the same. */
interface Longest {
  readonly first: Wide;
  readonly other?: Wide;
}

interface Wide {
  readonly text: string;
  readonly seconds: number;
}

/**
 * What a list of tolerations covers, without comparing each with each. One covers another by its place (key, effect, and
 * operator with the value it compares) and by how long it tolerates:
 *
 *   key a │ effect NoExecute │ Exists    300 s, 10 s     covers key a, NoExecute, any operator, up to 300 s
 *   any   │ any              │ Exists    for ever        covers everything
 */
class Coverage {
  readonly #texts = new Set<string>();
  readonly #places = new Map<string, Longest>();

  add(toleration: Toleration): void {
    const text = textOf(toleration);
    if (this.#texts.has(text)) return;
    this.#texts.add(text);
    const place = placeOf(toleration);
    if (place === undefined) return;
    const wide = { text, seconds: isTimed(toleration) ? (toleration.tolerationSeconds ?? Infinity) : Infinity };
    const longest = this.#places.get(place);
    if (longest === undefined || wide.seconds > longest.first.seconds) {
      this.#places.set(place, { first: wide, ...(longest && { other: longest.first }) });
    } else if (longest.other === undefined || wide.seconds > longest.other.seconds) {
      this.#places.set(place, { first: longest.first, other: wide });
    }
  }

  hasSame(toleration: Toleration): boolean {
    return this.#texts.has(textOf(toleration));
  }

  covers(narrow: Toleration): boolean {
    return this.#someWide(narrow, () => true);
  }

  coversAsAnother(narrow: Toleration): boolean {
    const own = textOf(narrow);
    return this.#someWide(narrow, ({ text }) => text !== own);
  }

  #someWide(narrow: Toleration, counts: (wide: Wide) => boolean): boolean {
    const seconds = narrow.tolerationSeconds ?? Infinity;
    const isWide = (wide: Wide | undefined): boolean => wide !== undefined && wide.seconds >= seconds && counts(wide);
    return placesOver(narrow).some((place) => {
      const longest = this.#places.get(place);
      return isWide(longest?.first) || isWide(longest?.other);
    });
  }
}

const isTimed = ({ effect }: Toleration): boolean => effect === 'NoExecute';

/** Where it covers others; undefined for an operator that nobody knows. */
function placeOf({ key = '', effect = '', operator = '', value = '' }: Toleration): string | undefined {
  switch (operator) {
    case '':
    case 'Equal':
      return place(key, effect, `=${value}`);
    case 'Exists':
      return place(key, effect, '');
    default:
      return undefined;
  }
}

/** Where those stand that may cover it. */
function placesOver({ key = '', effect = '', operator = '', value = '' }: Toleration): string[] {
  const effects = effect === '' ? [''] : ['', effect];
  return effects.flatMap((over) => [
    place('', over, ''),
    place(key, over, ''),
    ...(operator === 'Equal' ? [place(key, over, `=${value}`)] : []),
  ]);
}

const place = (key: string, effect: string, compared: string): string => JSON.stringify([key, effect, compared]);

/** Equal tolerations have equal texts. */
const textOf = ({ key, operator, value, effect, tolerationSeconds }: Toleration): string =>
  JSON.stringify([key ?? null, operator ?? null, value ?? null, effect ?? null, tolerationSeconds ?? null]);
