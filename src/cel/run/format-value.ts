// Values as error texts show them.
import { formatGeneral } from './format-number.js';
import { joinTexts } from './size-limits.js';
import { formatDuration, formatTimestamp } from './time.js';
import { CelType } from '../type.js';
import { CelError, CelList, CelMap, Duration, Optional, Timestamp, typeOf, Uint } from '../value.js';
import type { Value } from '../value.js';

/** What Go's %v makes of a value: strings stand bare. */
export function plainText(value: Value): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return formatGeneral(value);
  if (value === null) return '0';
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Uint8Array) return `[${value.join(' ')}]`;
  if (value instanceof CelError) return value.message;
  if (value instanceof CelType) return value.name;
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatDuration(value);
  if (value instanceof Optional) {
    return value.value === undefined ? 'optional.none()' : `optional(${plainText(value.value)})`;
  }
  if (value instanceof CelList) return `[${joinTexts(items(value), ', ')}]`;
  if (value instanceof CelMap) {
    return `{${joinTexts(entries(value), ', ')}}`;
  }
  return typeOf(value).name;
}

function* items(list: CelList): Iterable<string> {
  for (const item of list) yield plainText(item);
}

function* entries(map: CelMap): Iterable<string> {
  for (const key of map.keys()) yield `${plainText(key)}: ${plainText(map.find(key) ?? null)}`;
}
