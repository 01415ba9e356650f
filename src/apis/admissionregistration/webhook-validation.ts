import { append } from '../../lib/values/append.js';
import { validateExpressionAmount } from '../../cel/expression-limits.js';
import type { ExpressionChecker } from '../../cel/expression-check.js';
import { deepEqual } from '../../lib/values/deep-equal.js';
import {
  type FieldErrors,
  FieldPath,
  duplicate,
  invalid,
  notSupported,
  required,
} from '../../machinery/field-error.js';
import { invalidEach, isFullyQualifiedName } from '../../machinery/validation/fields.js';
import { validateLabelSelector } from '../../machinery/validation/label-selector.js';
import { isDns1035Label } from '../../machinery/validation/names.js';
import { validateWebhookService, validateWebhookUrl } from '../../machinery/validation/webhook.js';
import type {
  MutatingWebhook,
  ValidatingWebhook,
  WebhookClientConfig,
} from '../../schema/generated/admissionregistration.v1.js';
import { validateMatchConditions } from './match-conditions.js';
import { FAILURE_POLICIES, MATCH_POLICIES, REINVOCATION_POLICIES } from './policies.js';
import { validateRule } from './resource-rules.js';

/** Mutating webhooks have one member more; all rules are shared. */
export type Webhook = ValidatingWebhook & Pick<MutatingWebhook, 'reinvocationPolicy'>;

/** What a stored configuration already breaks, it may go on breaking. */
interface Leniency {
  readonly matchConditions: boolean;
  readonly sideEffects: boolean;
  readonly reviewVersions: boolean;
  readonly names: boolean;
  readonly labelValues: boolean;
  readonly storedExpressions: ReadonlySet<string>;
}

const STRICT: Leniency = {
  matchConditions: false,
  sideEffects: false,
  reviewVersions: false,
  names: false,
  labelValues: false,
  storedExpressions: new Set(),
};

const ALL_SIDE_EFFECTS = ['None', 'NoneOnDryRun', 'Some', 'Unknown'];
const NO_SIDE_EFFECTS = ['None', 'NoneOnDryRun'];
const REVIEW_VERSIONS = ['v1', 'v1beta1'];
const TIMEOUT_MIN_SECONDS = 1;
const TIMEOUT_MAX_SECONDS = 30;

export function validateWebhooks(
  webhooks: readonly Webhook[] | undefined,
  old: readonly Webhook[] | undefined,
  checker: ExpressionChecker | undefined,
): FieldErrors {
  const conditions = (webhooks ?? []).flatMap((webhook) => webhook.matchConditions ?? []);
  const tooMuch = validateExpressionAmount(
    conditions.map(({ expression }) => expression),
    FieldPath.of('webhooks'),
  );
  if (tooMuch.length > 0) return tooMuch;
  const leniency = old === undefined ? STRICT : leniencyOf(webhooks ?? [], old);
  const errors: FieldErrors = [];
  const names = new Set<string>();
  for (const [i, webhook] of (webhooks ?? []).entries()) {
    const path = FieldPath.of('webhooks').index(i);
    append(
      errors,
      validateWebhook(webhook, leniency, checker, path),
      validateReviewVersions(webhook.admissionReviewVersions, leniency, path.child('admissionReviewVersions')),
    );
    if (leniency.names || webhook.name === '') continue;
    if (names.has(webhook.name)) errors.push(duplicate(path.child('name'), webhook.name));
    names.add(webhook.name);
  }
  return errors;
}

function validateWebhook(
  webhook: Readonly<Webhook>,
  leniency: Leniency,
  checker: ExpressionChecker | undefined,
  path: FieldPath,
): FieldErrors {
  const { failurePolicy, matchPolicy, sideEffects, timeoutSeconds, reinvocationPolicy } = webhook;
  const errors = isFullyQualifiedName(path.child('name'), webhook.name);
  for (const [i, rule] of (webhook.rules ?? []).entries()) {
    append(errors, validateRule(rule, path.child('rules').index(i)));
  }
  append(errors, oneOf(failurePolicy, FAILURE_POLICIES, path.child('failurePolicy')));
  append(errors, oneOf(matchPolicy, MATCH_POLICIES, path.child('matchPolicy')));
  const allowed = leniency.sideEffects ? ALL_SIDE_EFFECTS : NO_SIDE_EFFECTS;
  if (sideEffects === null) {
    errors.push(required(path.child('sideEffects'), `must specify one of ${allowed.join(', ')}`));
  } else append(errors, oneOf(sideEffects, allowed, path.child('sideEffects')));
  if (timeoutSeconds !== undefined && (timeoutSeconds < TIMEOUT_MIN_SECONDS || timeoutSeconds > TIMEOUT_MAX_SECONDS)) {
    errors.push(
      invalid(path.child('timeoutSeconds'), timeoutSeconds, 'the timeout value must be between 1 and 30 seconds'),
    );
  }
  const options = { allowInvalidLabelValue: leniency.labelValues };
  append(
    errors,
    validateLabelSelector(webhook.namespaceSelector, options, path.child('namespaceSelector')),
    validateLabelSelector(webhook.objectSelector, options, path.child('objectSelector')),
    oneOf(reinvocationPolicy, REINVOCATION_POLICIES, path.child('reinvocationPolicy')),
    validateClientConfig(webhook.clientConfig, path.child('clientConfig')),
  );
  if (!leniency.matchConditions) {
    const rules = { checker, params: false, stored: leniency.storedExpressions };
    append(errors, validateMatchConditions(webhook.matchConditions, rules, path.child('matchConditions')));
  }
  return errors;
}

const oneOf = (value: string | undefined, supported: readonly string[], path: FieldPath): FieldErrors =>
  value === undefined || supported.includes(value) ? [] : [notSupported(path, value, supported)];

function validateClientConfig({ url, service }: Readonly<WebhookClientConfig>, path: FieldPath): FieldErrors {
  if ((url === undefined) === (service === undefined)) {
    return [required(path, 'exactly one of url or service is required')];
  }
  if (url !== undefined) return validateWebhookUrl(url, path.child('url'));
  return service === undefined ? [] : validateWebhookService(service, path.child('service'));
}

function validateReviewVersions(versions: readonly string[] | null, leniency: Leniency, path: FieldPath): FieldErrors {
  if (versions === null || versions.length === 0) {
    return [required(path, `must specify one of ${REVIEW_VERSIONS.join(', ')}`)];
  }
  const errors: FieldErrors = [];
  for (const [i, version] of versions.entries()) {
    if (versions.indexOf(version) < i) errors.push(invalid(path.index(i), version, 'duplicate version'));
    else append(errors, invalidEach(path.index(i), version, isDns1035Label(version)));
  }
  if (!leniency.reviewVersions && !hasKnownReviewVersion(versions)) {
    errors.push(invalid(path, versions, `must include at least one of ${REVIEW_VERSIONS.join(', ')}`));
  }
  return errors;
}

function leniencyOf(webhooks: readonly Webhook[], old: readonly Webhook[]): Leniency {
  const selectors = old.flatMap((webhook) => [webhook.namespaceSelector, webhook.objectSelector]);
  const conditions = old.flatMap((webhook) => webhook.matchConditions ?? []);
  return {
    matchConditions:
      webhooks.length === old.length &&
      webhooks.every((webhook, i) => deepEqual(webhook.matchConditions, old[i]?.matchConditions)),
    sideEffects: old.some(({ sideEffects }) => !NO_SIDE_EFFECTS.includes(sideEffects ?? '')),
    reviewVersions: old.some(
      ({ admissionReviewVersions: versions }) => (versions ?? []).length > 0 && !hasKnownReviewVersion(versions ?? []),
    ),
    names: new Set(old.map(({ name }) => name)).size < old.length,
    labelValues: selectors.some((selector) => validateLabelSelector(selector, {}, FieldPath.of('selector')).length > 0),
    storedExpressions: new Set(conditions.map(({ expression }) => expression)),
  };
}

const hasKnownReviewVersion = (versions: readonly string[]): boolean =>
  versions.some((version) => REVIEW_VERSIONS.includes(version));
