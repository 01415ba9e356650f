// How much an expression may make of little. What some functions cost does not count what they make, and lists are added
// for nothing; whoever reads so much has spent what a call may cost.
import { Cancelled, COST_EXCEEDED } from './frame.js';

/** Of a text, with a tenth of the cost for each. */
const MOST_LETTERS = 10_000_000;
/** Of a list. */
const MOST_ELEMENTS = 1_000_000;

/** Stops the evaluation before a text of that length is made. */
export function checkLetters(letters: number): void {
  if (letters > MOST_LETTERS) throw new Cancelled(COST_EXCEEDED);
}

export function checkElements(elements: number): void {
  if (elements > MOST_ELEMENTS) throw new Cancelled(COST_EXCEEDED);
}

/** Texts with something between them. They may come of a list whose elements are one list, and so on. */
export function joinTexts(texts: Iterable<string>, separator: string): string {
  const all: string[] = [];
  let letters = 0;
  for (const text of texts) {
    letters += text.length + separator.length;
    checkLetters(letters);
    all.push(text);
  }
  return all.join(separator);
}
