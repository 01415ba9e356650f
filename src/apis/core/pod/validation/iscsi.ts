import { append } from '../../../../lib/values/append.js';
import { type FieldErrors, type FieldPath, invalid, required } from '../../../../machinery/field-error.js';
import { rangeMessage } from '../../../../machinery/validation/names.js';
import type { ISCSIVolumeSource } from '../../../../schema/generated/core.v1.js';

const FORMATS: ReadonlyMap<string, (name: string) => boolean> = new Map([
  ['iqn', isQualifiedName],
  ['eui', (name) => /^eui.[a-zA-Z0-9]{16}$/.test(name)],
  ['naa', (name) => /^naa.[a-zA-Z0-9]{32}$/.test(name)],
]);
const STARTS = 'must be valid format starting with iqn, eui, or naa';
const MALFORMED = 'must be valid format';

export function validateIscsi(iscsi: Readonly<ISCSIVolumeSource>, path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  if (iscsi.targetPortal === '') errors.push(required(path.child('targetPortal')));
  if (iscsi.iqn === '') errors.push(required(path.child('iqn')));
  else append(errors, validateInitiator(iscsi.iqn, path.child('iqn'), STARTS));
  if (iscsi.lun < 0 || iscsi.lun > 255) errors.push(invalid(path.child('lun'), iscsi.lun, rangeMessage(0, 255)));
  if ((iscsi.chapAuthDiscovery || iscsi.chapAuthSession) && iscsi.secretRef === undefined) {
    errors.push(required(path.child('secretRef')));
  }
  if (iscsi.initiatorName !== undefined) {
    append(errors, validateInitiator(iscsi.initiatorName, path.child('initiatorname'), STARTS));
  }
  return errors;
}

/** A qualified name of an initiator or target. `otherwise` is said of one that begins like none of the three kinds. */
export function validateInitiator(name: string, path: FieldPath, otherwise: string): FieldErrors {
  const format = FORMATS.get(name.slice(0, 3));
  if (format === undefined) return [invalid(path, name, otherwise)];
  return format(name) ? [] : [invalid(path, name, MALFORMED)];
}

/** Somewhere `iqn.2001-04.`, a host, a colon, and from there to the end nothing that separates names elsewhere. */
function isQualifiedName(name: string): boolean {
  const tail = name.split(/[,;*&$|\s]/).at(-1) ?? '';
  const parts = tail.split(':');
  const colons = parts.length - 1;
  const withTextAfter = parts.at(-1) === '' ? colons - 1 : colons;
  return parts
    .slice(0, withTextAfter)
    .some((part) => /iqn\.\d{4}-\d{2}\../.test(part.split(/[^a-zA-Z0-9\-.]/).at(-1) ?? ''));
}
