// Comma-separated records as RFC 4180 has them, read strictly: a stray quote is an error that names its place.

export interface CsvRecord {
  /** Where the record begins, from 1. */
  readonly line: number;
  readonly fields: readonly string[];
}

export class CsvError extends Error {}

/** Empty lines are passed over. Records may differ in length. */
export function parseCsv(text: string): CsvRecord[] {
  const source = text.replaceAll('\r\n', '\n');
  const records: CsvRecord[] = [];
  let position = 0;
  let line = 1;
  let lineStart = 0;

  while (position < source.length) {
    if (source[position] === '\n') {
      nextLine();
      continue;
    }
    const startLine = line;
    const fields: string[] = [];
    for (;;) {
      fields.push(source[position] === '"' ? quoted(startLine) : bare(startLine));
      if (source[position] !== ',') break;
      position++;
    }
    if (position < source.length) nextLine();
    records.push({ line: startLine, fields });
  }
  return records;

  function nextLine(): void {
    position++;
    line++;
    lineStart = position;
  }

  function fail(startLine: number, at: number, why: string): never {
    const column = Buffer.byteLength(source.slice(lineStart, at)) + 1;
    const where = `parse error on line ${line}, column ${column}: ${why}`;
    throw new CsvError(startLine === line ? where : `record on line ${startLine}; ${where}`);
  }

  function bare(startLine: number): string {
    const start = position;
    while (position < source.length && source[position] !== ',' && source[position] !== '\n') {
      if (source[position] === '"') fail(startLine, position, 'bare " in non-quoted-field');
      position++;
    }
    return source.slice(start, position);
  }

  function quoted(startLine: number): string {
    let value = '';
    position++;
    for (;;) {
      const char = source[position];
      if (char === undefined) fail(startLine, position, 'extraneous or missing " in quoted-field');
      if (char !== '"') {
        value += char;
        // After the last line there is no other: a quote that never ends is reported for its own line.
        if (char === '\n' && position + 1 < source.length) nextLine();
        else position++;
        continue;
      }
      const next = source[position + 1];
      if (next === '"') {
        value += '"';
        position += 2;
        continue;
      }
      if (next === undefined || next === ',' || next === '\n') {
        position++;
        return value;
      }
      fail(startLine, position, 'extraneous or missing " in quoted-field');
    }
  }
}
