// The conditions that show how far the deletion of a namespace has come.
import type { NamespaceStatus } from '../../schema/generated/core.v1.js';

export interface Emptying {
  /** What went wrong, a line each. */
  readonly failures: readonly string[];
  /** Resources that still have objects. Absent when not all resources were looked at. */
  readonly remaining?: ReadonlyMap<string, number>;
  /** Finalizers that hold objects back, and how many each. */
  readonly finalizers?: ReadonlyMap<string, number>;
}

/** In the order they are kept in, with what each says when all is well. */
const CONDITIONS = [
  {
    type: 'NamespaceDeletionDiscoveryFailure',
    reason: 'ResourcesDiscovered',
    message: 'All resources successfully discovered',
  },
  {
    type: 'NamespaceDeletionGroupVersionParsingFailure',
    reason: 'ParsedGroupVersions',
    message: 'All legacy kube types successfully parsed',
  },
  {
    type: 'NamespaceDeletionContentFailure',
    reason: 'ContentDeleted',
    message: 'All content successfully deleted, may be waiting on finalization',
  },
  { type: 'NamespaceContentRemaining', reason: 'ContentRemoved', message: 'All content successfully removed' },
  {
    type: 'NamespaceFinalizersRemaining',
    reason: 'ContentHasNoFinalizers',
    message: 'All content-preserving finalizers finished',
  },
] as const;

type Trouble = Partial<Record<(typeof CONDITIONS)[number]['type'], { reason: string; message: string }>>;

/** Writes the conditions into `status`. */
export function setConditions(status: NamespaceStatus, emptying: Emptying, time: string): void {
  const trouble = troubleOf(emptying);
  const conditions = (status.conditions ??= []);
  for (const { type, ...fine } of CONDITIONS) {
    const wrong = trouble[type];
    const wanted = { type, status: wrong === undefined ? 'False' : 'True', ...(wrong ?? fine) };
    const known = conditions.find((condition) => condition.type === type);
    if (known === undefined) conditions.push({ ...wanted, lastTransitionTime: time });
    else Object.assign(known, wanted, known.status !== wanted.status && { lastTransitionTime: time });
  }
}

function troubleOf({ failures, remaining, finalizers }: Emptying): Trouble {
  return {
    ...(failures.length > 0 && {
      NamespaceDeletionContentFailure: {
        reason: 'ContentDeletionFailed',
        message: `Failed to delete all resource types, ${failures.length} remaining: ${failures.toSorted().join(', ')}`,
      },
    }),
    ...(remaining !== undefined &&
      remaining.size > 0 && {
        NamespaceContentRemaining: {
          reason: 'SomeResourcesRemain',
          message: `Some resources are remaining: ${counts(remaining, 'has %d resource instances')}`,
        },
      }),
    ...(finalizers !== undefined &&
      finalizers.size > 0 && {
        NamespaceFinalizersRemaining: {
          reason: 'SomeFinalizersRemain',
          message: `Some content in the namespace has finalizers remaining: ${counts(finalizers, 'in %d resource instances')}`,
        },
      }),
  };
}

const counts = (numbers: ReadonlyMap<string, number>, words: string): string =>
  [...numbers]
    .map(([name, count]) => `${name} ${words.replace('%d', String(count))}`)
    .toSorted()
    .join(', ');
