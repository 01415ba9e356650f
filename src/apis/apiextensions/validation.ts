import { append } from '../../lib/values/append.js';
import type { ExpressionChecker } from '../../cel/expression-check.js';
import { deepEqual } from '../../lib/values/deep-equal.js';
import {
  type FieldErrors,
  FieldPath,
  invalid,
  required,
  plainNotSupported,
  named,
} from '../../machinery/field-error.js';
import {
  IMMUTABLE,
  invalidEach,
  validateImmutableField,
  validateImmutableName,
} from '../../machinery/validation/fields.js';
import { isDns1035Label, isDns1123Subdomain, nameIsDnsSubdomain } from '../../machinery/validation/names.js';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
} from '../../schema/generated/apiextensions.v1.js';
import { validateApproval } from './api-approval.js';
import {
  type ConversionRules,
  hasKnownReviewVersion,
  isCaBundle,
  validateConversion,
} from './conversion-validation.js';
import { hasDefault, hasUnprunedDefaults } from './default-validation.js';
import { type HoistedSpec, hoist } from './hoisted-spec.js';
import { shownVersions } from './internal-form.js';
import { hasNonAtomicSet, validateMapKeys } from './list-type-rules.js';
import { validateNames, validateRequiredNames } from './names-validation.js';
import type { StoredExpressions } from './rule-validation.js';
import { validateSchemaLimits } from './schema-limits.js';
import { type SchemaRules, validateSchema } from './schema-validation.js';
import { type Schema, anySchemaHas, schemaHas, schemasOf } from './schema-walk.js';
import { isStructural } from './structural-schema.js';
import { Trials } from './values/validate-value.js';
import {
  validateColumns,
  validateDeprecation,
  validateSelectableFields,
  validateSubresources,
} from './version-validation.js';

const SPEC = FieldPath.of('spec');
const SCOPES = ['Cluster', 'Namespaced'];
const TYPES = new Set(['', 'array', 'boolean', 'integer', 'number', 'object', 'string']);

type Definition = Readonly<CustomResourceDefinition>;

interface Rules {
  readonly schema: Omit<SchemaRules, 'unchanged'>;
  /** Versions whose schema an update leaves as it was. */
  readonly unchangedVersions: ReadonlySet<string>;
  readonly conversion: ConversionRules;
  /** Every version has a schema. */
  readonly requireSchema: boolean;
}

/** Whatever the stored definition already breaks, an update may leave broken. */
export function validateDefinition(object: Definition, checker: ExpressionChecker | undefined): FieldErrors {
  return [...validateName(object), ...validateAll(object, undefined, rulesOfNew(checker))];
}

export function validateDefinitionUpdate(
  object: Definition,
  old: Definition,
  checker: ExpressionChecker | undefined,
): FieldErrors {
  return validateAll(object, old, rulesOfUpdate(object, old, checker));
}

/** The name follows from the spec, on creation; later neither changes. */
function validateName({ metadata, spec }: Definition): FieldErrors {
  const wanted = `${spec.names.plural}.${spec.group}`;
  const check = (member: 'name' | 'generateName'): FieldErrors => {
    const name = metadata[member] ?? '';
    if (name === '') return [];
    const messages = nameIsDnsSubdomain(name, member === 'generateName');
    if (name !== wanted) messages.push('must be spec.names.plural+"."+spec.group');
    return invalidEach(FieldPath.of('metadata', member), name, messages);
  };
  return [...check('generateName'), ...check('name')];
}

function validateAll(object: Definition, old: Definition | undefined, rules: Rules): FieldErrors {
  const { spec, status } = object;
  const tooMuch = validateSchemaLimits(spec, SPEC.child('versions'));
  if (tooMuch.length > 0 && (old === undefined || validateSchemaLimits(old.spec, SPEC).length === 0)) return tooMuch;
  const errors = validateSpec(spec, rules);
  if (old !== undefined) append(errors, validateSpecUpdate(spec, old));
  append(
    errors,
    validateDefinitionStatus(object),
    validateStoredVersions(status.storedVersions, spec.versions ?? []),
    validateApproval(object, old),
  );
  if (spec.preserveUnknownFields && !old?.spec.preserveUnknownFields) {
    const why =
      'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
    errors.push(invalid(SPEC.child('preserveUnknownFields'), true, why));
  }
  return errors;
}

export const validateDefinitionStatus = ({ status }: Definition): FieldErrors =>
  validateNames(status.acceptedNames, FieldPath.of('status', 'acceptedNames'));

function validateStoredVersions(
  stored: readonly string[] | null,
  versions: readonly CustomResourceDefinitionVersion[],
): FieldErrors {
  const path = FieldPath.of('status', 'storedVersions');
  if (stored === null || stored.length === 0) return [invalid(path, stored, 'must have at least one stored version')];
  const errors: FieldErrors = [];
  const unseen = new Set(stored);
  for (const { name, storage } of versions) {
    if (!unseen.delete(name) && storage) errors.push(invalid(path, stored, `must have the storage version ${name}`));
  }
  for (const [i, name] of stored.entries()) {
    if (!unseen.has(name)) continue;
    const why = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    errors.push(invalid(path.index(i), name, why));
  }
  return errors;
}

/** Kind and scope are fixed once the resource is served; group and plural make its name. */
function validateSpecUpdate(spec: Readonly<CustomResourceDefinitionSpec>, old: Definition): FieldErrors {
  const errors: FieldErrors = [];
  if (isEstablished(old)) {
    append(
      errors,
      validateImmutableName(spec.scope, old.spec.scope, SPEC.child('scope')),
      validateImmutableField(spec.names.kind, old.spec.names.kind, SPEC.child('names', 'kind')),
    );
  }
  if (spec.group !== old.spec.group) errors.push(invalid(SPEC.child('group'), spec.group, IMMUTABLE));
  if (spec.names.plural !== old.spec.names.plural) {
    errors.push(invalid(SPEC.child('names', 'plural'), spec.names.plural, IMMUTABLE));
  }
  return errors;
}

const isEstablished = ({ status }: Definition): boolean =>
  (status.conditions ?? []).some((condition) => condition.type === 'Established' && condition.status === 'True');

function validateSpec(spec: Readonly<CustomResourceDefinitionSpec>, base: Rules): FieldErrors {
  const hoisted = hoist(spec);
  const keepsUnknown = spec.preserveUnknownFields === true;
  const hasDefaults = anySchemaHas(spec, hasDefault);
  const structural =
    base.schema.structural || !keepsUnknown || hasDefaults || anySchemaHas(spec, usesKubernetesExtension);
  const rules: Rules = { ...base, schema: { ...base.schema, structural } };
  const errors = validateGroup(spec.group);
  if (spec.scope === '') errors.push(required(SPEC.child('scope')));
  else if (!SCOPES.includes(spec.scope)) errors.push(plainNotSupported(SPEC.child('scope'), spec.scope, SCOPES));
  append(errors, validateSchemasPresent(hoisted, rules.requireSchema, keepsUnknown));
  if (hasDefaults && keepsUnknown) {
    const why = 'must be false in order to use defaults in the schema';
    errors.push(invalid(SPEC.child('preserveUnknownFields'), true, why));
  }
  for (const [i, version] of hoisted.versions.entries()) {
    append(errors, validateVersion(version, hoisted, rules, SPEC.child('versions').index(i)));
  }
  append(errors, validateVersionList(spec, hoisted), validateTop(spec, hoisted, rules));
  if (spec.conversion !== undefined && spec.conversion.strategy !== 'None' && keepsUnknown) {
    const why = 'must be None if spec.preserveUnknownFields is true';
    errors.push(invalid(SPEC.child('conversion', 'strategy'), named(spec.conversion.strategy), why));
  }
  append(errors, validateConversion(spec.conversion, rules.conversion, SPEC.child('conversion')));
  return errors;
}

function validateGroup(group: string): FieldErrors {
  const path = SPEC.child('group');
  if (group === '') return [required(path)];
  const wrong = isDns1123Subdomain(group);
  if (wrong.length > 0) return [invalid(path, group, wrong.join(','))];
  return group.includes('.') ? [] : [invalid(path, group, 'should be a domain with at least one dot')];
}

function validateSchemasPresent(spec: HoistedSpec, requireAll: boolean, keepsUnknown: boolean): FieldErrors {
  if (spec.validation?.openAPIV3Schema !== undefined || (!requireAll && keepsUnknown)) return [];
  return spec.versions.flatMap(({ schema, served }, i) => {
    if (schema?.openAPIV3Schema !== undefined || (!requireAll && !served)) return [];
    const path = SPEC.child('versions').index(i).child('schema', 'openAPIV3Schema');
    return [required(path, requireAll ? '' : 'because otherwise all fields are pruned')];
  });
}

function validateVersion(
  version: Readonly<CustomResourceDefinitionVersion>,
  hoisted: HoistedSpec,
  rules: Rules,
  path: FieldPath,
): FieldErrors {
  const errors: FieldErrors = [];
  const wrong = isDns1035Label(version.name);
  if (wrong.length > 0) errors.push(invalid(path.child('name'), version.name, wrong.join(',')));
  const perVersion = hoisted.versions.some(({ subresources }) => subresources !== undefined);
  const subresources = perVersion ? version.subresources : hoisted.subresources;
  append(
    errors,
    validateDeprecation(version, path),
    validateSchema(
      version.schema,
      subresources?.status !== undefined,
      { ...rules.schema, unchanged: rules.unchangedVersions.has(version.name) },
      path.child('schema'),
    ),
    validateSubresources(version.subresources, path.child('subresources')),
    validateColumns(version.additionalPrinterColumns, path.child('additionalPrinterColumns')),
    validateSelectableFields(
      version.selectableFields,
      version.schema?.openAPIV3Schema,
      'may only be set when `version.schema.openAPIV3Schema` is not included',
      path,
    ),
  );
  return errors;
}

function validateVersionList(spec: Readonly<CustomResourceDefinitionSpec>, hoisted: HoistedSpec): FieldErrors {
  const path = SPEC.child('versions');
  const errors: FieldErrors = [];
  const names = hoisted.versions.map(({ name }) => name);
  const shown = () => shownVersions(spec.versions === null ? null : [...hoisted.versions]);
  if (new Set(names).size < names.length) errors.push(invalid(path, shown(), 'must contain unique version names'));
  if (hoisted.versions.filter(({ storage }) => storage).length !== 1) {
    errors.push(invalid(path, shown(), 'must have exactly one version marked as storage version'));
  }
  return errors;
}

/** What all versions share, and the names. */
function validateTop(spec: Readonly<CustomResourceDefinitionSpec>, hoisted: HoistedSpec, rules: Rules): FieldErrors {
  const anyStatus = [hoisted, ...hoisted.versions].some(({ subresources }) => subresources?.status !== undefined);
  const errors: FieldErrors = [];
  const [first] = hoisted.versions;
  if (first !== undefined && first.name !== '') {
    const wrong = isDns1035Label(first.name);
    if (wrong.length > 0) errors.push(invalid(SPEC.child('version'), first.name, wrong.join(',')));
  }
  append(
    errors,
    validateRequiredNames(spec.names, SPEC.child('names')),
    validateNames(spec.names, SPEC.child('names')),
    validateSchema(
      hoisted.validation,
      anyStatus,
      { ...rules.schema, unchanged: rules.unchangedVersions.has(first?.name ?? '') },
      SPEC.child('validation'),
    ),
    validateSubresources(hoisted.subresources, SPEC.child('subresources')),
    validateColumns(hoisted.additionalPrinterColumns, SPEC.child('additionalPrinterColumns')),
    validateSelectableFields(
      hoisted.selectableFields,
      hoisted.validation?.openAPIV3Schema,
      'may only be set when validations.schema is included',
      SPEC,
    ),
  );
  return errors;
}

const usesKubernetesExtension = (schema: Schema): boolean =>
  schema['x-kubernetes-embedded-resource'] === true ||
  schema['x-kubernetes-preserve-unknown-fields'] !== undefined ||
  schema['x-kubernetes-int-or-string'] === true ||
  (schema['x-kubernetes-list-map-keys'] ?? []).length > 0 ||
  schema['x-kubernetes-list-type'] !== undefined ||
  (schema['x-kubernetes-validations'] ?? []).length > 0;

const rulesOfNew = (checker: ExpressionChecker | undefined): Rules => ({
  schema: {
    structural: true,
    knownTypes: true,
    prunedDefaults: true,
    atomicSets: true,
    mapKeys: true,
    checker,
    trials: Trials.ofDefaults(),
    storedExpressions: { rules: new Set(), messages: new Set() },
  },
  unchangedVersions: new Set(),
  conversion: { knownReviewVersion: true, allowInvalidCaBundle: true },
  requireSchema: true,
});

function rulesOfUpdate(object: Definition, old: Definition, checker: ExpressionChecker | undefined): Rules {
  const { spec } = old;
  const schemas = schemasOf(spec);
  const caBundle = spec.conversion?.webhook?.clientConfig?.caBundle ?? '';
  const reviewVersions = spec.conversion?.webhook?.conversionReviewVersions ?? [];
  return {
    schema: {
      structural: schemas.every((schema) => isStructural(schema, SPEC)),
      knownTypes: !anySchemaHas(spec, ({ type = '' }) => !TYPES.has(type)),
      prunedDefaults: !schemas.some(hasUnprunedDefaults),
      atomicSets: !anySchemaHas(spec, hasNonAtomicSet),
      mapKeys: !anySchemaHas(spec, (schema) => validateMapKeys(schema, SPEC).length > 0),
      checker,
      trials: Trials.ofDefaults(),
      storedExpressions: expressionsIn(schemas),
    },
    unchangedVersions: versionsAsBefore(object.spec, spec),
    conversion: {
      knownReviewVersion: reviewVersions.length === 0 || hasKnownReviewVersion(reviewVersions),
      allowInvalidCaBundle: !isEstablished(old) || (caBundle !== '' && !isCaBundle(caBundle)),
    },
    requireSchema: (spec.versions ?? []).every(({ schema }) => schema?.openAPIV3Schema !== undefined),
  };
}

function versionsAsBefore(
  spec: Readonly<CustomResourceDefinitionSpec>,
  old: Readonly<CustomResourceDefinitionSpec>,
): Set<string> {
  const same = (spec.versions ?? []).filter(({ name, schema }) => {
    const before = old.versions?.find((version) => version.name === name);
    return before !== undefined && deepEqual(schema, before.schema);
  });
  return new Set(same.map(({ name }) => name));
}

function expressionsIn(schemas: readonly Schema[]): StoredExpressions {
  const found = { rules: new Set<string>(), messages: new Set<string>() };
  for (const schema of schemas) {
    schemaHas(schema, (node) => {
      for (const { rule, messageExpression } of node['x-kubernetes-validations'] ?? []) {
        found.rules.add(rule);
        if (messageExpression) found.messages.add(messageExpression);
      }
      return false;
    });
  }
  return found;
}
