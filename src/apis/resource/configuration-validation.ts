import { jsonText } from '../../lib/json/stringify.js';
import { isPlainObject } from '../../lib/values/plain-object.js';
import { type FieldErrors, type FieldPath, invalid, required, tooLong } from '../../machinery/field-error.js';
import type { DeviceConfiguration } from '../../schema/generated/resource.v1.js';
import { validateDriverName } from './name-rules.js';

const MAX_PARAMETERS_BYTES = 10 * 1024;

/** Parameters only their driver understands. Those already stored may be longer than is allowed today. */
export function validateConfiguration(
  { opaque }: Readonly<DeviceConfiguration>,
  path: FieldPath,
  stored: boolean,
): FieldErrors {
  const at = path.child('opaque');
  if (opaque === undefined) return [required(at)];
  return [
    ...validateDriverName(opaque.driver, at.child('driver')),
    ...validateJsonObject(
      opaque.parameters,
      at.child('parameters'),
      stored ? Number.POSITIVE_INFINITY : MAX_PARAMETERS_BYTES,
    ),
  ];
}

export function validateJsonObject(value: unknown, path: FieldPath, maxBytes: number): FieldErrors {
  if (value === null || value === undefined) return [required(path)];
  if (Buffer.byteLength(jsonText(value)) > maxBytes) return [tooLong(path, maxBytes)];
  return isPlainObject(value) ? [] : [invalid(path, '<value omitted>', 'must be a valid JSON object')];
}
