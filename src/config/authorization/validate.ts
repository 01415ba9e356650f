// The rules of an authorization configuration. All errors are reported at once; expressions are compiled on the way.
import { append } from '../../lib/values/append.js';
import fs from 'node:fs';
import path from 'node:path';
import type { ReviewCondition, ReviewConditionCompiler } from '../../cel/review-condition.js';
import { goFileError } from '../../lib/go/file-error.js';
import {
  duplicate,
  type FieldErrors,
  FieldPath,
  internal,
  invalid,
  notSupported,
  required,
  tooMany,
  plainNotSupported,
} from '../../machinery/field-error.js';
import { formatDuration, parseDuration } from '../../machinery/time.js';
import { nameIsDnsSubdomain } from '../../machinery/validation/names.js';
import type {
  AuthorizerConfiguration,
  WebhookConfiguration,
  WebhookConnectionInfo,
  WebhookMatchCondition,
} from '../../schema/generated/apiserverconfig.v1.js';
import { AUTHORIZER_TYPES, type AuthorizerConfig, type AuthorizerType, type WebhookConfig } from './config.js';

const SECOND_NS = 1_000_000_000n;
const MAX_TIMEOUT_NS = 30n * SECOND_NS;
const DEFAULT_AUTHORIZED_TTL_NS = 300n * SECOND_NS;
const DEFAULT_UNAUTHORIZED_TTL_NS = 30n * SECOND_NS;
const MAX_CONDITIONS = 64;

export interface ValidatedAuthorizers {
  /** To be used only when there are no errors. */
  readonly authorizers: AuthorizerConfig[];
  readonly errors: FieldErrors;
}

export function validateAuthorizers(
  given: readonly AuthorizerConfiguration[],
  compiler: ReviewConditionCompiler,
): ValidatedAuthorizers {
  const authorizers: AuthorizerConfig[] = [];
  const errors: FieldErrors = [];
  const root = FieldPath.of('authorizers');
  if (given.length === 0) errors.push(required(root, 'at least one authorization mode must be defined'));
  const types = new Set<string>();
  const names = new Set<string>();
  for (const [index, { type, name, webhook }] of given.entries()) {
    const at = root.index(index);
    const typeErrors = validateType(type, types, at.child('type'));
    if (typeErrors.length > 0) {
      append(errors, typeErrors);
      continue;
    }
    types.add(type);
    append(errors, validateName(name, names, at.child('name')));
    names.add(name);
    if (type !== 'Webhook') {
      if (webhook !== undefined) {
        errors.push(invalid(at.child('webhook'), 'non-null', 'may only be specified when type=Webhook'));
      }
      authorizers.push({ type: type as Exclude<AuthorizerType, 'Webhook'>, name });
    } else if (webhook === undefined) {
      errors.push(required(at.child('webhook'), 'required when type=Webhook'));
    } else {
      authorizers.push({ type, name, webhook: readWebhook(webhook, compiler, at, errors) });
    }
  }
  return { authorizers, errors };
}

function validateType(type: string, seen: ReadonlySet<string>, at: FieldPath): FieldErrors {
  if (type === '') return [required(at)];
  if (!AUTHORIZER_TYPES.some((known) => known === type)) {
    return [plainNotSupported(at, type, AUTHORIZER_TYPES.toSorted())];
  }
  return seen.has(type) && type !== 'Webhook' ? [duplicate(at, type)] : [];
}

function validateName(name: string, seen: ReadonlySet<string>, at: FieldPath): FieldErrors {
  if (name === '') return [required(at)];
  if (seen.has(name)) return [duplicate(at, name)];
  const problems = nameIsDnsSubdomain(name, false);
  return problems.length === 0 ? [] : [invalid(at, name, `authorizer name is invalid: ${problems.join(', ')}`)];
}

/** `at` is the authorizer's own path: errors of its webhook's fields name it as their parent. */
function readWebhook(
  webhook: WebhookConfiguration,
  compiler: ReviewConditionCompiler,
  at: FieldPath,
  errors: FieldErrors,
): WebhookConfig {
  const timeoutNs = parseDuration(webhook.timeout);
  const authorizedNs = parseDuration(webhook.authorizedTTL) || DEFAULT_AUTHORIZED_TTL_NS;
  const unauthorizedNs = parseDuration(webhook.unauthorizedTTL) || DEFAULT_UNAUTHORIZED_TTL_NS;
  const conditions = webhook.matchConditions ?? [];
  append(
    errors,
    validateTimeout(timeoutNs, at.child('timeout')),
    validateTtl(authorizedNs, at.child('authorizedTTL')),
    validateTtl(unauthorizedNs, at.child('unauthorizedTTL')),
    validateChoice(webhook.subjectAccessReviewVersion, ['v1', 'v1beta1'], at.child('subjectAccessReviewVersion')),
    validateConditionVersion(webhook, at.child('matchConditionSubjectAccessReviewVersion')),
    validateChoice(webhook.failurePolicy, ['NoOpinion', 'Deny'], at.child('failurePolicy')),
    validateConnection(webhook.connectionInfo, at.child('connectionInfo')),
  );
  return {
    timeoutMs: milliseconds(timeoutNs),
    authorizedTtlMs: (webhook.cacheAuthorizedRequests ?? true) ? milliseconds(authorizedNs) : 0,
    unauthorizedTtlMs: (webhook.cacheUnauthorizedRequests ?? true) ? milliseconds(unauthorizedNs) : 0,
    reviewVersion: webhook.subjectAccessReviewVersion as WebhookConfig['reviewVersion'],
    failurePolicy: webhook.failurePolicy as WebhookConfig['failurePolicy'],
    kubeConfigFile: webhook.connectionInfo.kubeConfigFile ?? undefined,
    matchConditions: compileConditions(conditions, compiler, at.child('matchConditions'), errors),
  };
}

const milliseconds = (nanoseconds: bigint): number => Number(nanoseconds) / 1e6;

function validateTimeout(timeoutNs: bigint, at: FieldPath): FieldErrors {
  if (timeoutNs === 0n) return [required(at)];
  if (timeoutNs > 0n && timeoutNs <= MAX_TIMEOUT_NS) return [];
  return [invalid(at, formatDuration(timeoutNs), 'must be > 0s and <= 30s')];
}

const validateTtl = (ttlNs: bigint, at: FieldPath): FieldErrors =>
  ttlNs > 0n ? [] : [invalid(at, formatDuration(ttlNs), 'must be > 0s')];

function validateChoice(value: string, choices: readonly string[], at: FieldPath): FieldErrors {
  if (value === '') return [required(at)];
  return choices.includes(value) ? [] : [plainNotSupported(at, value, choices)];
}

function validateConditionVersion(webhook: WebhookConfiguration, at: FieldPath): FieldErrors {
  const version = webhook.matchConditionSubjectAccessReviewVersion;
  if (version !== '') return validateChoice(version, ['v1'], at);
  const none = (webhook.matchConditions ?? []).length === 0;
  return none ? [] : [required(at, 'required if match conditions are specified')];
}

function validateConnection({ type, kubeConfigFile }: WebhookConnectionInfo, at: FieldPath): FieldErrors {
  const file = at.child('kubeConfigFile');
  switch (type) {
    case '':
      return [required(at.child('type'))];
    case 'InClusterConfig':
      return kubeConfigFile === null ? [] : [invalid(file, kubeConfigFile, 'can only be set when type=KubeConfigFile')];
    case 'KubeConfigFile':
      return validateFile(kubeConfigFile ?? '', file);
    default: {
      const shown = { Type: type, KubeConfigFile: kubeConfigFile };
      return [notSupported(at.child('type'), shown, ['InClusterConfig', 'KubeConfigFile'])];
    }
  }
}

function validateFile(file: string, at: FieldPath): FieldErrors {
  if (file === '') return [required(at)];
  if (!path.isAbsolute(file)) return [invalid(at, file, 'must be an absolute path')];
  try {
    return fs.statSync(file).isFile() ? [] : [invalid(at, file, 'must be a regular file')];
  } catch (error) {
    return [invalid(at, file, `error loading file: ${goFileError(error, file, 'stat')}`)];
  }
}

function compileConditions(
  given: readonly WebhookMatchCondition[],
  compiler: ReviewConditionCompiler,
  at: FieldPath,
  errors: FieldErrors,
): ReviewCondition[] {
  if (given.length > MAX_CONDITIONS) {
    errors.push(tooMany(at, given.length, MAX_CONDITIONS));
    return [];
  }
  const conditions: ReviewCondition[] = [];
  const seen = new Set<string>();
  for (const [index, { expression }] of given.entries()) {
    const where = at.index(index).child('expression');
    if (expression.trim() === '') {
      errors.push(required(where));
    } else if (seen.has(expression)) {
      errors.push(duplicate(where, expression));
    } else {
      seen.add(expression);
      const compiled = compiler.compileReviewCondition(expression);
      if ('evaluate' in compiled) conditions.push(compiled);
      else if (compiled.kind === 'internal') errors.push(internal(where, compiled.detail));
      else errors.push(invalid(where, expression, compiled.detail));
    }
  }
  return conditions;
}
