import { notFound } from '../../machinery/status.js';
import type { AdmissionPlugin } from '../plugin.js';

const NAMESPACES = { group: '', resource: 'namespaces' };

/** Refuses everything in a namespace that is not there. */
export const namespaceExists: AdmissionPlugin = {
  name: 'NamespaceExists',
  handles: (operation) => operation !== 'CONNECT',
  async validate({ kind, namespace, context }) {
    if (namespace === '' || (kind.group === '' && kind.kind === 'Namespace')) return;
    if ((await context.lookup.get(NAMESPACES, '', namespace)) === undefined) throw notFound(NAMESPACES, namespace);
  },
};
