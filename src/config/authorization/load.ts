// The file of --authorization-config.
import type { ReviewConditionCompiler } from '../../cel/review-condition.js';
import { aggregateText, fieldErrorText } from '../../machinery/field-error.js';
import type { AuthorizationConfiguration, AuthorizerConfiguration } from '../../schema/generated/apiserverconfig.v1.js';
import { ConfigError } from '../config-error.js';
import { decodeConfig } from '../decode-config.js';
import { SERVER_KINDS } from '../server-kinds.js';
import type { AuthorizerConfig } from './config.js';
import { nameOfType } from './config.js';
import { validateAuthorizers } from './validate.js';

const KIND = 'AuthorizationConfiguration';
const SCHEME = 'k8s.io/apiserver/pkg/apis/apiserver/load/load.go:32';

export interface LoadOptions {
  readonly compiler: ReviewConditionCompiler;
  /** Types that must be there: a server cannot do without what it was started with. */
  readonly required?: ReadonlySet<string>;
}

/** Throws a ConfigError with all that is wrong. */
export function loadAuthorizationConfig(text: string, { compiler, required }: LoadOptions): AuthorizerConfig[] {
  const { authorizers, errors } = validateAuthorizers(decode(text), compiler);
  if (errors.length > 0) throw new ConfigError(aggregateText(errors.map(fieldErrorText)));
  const wrong = [...wrongNames(authorizers), ...missingTypes(authorizers, required ?? new Set())];
  if (wrong.length > 0) throw new ConfigError(aggregateText(wrong));
  return authorizers;
}

function decode(text: string): readonly AuthorizerConfiguration[] {
  if (text === '') return [];
  try {
    const { kind, object } = decodeConfig(text, { kinds: SERVER_KINDS, scheme: SCHEME });
    if (kind !== KIND) throw new ConfigError(`expected ${KIND}, got *apiserver.${kind}`);
    return (object as unknown as AuthorizationConfiguration).authorizers ?? [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError(`failed to load AuthorizationConfiguration from file: ${error.message}`);
  }
}

const wrongNames = (authorizers: readonly AuthorizerConfig[]): string[] =>
  authorizers
    .filter(({ type, name }) => type !== 'Webhook' && name !== nameOfType(type))
    .map(({ type, name }) => `expected name ${nameOfType(type)} for authorizer ${type} instead of ${name}`);

function missingTypes(authorizers: readonly AuthorizerConfig[], required: ReadonlySet<string>): string[] {
  const missing = [...required].filter((type) => !authorizers.some((authorizer) => authorizer.type === type));
  return missing.length === 0 ? [] : [`missing required types: [${missing.toSorted().join(' ')}]`];
}
