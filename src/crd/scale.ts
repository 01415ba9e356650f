// The scale subresource of a custom resource: where its CRD says the replicas stand.
import { isPlainObject, setMember } from '../lib/values/plain-object.js';
import { isGoFloat } from '../lib/go/float.js';
import { goValueText } from '../lib/go/value.js';
import { type FieldErrors, FieldPath, invalid } from '../machinery/field-error.js';
import { StatusError } from '../machinery/status.js';
import type { ScaleAccess } from '../registry/kind.js';
import type { CustomResourceSubresourceScale } from '../schema/generated/apiextensions.v1.js';

const MAX_INT32 = 2 ** 31 - 1;

export function scaleAccess(
  scale: CustomResourceSubresourceScale,
  replicasPaths: Readonly<Record<string, readonly string[]>>,
): ScaleAccess {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = scale;
  const number = (object: object, path: string): number => {
    const { value, mistake } = integerAt(object, path);
    if (mistake !== undefined) throw new StatusError(500, '', mistake);
    return value ?? 0;
  };
  return {
    specReplicas: (object) => number(object, specReplicasPath),
    statusReplicas: (object) => number(object, statusReplicasPath),
    setSpecReplicas: (object, replicas) =>
      setAt(object as unknown as Record<string, unknown>, specReplicasPath, replicas),
    selector: (object) => {
      const value = labelSelectorPath ? at(object, namesIn(labelSelectorPath)).value : undefined;
      return typeof value === 'string' ? value : '';
    },
    replicasPaths,
    missing: (object) => (at(object, namesIn(specReplicasPath)).value === undefined ? specReplicasPath : undefined),
  };
}

/** `.spec.replicas` as its names. */
export const namesIn = (path: string): string[] => path.replace(/^\./, '').split('.');

export const validateScaleSpec = (object: object, scale: CustomResourceSubresourceScale | undefined): FieldErrors =>
  scale === undefined ? [] : validateReplicas(object, scale.specReplicasPath);

export function validateScaleStatus(object: object, scale: CustomResourceSubresourceScale | undefined): FieldErrors {
  if (scale === undefined) return [];
  const errors = validateReplicas(object, scale.statusReplicasPath);
  const { labelSelectorPath } = scale;
  if (!labelSelectorPath) return errors;
  const { value, mistake } = at(object, namesIn(labelSelectorPath));
  const wrong =
    mistake ??
    (value === undefined || typeof value === 'string' ? undefined : wrongType(labelSelectorPath, value, 'string'));
  if (wrong !== undefined) errors.push(invalid(FieldPath.of(labelSelectorPath), '', wrong));
  return errors;
}

function validateReplicas(object: object, path: string): FieldErrors {
  const { value = 0, mistake } = integerAt(object, path);
  const field = FieldPath.of(path);
  if (mistake !== undefined) return [invalid(field, 0, mistake)];
  if (value < 0) return [invalid(field, value, 'should be a non-negative integer')];
  return value > MAX_INT32 ? [invalid(field, value, `should be less than or equal to ${MAX_INT32}`)] : [];
}

function integerAt(object: object, path: string): { value?: number; mistake?: string } {
  const { value, mistake } = at(object, namesIn(path));
  if (mistake !== undefined) return { mistake };
  if (value === undefined) return {};
  if (typeof value === 'bigint') return { value: Number(value) };
  if (typeof value === 'number' && !isGoFloat(value)) return { value };
  return { mistake: wrongType(path, value, 'int64') };
}

/** A value by the names on its way; a mistake where something on the way is no object. */
function at(object: object, names: readonly string[]): { value?: unknown; mistake?: string } {
  let value: unknown = object;
  for (const [i, name] of names.entries()) {
    if (value === null) return {};
    if (!isPlainObject(value)) {
      return { mistake: wrongType(names.slice(0, i + 1).join('.'), value, 'map[string]interface{}') };
    }
    if (!Object.hasOwn(value, name)) return {};
    value = value[name];
  }
  return { value };
}

const wrongType = (path: string, value: unknown, wanted: string): string =>
  `${path.startsWith('.') ? path : `.${path}`} accessor error: ${goValueText(value)} is of the type ${goType(value)}, expected ${wanted}`;

function goType(value: unknown): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'bigint') return 'int64';
  if (typeof value === 'number') return isGoFloat(value) ? 'float64' : 'int64';
  return typeof value === 'boolean' ? 'bool' : typeof value === 'string' ? 'string' : 'map[string]interface {}';
}

function setAt(object: Record<string, unknown>, path: string, value: unknown): void {
  const names = namesIn(path);
  let to = object;
  for (const name of names.slice(0, -1)) {
    if (!isPlainObject(to[name])) setMember(to, name, {});
    to = to[name] as Record<string, unknown>;
  }
  setMember(to, names.at(-1) ?? '', value);
}
