import { StatusError } from '../../machinery/status.js';
import type { Namespace } from '../../schema/generated/core.v1.js';
import { forbid } from '../forbid.js';
import type { AdmissionPlugin } from '../plugin.js';

const NAMESPACES = { group: '', resource: 'namespaces' };

/** Makes the namespace something is created in, when it is missing. */
export const namespaceAutoProvision: AdmissionPlugin = {
  name: 'NamespaceAutoProvision',
  handles: (operation) => operation === 'CREATE',
  async admit(attributes) {
    const { kind, namespace, context, operations } = attributes;
    if (context.dryRun || namespace === '' || (kind.group === '' && kind.kind === 'Namespace')) return;
    if ((await context.lookup.get(NAMESPACES, '', namespace)) !== undefined) return;
    const made: Namespace = {
      kind: 'Namespace',
      apiVersion: 'v1',
      metadata: { name: namespace, labels: { 'kubernetes.io/metadata.name': namespace } },
      spec: {},
      status: {},
    };
    try {
      await operations.create(NAMESPACES, '', made, context);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      // Somebody else may have been faster; that is as good.
      if (error.reason !== 'AlreadyExists') throw forbid(attributes, error.message);
    }
  },
};
