import { createHash } from 'node:crypto';
import type { MetricRegistry } from '../../lib/telemetry/metrics.js';

export interface JwtMetrics {
  /** Observes the judgements on one issuer's tokens. */
  of(issuer: string): (result: 'success' | 'failure', durationMs: number) => void;
}

const SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function createJwtMetrics(registry: MetricRegistry): JwtMetrics {
  const latency = registry.histogram({
    name: 'apiserver_authentication_jwt_authenticator_latency_seconds',
    help: 'Seconds it took to verify a JWT that was not cached.',
    labels: ['result', 'jwt_issuer_hash'],
    buckets: SECONDS,
    stability: 'ALPHA',
  });
  return {
    of(issuer) {
      const hash = hashLabel(issuer);
      return (result, durationMs) => latency.with(result, hash).observe(durationMs / 1000);
    },
  };
}

/** How metrics name what is too long or too private for a label. */
const hashLabel = (text: string): string =>
  text === '' ? '' : `sha256:${createHash('sha256').update(text).digest('hex')}`;
