// How much an expression may make of little. What some functions cost does not count what they make, and lists are added
// for nothing; whoever reads so much has spent what a call may cost.
import { Cancelled, COST_EXCEEDED } from './frame.js';

/** Of a text, with a tenth of the cost for each. */
const MAX_CHARACTERS = 10_000_000;
/** Of a list. */
const MAX_ELEMENTS = 1_000_000;

/** Stops the evaluation before a text of that length is made. */
export function checkCharacters(characters: number): void {
  if (characters > MAX_CHARACTERS) throw new Cancelled(COST_EXCEEDED);
}

export function checkElements(elements: number): void {
  if (elements > MAX_ELEMENTS) throw new Cancelled(COST_EXCEEDED);
}

/** Texts with something between them. They may come of a list whose elements are one list, and so on. */
export function joinTexts(texts: Iterable<string>, separator: string): string {
  const all: string[] = [];
  let characters = 0;
  for (const text of texts) {
    characters += text.length + separator.length;
    checkCharacters(characters);
    all.push(text);
  }
  return all.join(separator);
}
