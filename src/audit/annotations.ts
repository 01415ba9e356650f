// What was noted of a request, as it stands in its events.
import { boundedMemo } from '../lib/values/bounded-memo.js';
import { quoteJson } from '../schema/json/quote.js';

/** What authorization notes, and so nearly every event says. */
export interface Authorized {
  readonly notes: ReadonlyMap<string, string>;
  /** Encoded, for events that say nothing else. */
  readonly json: string;
}

export type Decision = 'allow' | 'forbid' | 'error';

const MAX_MEMOIZED = 1024;
const known: Readonly<Record<Decision, (reason: string) => Authorized>> = {
  allow: boundedMemo(MAX_MEMOIZED, (reason) => authorizedOf('allow', reason)),
  forbid: boundedMemo(MAX_MEMOIZED, (reason) => authorizedOf('forbid', reason)),
  error: boundedMemo(MAX_MEMOIZED, (reason) => authorizedOf('error', reason)),
};

// hot: once for each request that is recorded.
export const authorized = (decision: Decision, reason: string): Authorized => known[decision](reason);

function authorizedOf(decision: Decision, reason: string): Authorized {
  const notes = new Map<string, string>();
  if (decision !== 'error') notes.set('authorization.k8s.io/decision', decision);
  notes.set('authorization.k8s.io/reason', reason);
  return { notes, json: notesJson(notes) };
}

/** Nothing where there are none. */
export function annotationsJson(
  decided: Authorized | undefined,
  others: ReadonlyMap<string, string> | undefined,
): string {
  if (others === undefined) return decided === undefined ? '' : decided.json;
  return notesJson(decided === undefined ? others : new Map([...decided.notes, ...others]));
}

/** Annotations are encoded in the order of their keys. */
function notesJson(notes: ReadonlyMap<string, string>): string {
  const sorted = [...notes].sort(([a], [b]) => (a < b ? -1 : 1));
  return `,"annotations":{${sorted.map(([key, value]) => `${quoteJson(key)}:${quoteJson(value)}`).join(',')}}`;
}
