import { append } from '../../lib/values/append.js';
import { RE2JS } from 're2js';
import { errorText } from '../../lib/text/error-text.js';
import { emulationErrors } from '../emulation.js';
import { RELEASE } from '../../machinery/names.js';
import type { Options } from '../options.js';

export function genericErrors({ generic, emulatedVersion, minCompatibleVersion }: Options): string[] {
  const errors: string[] = [];
  if (generic.livezGracePeriodMs < 0) errors.push('--livez-grace-period can not be a negative value');
  if (generic.maxRequestsInflight < 0) errors.push('--max-requests-inflight can not be negative value');
  if (generic.maxMutatingRequestsInflight < 0)
    errors.push('--max-mutating-requests-inflight can not be negative value');
  if (generic.requestTimeoutMs < 0) errors.push('--request-timeout can not be negative value');
  if (generic.goawayChance < 0 || generic.goawayChance > 0.02) {
    errors.push('--goaway-chance can not be less than 0 or greater than 0.02');
  }
  if (generic.minRequestTimeout < 0) errors.push('--min-request-timeout can not be negative value');
  if (generic.storageInitializationTimeoutMs < 0) {
    errors.push('--storage-initialization-timeout can not be negative value');
  }
  if (generic.shutdownDelayDurationMs < 0) errors.push('--shutdown-delay-duration can not be negative value');
  if (generic.shutdownWatchTerminationGracePeriodMs < 0) {
    errors.push('shutdown-watch-termination-grace-period, if provided, can not be a negative value');
  }
  for (const directive of generic.strictTransportSecurityDirectives) append(errors, hstsErrors(directive));
  for (const origin of generic.corsAllowedOrigins) append(errors, corsErrors(origin));
  append(errors, emulationErrors(emulatedVersion, minCompatibleVersion));
  const emulating = emulatedVersion.major !== RELEASE.major || emulatedVersion.minor !== RELEASE.minor;
  for (const [name, on] of [
    ['EmulationForwardCompatible', generic.emulationForwardCompatible],
    ['RuntimeConfigEmulationForwardCompatible', generic.runtimeConfigEmulationForwardCompatible],
  ] as const) {
    if (on && !emulating) {
      errors.push(
        `ServerRunOptions.${name} cannot be set to true if the emulation version is the same as the binary version`,
      );
    }
  }
  return errors;
}

function hstsErrors(directive: string): string[] {
  if (directive.trim() === '') return ['empty value in strict-transport-security-directives'];
  if (directive === 'includeSubDomains' || directive === 'preload' || /^max-age=[^=]*$/.test(directive)) return [];
  return [
    '--strict-transport-security-directives invalid, allowed values: max-age=expireTime, includeSubDomains, preload. see https://tools.ietf.org/html/rfc6797#section-6.1 for more information',
  ];
}

/** The advice that ends every message about an origin. */
const CORS_ADVICE =
  "help: List of allowed origins for CORS, comma separated. An allowed origin can be a regular expression to support subdomain matching. If this list is empty CORS will not be enabled. Please ensure each expression matches the entire hostname by anchoring to the start with '^' or including the '//' prefix, and by anchoring to the end with '$' or including the ':' port separator suffix. Examples of valid expressions are '//example\\.com(:|$)' and '^https://example\\.com(:|$)'";

function corsErrors(origin: string): string[] {
  if (origin === '') return [`empty value in --cors-allowed-origins, ${CORS_ADVICE}`];
  const why = regularExpressionMistake(origin);
  return why === undefined ? [] : [`--cors-allowed-origins has an invalid regular expression: ${why}, ${CORS_ADVICE}`];
}

function regularExpressionMistake(source: string): string | undefined {
  try {
    RE2JS.compile(source);
  } catch (error) {
    return errorText(error);
  }
  const held = /\^|\/\//.test(source) && /[$:]/.test(source);
  return held ? undefined : 'regular expression does not pin to start/end of host in the origin header';
}
