import { goQuote } from '../../lib/go/quote.js';
import { whenReady } from '../../lib/async/maybe-promise.js';
import { internalError, notFound, StatusError } from '../../machinery/status.js';
import { pathSegmentName } from '../../machinery/validation/names.js';
import type { Namespace } from '../../schema/generated/core.v1.js';
import { forbid } from '../forbid.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../plugin.js';

const NAMESPACES = { group: '', resource: 'namespaces' };
const IMMORTAL = ['default', 'kube-system', 'kube-public'];

/** Nothing is made in a namespace that is not there or is ending; some namespaces never end. */
export const namespaceLifecycle: AdmissionPlugin = {
  name: 'NamespaceLifecycle',
  handles: (operation) => operation !== 'CONNECT',
  // hot: runs on every write; the namespace is nearly always at hand.
  admit(attributes) {
    const { operation, kind, name, namespace, context } = attributes;
    const ofNamespace = kind.group === '' && kind.kind === 'Namespace';
    if (ofNamespace && operation === 'DELETE' && IMMORTAL.includes(name)) {
      throw forbid(attributes, 'this namespace may not be deleted');
    }
    if (ofNamespace || namespace === '' || operation === 'DELETE' || isAccessReview(attributes)) return undefined;
    return whenReady(context.lookup.get(NAMESPACES, '', namespace), (found) => {
      if (found === undefined) throw missing(namespace);
      const { status } = found as Namespace;
      if (operation === 'CREATE' && status?.phase === 'Terminating') throw terminating(attributes);
    });
  },
};

/** kube-apiserver reads a namespace that its cache lacks, and its client refuses to request some names. */
function missing(namespace: string): StatusError {
  const faults = pathSegmentName(namespace, false);
  if (faults.length === 0) return notFound(NAMESPACES, namespace);
  return internalError(`invalid resource name ${goQuote(namespace)}: [${faults.join(' ')}]`);
}

/** An answer about the namespace would reveal whether it exists to those who may not know. */
const isAccessReview = ({ resource }: AdmissionAttributes): boolean =>
  resource.group === 'authorization.k8s.io' && resource.resource === 'localsubjectaccessreviews';

function terminating(attributes: AdmissionAttributes): StatusError {
  const { namespace } = attributes;
  const error = forbid(
    attributes,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
  );
  if (error.details === undefined) return internalError('a refusal without details');
  return new StatusError(error.code, error.reason, error.message, {
    ...error.details,
    causes: [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  });
}
