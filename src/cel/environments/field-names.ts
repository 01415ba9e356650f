// Names of properties as identifiers of the language. What an identifier cannot hold is spelled out between double
// underscores: `foo-bar` is `foo__dash__bar`, `namespace` is `__namespace__`.

/** Words the language keeps for itself. */
export const RESERVED_WORDS: ReadonlySet<string> = new Set(
  (
    'true false null in as break const continue else for function if import let loop package namespace return var ' +
    'void while'
  ).split(' '),
);

const SPELLED: ReadonlyMap<string, string> = new Map([
  ['__', '__underscores__'],
  ['.', '__dot__'],
  ['-', '__dash__'],
  ['/', '__slash__'],
]);
const MEANING: ReadonlyMap<string, string> = new Map([
  ['underscores', '__'],
  ['dot', '.'],
  ['dash', '-'],
  ['slash', '/'],
]);

/** Undefined: the property has no name in expressions. */
export function escapeFieldName(name: string): string | undefined {
  if (RESERVED_WORDS.has(name)) return `__${name}__`;
  if (!/^[a-zA-Z_./-][a-zA-Z0-9_./-]*$/.test(name)) return undefined;
  return name.replace(/__|[-./]/g, (found) => SPELLED.get(found) ?? found);
}

/** Undefined: no property has that name. */
export function unescapeFieldName(escaped: string): string | undefined {
  if (!escaped.includes('__')) return escaped;
  let known = true;
  const name = escaped.replace(/__([^_]+)__/g, (found, word: string) => {
    const meaning = MEANING.get(word);
    if (meaning !== undefined) return meaning;
    if (!RESERVED_WORDS.has(word) || found.length !== escaped.length) known = false;
    return word;
  });
  return known ? name : undefined;
}
