import { append } from '../../lib/values/append.js';
import { deepEqual } from '../../lib/values/deep-equal.js';
import {
  type FieldErrors,
  FieldPath,
  duplicate,
  forbidden,
  invalid,
  notSupported,
  required,
  named,
} from '../../machinery/field-error.js';
import { invalidEach } from '../../machinery/validation/fields.js';
import { nameIsDnsSubdomain } from '../../machinery/validation/names.js';
import type {
  ExemptPriorityLevelConfiguration,
  FlowSchema,
  FlowSchemaSpec,
  LimitResponse,
  LimitedPriorityLevelConfiguration,
  PriorityLevelConfiguration,
  PriorityLevelConfigurationSpec,
  QueuingConfiguration,
} from '../../schema/generated/flowcontrol.v1.js';
import { internalValue } from '../core/internal-form/internal-value.js';
import { validateFlowRule } from './flow-rules.js';
import { MANDATORY_FLOW_SCHEMAS, MANDATORY_PRIORITY_LEVELS } from './mandatory.js';

const SPEC = FieldPath.of('spec');
const MAX_PRECEDENCE = 10_000;
const DISTINGUISHERS = ['ByNamespace', 'ByUser'];
const LEVEL_TYPES = ['Exempt', 'Limited'];
const RESPONSE_TYPES = ['Queue', 'Reject'];
const MAX_QUEUES = 10_000_000;
/** Hashes of a flow have 64 bits; dealing queues evenly leaves four of them unused. */
const MAX_HASH_BITS = 60;
/** Set by clients of a version that is gone to distinguish zero from unset; never part of an object. */
const PRESERVE_ZERO_SHARES = 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares';

export function validateFlowSchema({ metadata, spec, status }: Readonly<FlowSchema>): FieldErrors {
  const name = metadata.name ?? '';
  const errors = validateFlowSchemaSpec(name, spec);
  const mandatory = MANDATORY_FLOW_SCHEMAS.get(name);
  if (mandatory !== undefined && !deepEqual(spec, mandatory)) {
    errors.push(invalid(SPEC, internalValue('FlowSchemaSpec', spec), `spec of '${name}' must equal the fixed value`));
  }
  append(errors, validateConditionTypes(status.conditions));
  return errors;
}

function validateFlowSchemaSpec(name: string, spec: Readonly<FlowSchemaSpec>): FieldErrors {
  const { matchingPrecedence: precedence, distinguisherMethod } = spec;
  const errors: FieldErrors = [];
  const at = SPEC.child('matchingPrecedence');
  if (precedence <= 0) errors.push(invalid(at, precedence, 'must be a positive value'));
  if (precedence > MAX_PRECEDENCE) errors.push(invalid(at, precedence, `must not be greater than ${MAX_PRECEDENCE}`));
  if (precedence === 1 && name !== 'exempt') {
    errors.push(invalid(at, precedence, "only the schema named 'exempt' may have matchingPrecedence 1"));
  }
  if (distinguisherMethod !== undefined && !DISTINGUISHERS.includes(distinguisherMethod.type)) {
    const shown = internalValue('FlowDistinguisherMethod', distinguisherMethod);
    errors.push(notSupported(SPEC.child('distinguisherMethod', 'type'), shown, DISTINGUISHERS));
  }
  const level = spec.priorityLevelConfiguration.name;
  const levelPath = SPEC.child('priorityLevelConfiguration', 'name');
  if (level === '') errors.push(required(levelPath, 'must reference a priority level'));
  else append(errors, invalidEach(levelPath, level, nameIsDnsSubdomain(level, false)));
  for (const [i, rule] of (spec.rules ?? []).entries()) {
    append(errors, validateFlowRule(rule, SPEC.child('rules').index(i)));
  }
  return errors;
}

export function validateConditionTypes(conditions: readonly { readonly type?: string }[] | undefined): FieldErrors {
  const errors: FieldErrors = [];
  const seen = new Set<string>();
  for (const [i, { type = '' }] of (conditions ?? []).entries()) {
    const at = FieldPath.of('status', 'conditions').index(i).child('type');
    if (seen.has(type)) errors.push(duplicate(at, named(type)));
    seen.add(type);
    if (type === '') errors.push(required(at));
  }
  return errors;
}

export function validatePriorityLevel({ metadata, spec, status }: Readonly<PriorityLevelConfiguration>): FieldErrors {
  const name = metadata.name ?? '';
  const errors: FieldErrors = [];
  if (metadata.annotations?.[PRESERVE_ZERO_SHARES] !== undefined) {
    errors.push(
      forbidden(FieldPath.of('metadata', 'annotations'), `annotation '${PRESERVE_ZERO_SHARES}' is forbidden`),
    );
  }
  append(errors, validatePriorityLevelSpec(name, spec), validateMandatoryLevel(name, spec));
  append(errors, validateConditionTypes(status.conditions));
  return errors;
}

/** The exempt level's own shares may be changed, nothing else of a mandatory level. */
function validateMandatoryLevel(name: string, spec: Readonly<PriorityLevelConfigurationSpec>): FieldErrors {
  const mandatory = MANDATORY_PRIORITY_LEVELS.get(name);
  if (mandatory === undefined) return [];
  const compared = name === 'exempt' ? { ...spec, exempt: mandatory.exempt } : spec;
  if (deepEqual(compared, mandatory)) return [];
  const what = name === 'exempt' ? "except the 'spec.exempt' field must" : 'must';
  const shown = internalValue('PriorityLevelConfigurationSpec', spec);
  return [invalid(SPEC, shown, `spec of '${name}' ${what} equal the fixed value`)];
}

function validatePriorityLevelSpec(name: string, spec: Readonly<PriorityLevelConfigurationSpec>): FieldErrors {
  const { type, limited, exempt } = spec;
  const errors: FieldErrors = [];
  if ((name === 'exempt') !== (type === 'Exempt')) {
    errors.push(invalid(SPEC.child('type'), named(type), "must be 'Exempt' if and only if `name` is 'exempt'"));
  }
  switch (type) {
    case 'Exempt':
      if (limited !== undefined) {
        errors.push(forbidden(SPEC.child('limited'), 'must be nil if the type is not Limited'));
      }
      if (exempt !== undefined) append(errors, validateExempt(exempt, SPEC.child('exempt')));
      break;
    case 'Limited':
      if (exempt !== undefined) errors.push(forbidden(SPEC.child('exempt'), 'must be nil if the type is Limited'));
      if (limited === undefined) {
        errors.push(required(SPEC.child('limited'), 'must not be empty when type is Limited'));
      } else append(errors, validateLimited(limited, SPEC.child('limited')));
      break;
    default:
      errors.push(notSupported(SPEC.child('type'), type, LEVEL_TYPES));
  }
  return errors;
}

function validateLimited(limited: Readonly<LimitedPriorityLevelConfiguration>, path: FieldPath): FieldErrors {
  const { borrowingLimitPercent: borrowing } = limited;
  const errors = validateShares(limited.nominalConcurrencyShares, path);
  append(errors, validateLimitResponse(limited.limitResponse, path.child('limitResponse')));
  append(errors, validateLendable(limited.lendablePercent, path));
  if (borrowing !== undefined && borrowing < 0) {
    errors.push(
      invalid(path.child('borrowingLimitPercent'), borrowing, 'if specified, must be a non-negative integer'),
    );
  }
  return errors;
}

const validateExempt = (exempt: Readonly<ExemptPriorityLevelConfiguration>, path: FieldPath): FieldErrors => [
  ...validateShares(exempt.nominalConcurrencyShares, path),
  ...validateLendable(exempt.lendablePercent, path),
];

const validateShares = (shares: number | null | undefined, path: FieldPath): FieldErrors =>
  (shares ?? 0) < 0 ? [invalid(path.child('nominalConcurrencyShares'), shares, 'must be a non-negative integer')] : [];

const validateLendable = (percent: number | undefined, path: FieldPath): FieldErrors =>
  percent !== undefined && (percent < 0 || percent > 100)
    ? [invalid(path.child('lendablePercent'), percent, 'must be between 0 and 100, inclusive')]
    : [];

function validateLimitResponse({ type, queuing }: Readonly<LimitResponse>, path: FieldPath): FieldErrors {
  switch (type) {
    case 'Reject':
      if (queuing === undefined) return [];
      return [forbidden(path.child('queuing'), 'must be nil if limited.limitResponse.type is not Limited')];
    case 'Queue':
      if (queuing !== undefined) return validateQueuing(queuing, path.child('queuing'));
      return [required(path.child('queuing'), 'must not be empty if limited.limitResponse.type is Limited')];
    default:
      return [notSupported(path.child('type'), type, RESPONSE_TYPES)];
  }
}

function validateQueuing({ queues, handSize, queueLengthLimit }: QueuingConfiguration, path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  if (queueLengthLimit <= 0) errors.push(invalid(path.child('queueLengthLimit'), queueLengthLimit, 'must be positive'));
  if (queues <= 0) errors.push(invalid(path.child('queues'), queues, 'must be positive'));
  else if (queues > MAX_QUEUES) {
    errors.push(invalid(path.child('queues'), queues, `must not be greater than ${MAX_QUEUES}`));
  }
  const at = path.child('handSize');
  if (handSize <= 0) errors.push(invalid(at, handSize, 'must be positive'));
  else if (handSize > queues) errors.push(invalid(at, handSize, `should not be greater than queues (${queues})`));
  else if (Math.ceil(Math.log2(queues) * handSize) > MAX_HASH_BITS) {
    const sizes = `deckSize ${queues} and handSize ${handSize}`;
    errors.push(invalid(at, handSize, `required entropy bits of ${sizes} should not be greater than ${MAX_HASH_BITS}`));
  }
  return errors;
}
