// The description of the authorization chain: by flags, or by a file that is followed.
import type { ReviewConditionCompiler } from '../../cel/review-condition.js';
import { type AuthorizerConfig, nameOfType, type WebhookConfig } from '../../config/authorization/config.js';
import { loadAuthorizationConfig } from '../../config/authorization/load.js';
import { ConfigError } from '../../config/config-error.js';
import { reloadOnChange } from '../../config/reload.js';
import type { ReloadMetrics } from '../../config/reload-metrics.js';
import { readTextFile } from '../../lib/go/file-error.js';
import type { ReloadRequests } from '../../lib/files/reload-requests.js';
import type { Logger } from '../../lib/telemetry/log.js';
import type { Options } from '../../options/options.js';
import type { AuthorizationMode } from '../../options/validate/authorization.js';
import type { ReplaceableChain } from './authorization-chain.js';

/** Webhooks by flags have no other. */
const FLAG_TIMEOUT_MS = 30_000;
const FLAG_WEBHOOK_NAME = 'default';

export interface ChainConfig {
  readonly authorizers: readonly AuthorizerConfig[];
  /** The text of the configuration file; undefined when flags configure the chain. */
  readonly text?: string;
}

/** Throws a ConfigError. */
export function readChainConfig({ authorization }: Options, compiler: ReviewConditionCompiler): ChainConfig {
  if (authorization.authorizationConfig === '') {
    const modes = authorization.authorizationMode as readonly AuthorizationMode[];
    return { authorizers: modes.map((mode) => modeConfig(mode, authorization)) };
  }
  const read = readTextFile(authorization.authorizationConfig);
  if (!read.ok) throw new ConfigError(read.error);
  return { authorizers: loadAuthorizationConfig(read.text, { compiler }), text: read.text };
}

function modeConfig(type: AuthorizationMode, flags: Options['authorization']): AuthorizerConfig {
  if (type !== 'Webhook') return { type, name: nameOfType(type) };
  const webhook: WebhookConfig = {
    timeoutMs: FLAG_TIMEOUT_MS,
    authorizedTtlMs: flags.authorizationWebhookCacheAuthorizedTtlMs,
    unauthorizedTtlMs: flags.authorizationWebhookCacheUnauthorizedTtlMs,
    reviewVersion: flags.authorizationWebhookVersion as WebhookConfig['reviewVersion'],
    failurePolicy: 'NoOpinion',
    kubeConfigFile: flags.authorizationWebhookConfigFile,
    matchConditions: [],
  };
  return { type, name: FLAG_WEBHOOK_NAME, webhook };
}

export interface FollowParts {
  readonly file: string;
  /** What is in effect was made of this. */
  readonly config: ChainConfig;
  readonly chain: ReplaceableChain;
  readonly compiler: ReviewConditionCompiler;
  readonly metrics: ReloadMetrics;
  readonly stopping: AbortSignal;
  readonly reloads: ReloadRequests;
  readonly log: Logger;
}

/** Replaces the chain when the file says something else. */
export function followChainConfig(parts: FollowParts): void {
  const { file, config, chain, compiler, metrics, stopping, reloads, log } = parts;
  let last = JSON.stringify(config.authorizers);
  let changed = false;
  metrics.inEffect(config.text ?? '');
  reloadOnChange({
    what: 'authorization configuration',
    file,
    current: config.text ?? '',
    load: (text) => loadAuthorizationConfig(text, { compiler, required: chain.builtIn }),
    apply(authorizers) {
      const next = JSON.stringify(authorizers);
      changed = next !== last;
      if (!changed) return;
      last = next;
      chain.replace(authorizers);
    },
    succeeded(text) {
      if (!changed) return;
      log.info('Reloaded the authorization configuration', { file });
      metrics.succeeded(text);
    },
    failed: () => metrics.failed(),
    log,
    stopping,
    reloads,
  });
}
