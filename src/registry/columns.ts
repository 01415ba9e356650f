// The columns and cells many kinds share.
import { humanDuration } from '../lib/text/human-duration.js';
import type { KubeObject } from '../machinery/object.js';
import type { Cell, Column } from './kind.js';

export const NAME_COLUMN: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'The name of the object, unique among its kind in a namespace.',
};

export const AGE_COLUMN: Column = {
  name: 'Age',
  type: 'string',
  description: 'The time since the server created the object.',
};

/** The second of the two columns of kinds that have none of their own. */
export const CREATED_AT_COLUMN: Column = {
  name: 'Created At',
  type: 'date',
  description: 'When the server created the object.',
};

/** The first of a list, and how many more there are; `<unset>` for none. */
export function firstFewCell(list: readonly string[], shown = 3): string {
  if (list.length === 0) return '<unset>';
  const head = list.slice(0, shown).join(',');
  return list.length > shown ? `${head} + ${list.length - shown} more...` : head;
}

/** The columns of kinds that show nothing of their own, with `createdRow`. */
export const CREATED_COLUMNS: readonly Column[] = [NAME_COLUMN, CREATED_AT_COLUMN];

export const createdRow = ({ metadata }: Readonly<KubeObject>): readonly Cell[] => [
  metadata.name ?? '',
  metadata.creationTimestamp ?? null,
];

/** A text column; `priority` 1 shows it in wide output only. */
export const column = (name: string, description: string, priority = 0): Column => ({
  name,
  type: 'string',
  description,
  ...(priority === 0 ? {} : { priority }),
});

export const wideColumn = (name: string, description: string): Column => column(name, description, 1);

/** The cell under AGE_COLUMN. */
export const ageCell = (object: Readonly<KubeObject>, now: Date): string =>
  sinceCell(object.metadata.creationTimestamp, now);

/** The time since a timestamp, or `<unknown>` when it is not set. */
export function sinceCell(timestamp: string | null | undefined, now: Date): string {
  if (!timestamp) return '<unknown>';
  return humanDuration(now.getTime() - Date.parse(timestamp));
}

/** `a=1,b=2`, or `<none>`. */
export function labelsCell(labels: Readonly<Record<string, string>> | null | undefined): string {
  const keys = Object.keys(labels ?? {}).sort();
  return keys.length === 0 ? '<none>' : keys.map((key) => `${key}=${labels?.[key] ?? ''}`).join(',');
}
