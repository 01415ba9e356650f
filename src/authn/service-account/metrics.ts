// How often which kinds of service-account tokens are used, under the names dashboards know.
import type { CounterSeries, MetricRegistry } from '../../lib/telemetry/metrics.js';

export type TokenUse = 'legacy' | 'stale' | 'manual' | 'auto' | 'invalidated' | 'valid';
export type TokenUses = Readonly<Record<TokenUse, Pick<CounterSeries, 'inc'>>>;

export function createTokenUses(registry: MetricRegistry): TokenUses {
  const counter = (name: string, what: string): CounterSeries =>
    registry.counter({ name: `serviceaccount_${name}`, help: `Cumulative ${what} used`, stability: 'ALPHA' }).with();
  return {
    legacy: counter('legacy_tokens_total', 'legacy service account tokens'),
    stale: counter('stale_tokens_total', 'stale projected service account tokens'),
    manual: counter('legacy_manual_token_uses_total', 'manually created legacy tokens'),
    auto: counter('legacy_auto_token_uses_total', 'auto-generated legacy tokens'),
    invalidated: counter('invalid_legacy_auto_token_uses_total', 'invalid auto-generated legacy tokens'),
    valid: counter('valid_tokens_total', 'valid projected service account tokens'),
  };
}
