/** Headers that follow a body. Names in lower case. */
export type Trailers = Readonly<Record<string, readonly string[]>>;

const LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):(.*)$/;

/** Of the lines after the last chunk; those that are no headers are passed over. */
export function readTrailers(lines: readonly string[]): Trailers {
  const trailers = new Map<string, string[]>();
  for (const line of lines) {
    const [, name, value] = LINE.exec(line) ?? [];
    if (name === undefined || value === undefined) continue;
    const key = name.toLowerCase();
    const values = trailers.get(key);
    if (values === undefined) trailers.set(key, [value.trim()]);
    else values.push(value.trim());
  }
  return Object.fromEntries(trailers);
}
