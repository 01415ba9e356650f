// Selectors of devices: they see one device as `device`, with its driver, attributes and capacity by domain and name.
import type { Environment, ObjectTypes } from '../environment.js';
import { QUANTITY } from '../kubernetes/quantity.js';
import { bindingsLibrary } from '../libraries/comprehensions.js';
import { ANY, BOOL, type CelType, STRING, mapType } from '../type.js';
import { CelError } from '../value.js';
import type { BaseEnvironments } from './base.js';
import type { ExpressionFault } from '../expression-check.js';
import { objectDeclaration } from './object-types.js';
import { type SizedType, costsWithin } from './size-estimates.js';
import { typeName } from './type-name.js';

/** What one selector may cost on one device. */
const SELECTOR_COST_LIMIT = 1_000_000;

const MAX_ATTRIBUTE_LENGTH = 64;
const MAX_DOMAIN_LENGTH = 63;
const MAX_NAME_LENGTH = 32;
const MAX_DRIVER_LENGTH = 63;
const MAX_ENTRIES = 32;

const DEVICE = 'kubernetes.DRADevice';
const FIELDS: ReadonlyMap<string, CelType> = new Map([
  ['driver', STRING],
  ['attributes', mapType(STRING, mapType(STRING, ANY))],
  ['capacity', mapType(STRING, mapType(STRING, QUANTITY))],
]);

const byDomain = (element: SizedType): SizedType => ({
  maxElements: MAX_ENTRIES,
  keyLength: MAX_DOMAIN_LENGTH,
  element: { maxElements: MAX_ENTRIES, keyLength: MAX_NAME_LENGTH, element },
});

const ATTRIBUTE: SizedType = { maxElements: MAX_ATTRIBUTE_LENGTH };
const ATTRIBUTES = byDomain(ATTRIBUTE);
const SIZES: SizedType = {
  maxElements: 0,
  fields: new Map([
    ['driver', { maxElements: MAX_DRIVER_LENGTH }],
    ['allowMultipleAllocations', { maxElements: 1 }],
    // Attributes may be selected by name, and are all as long as the longest may be.
    ['attributes', { ...ATTRIBUTES, element: { ...ATTRIBUTES.element, maxElements: MAX_ENTRIES, member: ATTRIBUTE } }],
    ['capacity', byDomain({ maxElements: 0 })],
  ]),
};

export interface DeviceSelectorOptions {
  readonly consumableCapacity: boolean;
  readonly stored: boolean;
}

/** Why a selector may not be used. A claim may have a thousand of them: what they see is put together once. */
export function deviceSelectorChecker(
  base: BaseEnvironments,
): (expression: string, options: DeviceSelectorOptions) => ExpressionFault | undefined {
  const environments = new Map<string, Environment>();
  return (expression, options) => {
    const key = `${options.consumableCapacity} ${options.stored}`;
    const environment = environments.get(key) ?? deviceEnvironment(base, options);
    environments.set(key, environment);
    return checkSelector(environment, expression);
  };
}

function checkSelector(environment: Environment, expression: string): ExpressionFault | undefined {
  const checked = environment.compile(expression);
  if (checked.issues !== undefined) return { kind: 'invalid', detail: `compilation failed: ${checked.issues}` };
  if (checked.type.kind !== 'bool' && checked.type.kind !== 'any') {
    return { kind: 'invalid', detail: `must evaluate to bool or the unknown type, not ${typeName(checked.type)}` };
  }
  const program = checked.plan();
  if (program instanceof CelError) {
    return { kind: 'internal', detail: `program instantiation failed: ${program.message}` };
  }
  if (checked.estimateCost().max <= SELECTOR_COST_LIMIT) return undefined;
  return { kind: 'forbidden', detail: 'too complex, exceeds cost limit' };
}

function deviceEnvironment(base: BaseEnvironments, { consumableCapacity, stored }: DeviceSelectorOptions): Environment {
  const fields =
    consumableCapacity || stored ? new Map([...FIELDS, ['allowMultipleAllocations', BOOL] as const]) : FIELDS;
  const device = objectDeclaration(DEVICE, fields);
  const types: ObjectTypes = { find: (name) => (name === DEVICE ? device : undefined) };
  return base.of(stored).extend({
    libraries: [bindingsLibrary],
    variables: { device: device.type },
    objectTypes: types,
    costs: costsWithin(SIZES),
  });
}
