// How much one object may give the compiler to do. Each expression has its own bounds; an object may have any number, and
// nothing else runs while they are compiled. The reference has no such limits.
import { type FieldErrors, type FieldPath, forbidden } from '../machinery/field-error.js';

/** About a tenth of a second. */
const MOST_EXPRESSIONS = 5_000;
/** About half a second. */
const MOST_LETTERS = 512 * 1024;

/** So many that are wrong are told. Telling what is wrong takes a hundred times as long as compiling what is right. */
export const MOST_FAULTS = 50;

export function validateExpressionAmount(texts: Iterable<string>, path: FieldPath): FieldErrors {
  let count = 0;
  let letters = 0;
  for (const text of texts) {
    if (text === '') continue;
    count += 1;
    letters += text.length;
  }
  if (count > MOST_EXPRESSIONS) {
    return [
      forbidden(path, `has ${count} expressions together, more than the ${MOST_EXPRESSIONS} this server compiles`),
    ];
  }
  if (letters > MOST_LETTERS) {
    const why = `has expressions of ${letters} characters together, more than the ${MOST_LETTERS} this server compiles`;
    return [forbidden(path, why)];
  }
  return [];
}
