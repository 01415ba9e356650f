// Tables of a dump: rows of values in columns, as lines of padded cells; and how rows of several processes become one.

export interface DumpColumn {
  readonly title: string;
  /** How values of several processes become one; rows that are equal in all columns without it are the same. */
  readonly across?: 'sum' | 'max' | 'every' | 'some';
  readonly text?: (value: number) => string;
}

export type DumpValue = string | number | boolean;
export type DumpRow = readonly DumpValue[];

/** In the order in which they come. */
export function mergeRows(columns: readonly DumpColumn[], rows: readonly DumpRow[]): DumpRow[] {
  const merged = new Map<string, DumpRow>();
  for (const row of rows) {
    const key = JSON.stringify(row.filter((_, i) => columns[i]?.across === undefined));
    const known = merged.get(key);
    merged.set(key, known === undefined ? row : row.map((value, i) => merge(columns[i], known[i] ?? value, value)));
  }
  return [...merged.values()];
}

function merge(column: DumpColumn | undefined, one: DumpValue, other: DumpValue): DumpValue {
  switch (column?.across) {
    case 'sum':
      return Number(one) + Number(other);
    case 'max':
      return Math.max(Number(one), Number(other));
    case 'every':
      return one === true && other === true;
    case 'some':
      return one === true || other === true;
    default:
      return one;
  }
}

const MIN_WIDTH = 8;

/** Every cell but a line's last ends with a comma and is padded to the widest of its column. */
export function tableText(columns: readonly DumpColumn[], rows: readonly DumpRow[]): string {
  const cells = [
    columns.map(({ title }) => title),
    ...rows.map((row) => columns.map(({ text = String }, i) => text(row[i] as number))),
  ];
  const widths: number[] = [];
  for (const row of cells) {
    row.slice(0, -1).forEach((cell, i) => (widths[i] = Math.max(widths[i] ?? MIN_WIDTH, cell.length + 2)));
  }
  const line = (row: readonly string[]): string =>
    row.map((cell, i) => (i === row.length - 1 ? cell : `${cell},`.padEnd(widths[i] ?? 0))).join('');
  return cells.map((row) => `${line(row)}\n`).join('');
}
