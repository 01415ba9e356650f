import type { KubeObject } from '../machinery/object.js';
import type { DeleteOptions } from './kind.js';
import type { ResourceRegistry } from './registry.js';

export const ORPHAN_FINALIZER = 'orphan';
export const FOREGROUND_FINALIZER = 'foregroundDeletion';

/**
 * The finalizers that tell the garbage collector what to do with an object's dependents, as the delete options, the
 * finalizers already there and the kind's default say, in this order. Undefined when they are as they should be.
 */
export function deletionFinalizers(
  registry: ResourceRegistry,
  object: Readonly<KubeObject>,
  options: DeleteOptions,
): string[] | undefined {
  if (!registry.garbageCollection) return undefined;
  const before = object.metadata.finalizers ?? [];
  const policy = policyOf(registry, before, options);
  const after = before.filter((name) => name !== ORPHAN_FINALIZER && name !== FOREGROUND_FINALIZER);
  if (policy === 'Orphan') after.push(ORPHAN_FINALIZER);
  if (policy === 'Foreground') after.push(FOREGROUND_FINALIZER);
  const same = before.length === after.length && after.every((name) => before.includes(name));
  return same ? undefined : after;
}

type Policy = 'Orphan' | 'Foreground' | 'Background';

function policyOf(registry: ResourceRegistry, finalizers: readonly string[], options: DeleteOptions): Policy {
  const byDefault = registry.kind.strategy.delete?.defaultGarbageCollection ?? 'background';
  if (byDefault === 'unsupported') return 'Background';
  if (options.orphanDependents !== undefined) return options.orphanDependents ? 'Orphan' : 'Background';
  switch (options.propagationPolicy) {
    case 'Orphan':
    case 'Foreground':
    case 'Background':
      return options.propagationPolicy;
  }
  for (const name of finalizers) {
    if (name === ORPHAN_FINALIZER) return 'Orphan';
    if (name === FOREGROUND_FINALIZER) return 'Foreground';
  }
  return byDefault === 'orphan' ? 'Orphan' : 'Background';
}
