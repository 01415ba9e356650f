// What every flag came to, as text: for those who look at a running server (/flagz).
import { formatDurationMs } from '../machinery/time.js';
import { FLAG_KINDS, type FlagKind } from './flag-kinds.js';
import { fieldName, type FlagSpec, type Topic } from './flag-table.js';
import type { Flags } from './topics.js';
import { TOPICS } from './topics.js';

/** By name, in the order of names. */
export function flagValues(flags: Flags): [name: string, value: string][] {
  const found: [string, string][] = [];
  for (const topic of TOPICS as readonly Topic[]) {
    const values = flags[topic.key as keyof Flags] as Readonly<Record<string, unknown>>;
    for (const [name, spec] of Object.entries(topic.flags)) {
      found.push([name, valueText(spec, values[fieldName(name, spec.type)])]);
    }
  }
  return found.sort(([a], [b]) => (a < b ? -1 : 1));
}

function valueText(spec: FlagSpec, value: unknown): string {
  if (spec.type === 'duration') return formatDurationMs(Number(value));
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number') return String(value);
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return `[${value.join(',')}]`;
  return (FLAG_KINDS[spec.type] as FlagKind<unknown>).show(value);
}
