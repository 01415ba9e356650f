import type { EventLimit, LimitType } from '../../admission/plugins/event-rate-limit.js';
import {
  aggregateText,
  type FieldErrors,
  fieldErrorText,
  FieldPath,
  invalid,
  notSupported,
} from '../../machinery/field-error.js';
import type { Configuration } from '../../schema/generated/eventratelimit.v1alpha1.js';
import { ConfigError } from '../config-error.js';
import { decodeConfig } from '../decode-config.js';

const TYPES: readonly string[] = ['Server', 'Namespace', 'User', 'SourceAndObject'] satisfies readonly LimitType[];
const DEFAULT_CACHE_SIZE = 4096;

/** Without a text there are no limits, which is refused as well. Throws a ConfigError. */
export function eventLimits(text: string | undefined): readonly EventLimit[] {
  const given = text === undefined ? undefined : limitsIn(text);
  const limits = given ?? [];
  const path = FieldPath.of('limits');
  const errors: FieldErrors = limits.length === 0 ? [invalid(path, given ?? null, 'must not be empty')] : [];
  for (const [index, { type, burst, qps, cacheSize = 0 }] of limits.entries()) {
    const at = path.index(index);
    if (!TYPES.includes(type)) errors.push(notSupported(at.child('type'), type, TYPES));
    if (burst <= 0) errors.push(invalid(at.child('burst'), burst, 'must be positive'));
    if (qps <= 0) errors.push(invalid(at.child('qps'), qps, 'must be positive'));
    if (type !== 'Server' && cacheSize < 0) {
      errors.push(invalid(at.child('cacheSize'), cacheSize, 'must not be negative'));
    }
  }
  if (errors.length > 0) throw new ConfigError(aggregateText(errors.map(fieldErrorText)));
  return limits.map(({ type, burst, qps, cacheSize }) => ({
    type: type as LimitType,
    qps,
    burst,
    cacheSize: cacheSize || DEFAULT_CACHE_SIZE,
  }));
}

function limitsIn(text: string): Configuration['limits'] | undefined {
  const { object } = decodeConfig(text, {
    kinds: [{ kind: 'Configuration', apiVersions: ['eventratelimit.admission.k8s.io/v1alpha1'] }],
    scheme: 'pkg/admission/eventratelimit/config.go:31',
    lenient: true,
  });
  return (object as Partial<Configuration>).limits;
}
