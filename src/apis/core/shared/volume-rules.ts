// What volumes and claims have in common.
import { type FieldErrors, type FieldPath, forbidden, notSupported } from '../../../machinery/field-error.js';

export const VOLUME_MODES = ['Block', 'Filesystem'];
const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
const ONE_POD = 'ReadWriteOncePod';

export function validateAccessModes(modes: readonly string[] | undefined, path: FieldPath): FieldErrors {
  const list = modes ?? [];
  const errors = list
    .filter((mode) => !ACCESS_MODES.includes(mode))
    .map((mode) => notSupported(path, mode, ACCESS_MODES));
  const others = list.some((mode) => mode !== ONE_POD && ACCESS_MODES.includes(mode));
  if (list.includes(ONE_POD) && others) {
    errors.push(forbidden(path, 'may not use ReadWriteOncePod with other access modes'));
  }
  return errors;
}

const SHORT: readonly (readonly [string, string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  [ONE_POD, 'RWOP'],
];

/** `RWO,ROX`, in a fixed order. */
export const accessModesCell = (modes: readonly string[] | undefined): string =>
  SHORT.filter(([mode]) => (modes ?? []).includes(mode))
    .map(([, short]) => short)
    .join(',');

export const BETA_STORAGE_CLASS = 'volume.beta.kubernetes.io/storage-class';
