// Which of the names that a CRD requests are accepted: those that no other CRD of its group has.
import { isDeepStrictEqual } from 'node:util';
import { goQuote } from '../lib/go/quote.js';
import { aggregateText } from '../machinery/field-error.js';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionCondition,
  CustomResourceDefinitionNames,
} from '../schema/generated/apiextensions.v1.js';

export type Condition = Omit<CustomResourceDefinitionCondition, 'lastTransitionTime'>;

export interface NamesDecision {
  readonly acceptedNames: CustomResourceDefinitionNames;
  readonly namesAccepted: Condition;
  readonly established: Condition;
}

type Crd = Readonly<CustomResourceDefinition>;

/** `others` are all CRDs, with or without the one to decide on. */
export function decideNames({ spec, status }: Crd, others: Iterable<Crd>): NamesDecision {
  const reserved = reservedNames(spec.group, others);
  const wanted = spec.names;
  const before = status.acceptedNames;
  const acceptedNames: CustomResourceDefinitionNames = { ...before };
  let conflict: { reason: string; message: string } | undefined;
  const check = (member: 'plural' | 'singular' | 'kind' | 'listKind', used: ReadonlySet<string>): void => {
    const name = wanted[member] ?? '';
    if (name === (before[member] ?? '') || !used.has(name)) acceptedNames[member] = name;
    else conflict = { reason: CONFLICTS[member], message: inUse(name) };
  };
  check('plural', reserved.resources);
  check('singular', reserved.resources);
  if (!isDeepStrictEqual(wanted.shortNames ?? [], before.shortNames ?? [])) {
    const own = new Set(before.shortNames);
    const used = (wanted.shortNames ?? []).filter((name) => !own.has(name) && reserved.resources.has(name));
    if (used.length > 0) conflict = { reason: 'ShortNamesConflict', message: aggregateText(used.map(inUse)) };
    else setOrDelete(acceptedNames, 'shortNames', wanted.shortNames);
  }
  check('kind', reserved.kinds);
  check('listKind', reserved.kinds);
  setOrDelete(acceptedNames, 'categories', wanted.categories);
  const namesAccepted: Condition =
    conflict === undefined
      ? { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
      : { type: 'NamesAccepted', status: 'False', ...conflict };
  return { acceptedNames, namesAccepted, established: establishedAfter(status.conditions, namesAccepted) };
}

const CONFLICTS = {
  plural: 'PluralConflict',
  singular: 'SingularConflict',
  kind: 'KindConflict',
  listKind: 'ListKindConflict',
} as const;

const inUse = (name: string): string => `${goQuote(name)} is already in use`;

function setOrDelete(
  names: CustomResourceDefinitionNames,
  member: 'shortNames' | 'categories',
  value: string[] | undefined,
): void {
  if (value === undefined) delete names[member];
  else names[member] = value;
}

function reservedNames(group: string, crds: Iterable<Crd>): { resources: Set<string>; kinds: Set<string> } {
  const resources = new Set<string>();
  const kinds = new Set<string>();
  for (const { spec, status } of crds) {
    if (spec.group !== group) continue;
    const { plural, singular = '', shortNames = [], kind, listKind = '' } = status.acceptedNames;
    for (const name of [plural, singular, ...shortNames]) resources.add(name);
    kinds.add(kind).add(listKind);
  }
  return { resources, kinds };
}

/** What was established stays so. What is not becomes so once it is served. */
function establishedAfter(
  conditions: readonly CustomResourceDefinitionCondition[] | null,
  namesAccepted: Condition,
): Condition {
  const old = conditions?.find(({ type }) => type === 'Established');
  if (old?.status === 'True') return old;
  if (namesAccepted.status === 'True') {
    const message = 'the initial names have been accepted';
    return { type: 'Established', status: 'False', reason: 'Installing', message };
  }
  return old ?? { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' };
}
