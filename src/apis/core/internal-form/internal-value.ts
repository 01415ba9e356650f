import { goJson } from '../../../lib/go/json.js';
import { Verbatim } from '../../../machinery/field-error.js';
import type { LabelSelector } from '../../../schema/generated/meta.v1.js';
import { wasExplicitEmpty } from '../../../machinery/explicit-empty.js';
import type { ObjectMeta } from '../../../machinery/object.js';
import { type Bag, bagOf, explicitEmpty, type Member, membersOf, metaForm, sortedByKey } from './members.js';

/** The value of an error, as kube-apiserver shows the named struct. `struct` names a line of INTERNAL_STRUCTS. */
export const internalValue = (struct: string, value: unknown): Verbatim =>
  new Verbatim(goJson(internalForm(struct, value)));

/** The value of an error that is a list of the named struct. */
export const internalList = (struct: string, values: readonly unknown[] | undefined | null): Verbatim =>
  new Verbatim(goJson(values == null ? null : values.map((value) => internalForm(struct, value))));

/** A label selector is shown by its JSON names, in their order; labels are sorted by key. */
export const selectorValue = (selector: Readonly<LabelSelector> | null | undefined): unknown =>
  metaForm('LabelSelector', selector ?? null);

export function labelsValue(metadata: Readonly<Pick<ObjectMeta, 'labels'>>): unknown {
  if (metadata.labels !== undefined) return sortedByKey(metadata.labels);
  return wasExplicitEmpty(metadata, 'labels') ? {} : null;
}

function internalForm(struct: string, value: unknown): unknown {
  if (value === undefined || value === null) return null;
  const bag = bagOf(struct, value);
  const form: Record<string, unknown> = {};
  for (const member of membersOf(struct)) {
    if (member.holds === '@') Object.assign(form, metaForm('ObjectMeta', bag['metadata']));
    else form[member.name] = memberForm(member, bag[member.json] ?? explicitEmpty(bag, member));
  }
  return form;
}

function memberForm({ holds, struct }: Member, value: unknown): unknown {
  switch (holds) {
    case '#':
      return value ?? 0;
    case '!':
      return value ?? false;
    case '~':
      return value ?? '0';
    case ':':
      return internalForm(struct, value ?? {});
    case '?':
      return struct === '' ? (value ?? null) : internalForm(struct, value);
    case '^':
      return metaForm(struct, value ?? null);
    case '[]':
      if (value === undefined || value === null) return null;
      return struct === '' ? value : (value as readonly unknown[]).map((item) => internalForm(struct, item));
    case '{}':
      return value === undefined || value === null ? null : sortedByKey(value as Bag);
    default:
      return value ?? '';
  }
}
