// How much work one object may cause the compiler. Each expression has its own bounds; an object may have any number, and
// nothing else runs while they are compiled. kube-apiserver has no such limits.
import { type FieldErrors, type FieldPath, forbidden } from '../machinery/field-error.js';

/** About a tenth of a second. */
const MAX_EXPRESSIONS = 5_000;
/** About half a second. */
const MAX_CHARACTERS = 512 * 1024;

/** So many errors are reported. Explaining an error costs a hundred times as much as compiling a valid expression. */
export const MAX_FAULTS = 50;

export function validateExpressionAmount(texts: Iterable<string>, path: FieldPath): FieldErrors {
  let count = 0;
  let characters = 0;
  for (const text of texts) {
    if (text === '') continue;
    count += 1;
    characters += text.length;
  }
  if (count > MAX_EXPRESSIONS) {
    return [
      forbidden(path, `has ${count} expressions together, more than the ${MAX_EXPRESSIONS} this server compiles`),
    ];
  }
  if (characters > MAX_CHARACTERS) {
    const why = `has expressions of ${characters} characters together, more than the ${MAX_CHARACTERS} this server compiles`;
    return [forbidden(path, why)];
  }
  return [];
}
