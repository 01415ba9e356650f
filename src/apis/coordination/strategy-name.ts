import { type FieldErrors, type FieldPath, notSupported, named } from '../../machinery/field-error.js';
import { invalidEach } from '../../machinery/validation/fields.js';
import { isQualifiedName } from '../../machinery/validation/names.js';

export const OLDEST_EMULATION_VERSION = 'OldestEmulationVersion';

/** How the holder of a lease is elected: a name of our own, or one under somebody's domain. */
export function validateStrategyName(strategy: string, path: FieldPath): FieldErrors {
  // kube-apiserver names the field twice.
  const at = path.child('strategy');
  if (strategy.includes('/')) return invalidEach(at, named(strategy), isQualifiedName(strategy));
  return strategy === OLDEST_EMULATION_VERSION ? [] : [notSupported(at, strategy, [OLDEST_EMULATION_VERSION])];
}
