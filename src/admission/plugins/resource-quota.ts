import type { AdmissionPlugin } from '../plugin.js';
import { evaluatorFor } from '../quota/evaluator.js';
import { QuotaLedger, RESOURCE_QUOTAS } from '../quota/ledger.js';

/** Refuses what a namespace has no room for, and counts what it admits. */
export function resourceQuota(): AdmissionPlugin {
  const ledger = new QuotaLedger();
  return {
    name: 'ResourceQuota',
    handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
    // hot: runs on every write; most namespaces have no quota.
    async validate(attributes) {
      const { namespace, kind, operation, context } = attributes;
      if (namespace === '') return;
      if (operation === 'CREATE' && kind.group === '' && kind.kind === 'Namespace') return;
      const evaluator = evaluatorFor(attributes.resource);
      if (evaluator === undefined || !evaluator.handles(attributes)) return;
      if ((await context.lookup.list(RESOURCE_QUOTAS, namespace)).length === 0) return;
      await ledger.charge(attributes, evaluator);
    },
  };
}
