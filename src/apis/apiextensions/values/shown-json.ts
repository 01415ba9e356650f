import { goJson } from '../../../lib/go/json.js';
import { isPlainObject } from '../../../lib/values/plain-object.js';
import { Verbatim } from '../../../machinery/field-error.js';

/** A value of any shape inside an error: members sorted, and escaped as kube-apiserver's printer does. */
export function shownJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return new Verbatim(goJson(sorted(value)));
}

export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isPlainObject(value)) return value;
  const members = Object.keys(value).sort();
  return Object.fromEntries(members.map((member) => [member, sorted(value[member])]));
}
