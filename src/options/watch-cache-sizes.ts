import { parseInteger, SyntaxMistake } from '../lib/go/strconv.js';

/** What is wrong with `resource[.group]#size` entries. */
export function watchCacheSizesError(entries: readonly string[]): string | undefined {
  for (const entry of entries) {
    const [, size, ...more] = entry.split('#');
    if (size === undefined || more.length > 0) return `invalid value of watch cache size: ${entry}`;
    const objects = sizeOf(size);
    if (objects === undefined) return `invalid size of watch cache size: ${entry}`;
    if (objects < 0) return `watch cache size cannot be negative: ${entry}`;
  }
  return undefined;
}

function sizeOf(text: string): number | undefined {
  try {
    return parseInteger(text, { as: 'Atoi', bits: 64, signed: true, base: 10 });
  } catch (error) {
    if (error instanceof SyntaxMistake) return undefined;
    throw error;
  }
}
