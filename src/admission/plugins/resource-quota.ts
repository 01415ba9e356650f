import { whenReady } from '../../lib/async/maybe-promise.js';
import type { AdmissionPlugin } from '../plugin.js';
import { evaluatorFor } from '../quota/evaluators.js';
import type { LimitedResource } from '../quota/limited.js';
import { QuotaLedger, RESOURCE_QUOTAS } from '../quota/ledger.js';

/** Refuses what a namespace has no room for, and counts what it admits. */
export function resourceQuota(limited: readonly LimitedResource[] = []): AdmissionPlugin {
  const ledger = new QuotaLedger(limited);
  return {
    name: 'ResourceQuota',
    handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
    // hot: runs on every write; most namespaces have no quota.
    validate(attributes) {
      const { namespace, kind, operation } = attributes;
      if (namespace === '') return undefined;
      if (operation === 'CREATE' && kind.group === '' && kind.kind === 'Namespace') return undefined;
      const evaluator = evaluatorFor(attributes.resource, attributes.context.features);
      if (evaluator === undefined || !evaluator.handles(attributes)) return undefined;
      return whenReady(attributes.context.lookup.list(RESOURCE_QUOTAS, namespace), (quotas) =>
        quotas.length === 0 && limited.length === 0 ? undefined : ledger.charge(attributes, evaluator),
      );
    },
  };
}
