// JWTs of configured issuers: from the file or the flags to what judges tokens, and again when the file changes.
// Loaded only where one of them is configured: it brings the engine of expressions with it.
import type { TokenAuthenticator } from '../../authn/authenticator.js';
import type { AnonymousOptions } from '../../authn/create-authenticator.js';
import { createFetchDocument } from '../../authn/jwt/fetch-document.js';
import { SIGNING_ALGORITHMS } from '../../authn/jwt/verify-signature.js';
import { createJwtTokens, type JwtTokens } from '../../authn/jwt/jwt-tokens.js';
import { createJwtMetrics, type JwtMetrics } from '../../authn/jwt/metrics.js';
import { authenticationCompiler } from '../../cel/environments/authentication.js';
import type { CompiledAuthenticator } from '../../config/authentication/compiled.js';
import { authenticationOfFlags, decodeAuthentication, readAuthentication } from '../../config/authentication/load.js';
import { validateAuthentication, validateAuthenticator } from '../../config/authentication/validate.js';
import type { ValidationContext } from '../../config/authentication/validation-context.js';
import { ConfigError } from '../../config/config-error.js';
import { loadEgress } from '../../config/egress/load.js';
import { reloadMetrics } from '../../config/reload-metrics.js';
import { reloadOnChange } from '../../config/reload.js';
import { systemClock } from '../../lib/async/clock.js';
import { withTimeout } from '../../lib/async/with-timeout.js';
import { deepEqual } from '../../lib/values/deep-equal.js';
import { goQuote } from '../../lib/go/quote.js';
import type { ReloadRequests } from '../../lib/files/reload-requests.js';
import type { Logger } from '../../lib/telemetry/log.js';
import type { MetricRegistry } from '../../lib/telemetry/metrics.js';
import { FieldPath, aggregateText, fieldErrorText, forbidden, type FieldErrors } from '../../machinery/field-error.js';
import type { Options } from '../../options/options.js';
import { directDialer } from '../../outbound/dialer.js';
import { HttpClient } from '../../outbound/http-client.js';
import type { AuthenticationConfiguration } from '../../schema/generated/apiserverconfig.v1.js';
import type { Dialers } from '../outgoing/dialers.js';

export interface JwtAuthentication {
  readonly tokens: TokenAuthenticator;
  /** What the file says of anonymous requests; undefined when it leaves them to the flag. */
  readonly anonymous?: AnonymousOptions;
}

export interface JwtAuthenticationParts {
  readonly dialers: Dialers;
  readonly metrics: MetricRegistry;
  /** Names this server in metrics. */
  readonly serverId: string;
  readonly stopping: AbortSignal;
  readonly reloads: ReloadRequests;
  readonly log: Logger;
}

/** What is wrong with the file or the flags; met before the server is built. */
export function authenticationConfigError(options: Options): string | undefined {
  return mistakeOf(() => void loadInitial(options));
}

/** What is wrong with an issuer beside the configuration itself, in the order its parts are built. */
export function jwtBuildError(options: Options): string | undefined {
  return mistakeOf(() => {
    const { jwt } = loadInitial(options).configuration;
    const context = contextOf(options, options.authentication.serviceAccountIssuer);
    for (const one of jwt ?? []) {
      const { errors, authenticator } = validateAuthenticator(one, undefined, context);
      if (errors.length > 0) throw new ConfigError(textOf(errors));
      const unknown = algorithmsOf(options).find((name) => !SIGNING_ALGORITHMS.includes(name));
      if (unknown !== undefined) throw new ConfigError(`oidc: unsupported signing alg: ${goQuote(unknown)}`);
      const { egressSelectorType: egress } = authenticator.issuer;
      if (egress !== '') checkEgress(options, egress);
    }
  });
}

/** An issuer that names an egress must have it configured: a direct connection is not what it specifies. */
function checkEgress({ egressSelector }: Options, egress: 'controlplane' | 'cluster'): void {
  const { egressSelectorConfigFile: file } = egressSelector;
  if (file === '') throw new ConfigError(`oidc: egress lookup required with egress selector type ${goQuote(egress)}`);
  if ((loadEgress(file).egressSelections ?? []).some(({ name }) => name === egress)) return;
  throw new ConfigError(`oidc: egress lookup for ${goQuote(egress)} is not configured`);
}

export function buildJwtAuthentication(options: Options, parts: JwtAuthenticationParts): JwtAuthentication {
  const { configuration, text } = loadInitial(options);
  const context = contextOf(options, options.authentication.serviceAccountIssuer);
  const metrics = createJwtMetrics(parts.metrics);
  const begin = (authenticators: readonly CompiledAuthenticator[]): Running =>
    start(authenticators, algorithmsOf(options), metrics, parts);
  let running = begin(validateAuthentication(configuration, context).authenticators);
  const file = options.authentication.authenticationConfig;
  if (file !== '') {
    followFile({
      file,
      text,
      context,
      initial: configuration,
      parts,
      apply: async (authenticators) => {
        const next = begin(authenticators);
        await ready(next);
        const old = running;
        running = next;
        // Requests that are with the old issuers may still need them for a while.
        systemClock.after(LINGER_MS, old.stop);
      },
    });
  }
  return {
    tokens: { authenticateToken: (token, audiences) => running.tokens.authenticateToken(token, audiences) },
    ...(configuration.anonymous && {
      anonymous: {
        enabled: configuration.anonymous.enabled,
        paths: (configuration.anonymous.conditions ?? []).map(({ path }) => path),
      },
    }),
  };
}

interface Loaded {
  readonly configuration: AuthenticationConfiguration;
  /** The file's text; empty for flags. */
  readonly text: string;
}

function loadInitial(options: Options): Loaded {
  const { authentication, setFlags } = options;
  const { authenticationConfig: file } = authentication;
  const loaded =
    file === '' ? { configuration: authenticationOfFlags(authentication), text: '' } : readAuthentication(file);
  if (loaded.configuration.anonymous && setFlags.has('anonymous-auth')) {
    const why =
      '--anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file';
    throw new ConfigError(textOf([forbidden(FieldPath.of('anonymous'), why)]));
  }
  // The issuers of service-account tokens are looked at only when the authenticators are built.
  const { errors } = validateAuthentication(loaded.configuration, contextOf(options, []));
  if (errors.length > 0) throw new ConfigError(`invalid authentication configuration: ${textOf(errors)}`);
  return loaded;
}

/** All of them in a file; flags say which. */
const algorithmsOf = ({ authentication }: Options): readonly string[] =>
  authentication.authenticationConfig !== '' ? SIGNING_ALGORITHMS : authentication.oidcSigningAlgs;

const contextOf = (options: Options, disallowedIssuers: readonly string[]): ValidationContext => ({
  compiler: authenticationCompiler({
    compatibility: options.minCompatibleVersion,
    features: options.featureGates as ValidationContext['features'] & typeof options.featureGates,
  }),
  features: options.featureGates,
  disallowedIssuers,
});

const textOf = (errors: FieldErrors): string => aggregateText(errors.map(fieldErrorText));

interface Running {
  readonly tokens: JwtTokens;
  readonly stop: () => void;
}

function start(
  authenticators: readonly CompiledAuthenticator[],
  algorithms: readonly string[],
  metrics: JwtMetrics,
  { dialers, stopping, log }: JwtAuthenticationParts,
): Running {
  const ended = new AbortController();
  const signal = AbortSignal.any([stopping, ended.signal]);
  const clients: HttpClient[] = [];
  const issuers = authenticators.map(({ issuer, mappings }) => {
    const { certificateAuthority: ca, egressSelectorType: egress } = issuer;
    const client = new HttpClient({
      // Connects directly unless the issuer names an egress, whatever the other parts of the server use.
      dialer: egress === '' ? directDialer : (dialers.configured.get(egress) ?? directDialer),
      tls: () => (ca === '' ? {} : { ca }),
    });
    clients.push(client);
    return { issuer, mappings, fetch: createFetchDocument(client, signal) };
  });
  const tokens = createJwtTokens({
    issuers,
    algorithms,
    clock: systemClock,
    metrics,
    signal,
    log,
  });
  const stop = (): void => {
    ended.abort();
    for (const client of clients) client.close();
  };
  return { tokens, stop };
}

/** How long new issuers may take to be found before the old ones stay. */
const READY_TIMEOUT_MS = 60_000;
const LINGER_MS = 60_000;

async function ready({ tokens, stop }: Running): Promise<void> {
  const outcome = await withTimeout(tokens.ready, { ms: READY_TIMEOUT_MS, onTimeout: () => 'late' });
  if (outcome !== 'late') return;
  stop();
  throw new ConfigError(aggregateText(tokens.unhealthy()));
}

function followFile(options: {
  readonly file: string;
  readonly text: string;
  readonly context: ValidationContext;
  readonly initial: AuthenticationConfiguration;
  readonly parts: JwtAuthenticationParts;
  readonly apply: (authenticators: readonly CompiledAuthenticator[]) => Promise<void>;
}): void {
  const { file, text, context, initial, parts } = options;
  const metrics = reloadMetrics(parts.metrics, {
    topic: 'authentication',
    serverId: parts.serverId,
    stability: 'BETA',
    nowMs: Date.now,
  });
  metrics.inEffect(text);
  reloadOnChange({
    what: 'authentication configuration',
    file,
    current: text,
    load(changed) {
      const configuration = decodeAuthentication(changed);
      const { errors, authenticators } = validateAuthentication(configuration, context);
      if (!deepEqual(configuration.anonymous, initial.anonymous)) {
        errors.push(forbidden(FieldPath.of('anonymous'), 'changed from initial configuration file'));
      }
      if (errors.length > 0) throw new ConfigError(textOf(errors));
      return authenticators;
    },
    apply: options.apply,
    retryApply: true,
    succeeded(changed) {
      parts.log.info('Reloaded the authentication configuration', { file });
      metrics.succeeded(changed);
    },
    failed: () => metrics.failed(),
    log: parts.log,
    stopping: parts.stopping,
    reloads: parts.reloads,
  });
}

function mistakeOf(check: () => void): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
}
