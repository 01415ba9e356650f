// The columns that a CRD adds beside an object's name.
import { canonicalTime, TimeError } from '../machinery/time.js';
import type { KubeObject } from '../machinery/object.js';
import { NAME_COLUMN, sinceCell } from '../registry/columns.js';
import type { Cell, Column, TableDefinition } from '../registry/kind.js';
import type { CustomResourceColumnDefinition } from '../schema/generated/apiextensions.v1.js';
import { encodeTree } from '../schema/json/encode.js';
import { type JsonPath, MAX_LOOKED_AT, parseJsonPath, type PathBudget } from './json-path.js';

const AGE: CustomResourceColumnDefinition = {
  name: 'Age',
  type: 'date',
  description: 'When the server created the object.',
  jsonPath: '.metadata.creationTimestamp',
};

/** Every row has as many cells: what is beyond these is not shown. */
const MAX_COLUMNS = 1_000;
const MAX_PATH_CHARACTERS = 64 * 1024;

/** When the cells before have more characters, the rest of a row is empty: each could show the whole object. */
const MAX_ROW_CHARACTERS = 1024 * 1024;

/** Of the cells of a row together. */
interface RowBudget extends PathBudget {
  characters: number;
}

/** Without columns of its own a kind shows its age. Columns stop at the first whose path cannot be read. */
export function columnsOf(stated: readonly CustomResourceColumnDefinition[] | null | undefined): TableDefinition {
  const columns: Column[] = [NAME_COLUMN];
  const cells: ((object: Readonly<KubeObject>, now: Date, budget: RowBudget) => Cell)[] = [];
  let characters = 0;
  for (const definition of stated?.length ? stated : [AGE]) {
    const { name, format, description, jsonPath, priority = 0 } = definition;
    characters += jsonPath.length;
    if (cells.length >= MAX_COLUMNS || characters > MAX_PATH_CHARACTERS) break;
    const path = parseJsonPath(jsonPath);
    if (path === undefined) break;
    const type = definition.type as Column['type'];
    columns.push({
      name,
      type,
      ...(format && { format }),
      description: description || `Custom resource definition column (in JSONPath format): ${jsonPath}`,
      ...(priority !== 0 && { priority }),
    });
    cells.push((object, now, budget) => cellOf(type, path(object, budget), now, budget));
  }
  return {
    columns,
    row(object, now) {
      const budget = { left: MAX_LOOKED_AT, characters: MAX_ROW_CHARACTERS };
      return [object.metadata.name ?? '', ...cells.map((cell) => cell(object, now, budget))];
    },
  };
}

function cellOf(type: Column['type'], [value]: ReturnType<JsonPath>, now: Date, budget: RowBudget): Cell {
  if (value === undefined || budget.characters < 0) return null;
  switch (type) {
    case 'string': {
      const text = textOf(value);
      budget.characters -= text.length;
      return text;
    }
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : typeof value === 'bigint' ? Number(value) : null;
    case 'number':
      return typeof value === 'number' ? value : typeof value === 'bigint' ? Number(value) : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return typeof value === 'string' ? dateCell(value, now) : null;
    default:
      return null;
  }
}

function dateCell(text: string, now: Date): string {
  try {
    return sinceCell(text === '' ? undefined : canonicalTime(text), now);
  } catch (error) {
    if (error instanceof TimeError) return '<invalid>';
    throw error;
  }
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === null ? '<no value>' : encodeTree(value);
}
