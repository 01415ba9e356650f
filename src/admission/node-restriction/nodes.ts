// What a kubelet may do to nodes: write its own, but not what decides which pods come to it.
import { deepEqual } from '../../lib/values/deep-equal.js';
import { goQuote } from '../../lib/go/quote.js';
import type { Node } from '../../schema/generated/core.v1.js';
import { forbid } from '../forbid.js';
import type { AdmissionAttributes } from '../plugin.js';

export function restrictNode(node: string, attributes: AdmissionAttributes): void {
  const { operation, name, object, old } = attributes;
  const who = `node ${goQuote(node)}`;
  if (name !== node) throw forbid(attributes, `${who} is not allowed to modify node ${goQuote(name)}`);
  if (operation === 'CREATE') {
    const { metadata, spec } = object as Node;
    if (spec.configSource !== undefined) {
      throw forbid(attributes, `${who} is not allowed to create pods with a non-nil configSource`);
    }
    const labels = forbiddenLabels(metadata.labels ?? {}, {});
    if (labels.length === 0) return;
    throw forbid(attributes, `${who} is not allowed to set the following labels: ${labels.join(', ')}`);
  }
  if (operation !== 'UPDATE') return;
  const { metadata, spec } = object as Node;
  const before = old as Node;
  if (spec.configSource !== undefined && !deepEqual(spec.configSource, before.spec.configSource)) {
    throw forbid(attributes, `${who} is not allowed to update configSource to a new non-nil configSource`);
  }
  if (!deepEqual(spec.taints, before.spec.taints)) throw forbid(attributes, `${who} is not allowed to modify taints`);
  if (!deepEqual(metadata.ownerReferences, before.metadata.ownerReferences)) {
    throw forbid(attributes, `${who} is not allowed to modify ownerReferences`);
  }
  const labels = forbiddenLabels(metadata.labels ?? {}, before.metadata.labels ?? {});
  if (labels.length > 0) throw forbid(attributes, `is not allowed to modify labels: ${labels.join(', ')}`);
}

type Labels = Readonly<Record<string, string>>;

/** Labels of Kubernetes' own domains that kubelets report about themselves. */
const KUBELET_LABELS: ReadonlySet<string> = new Set([
  'kubernetes.io/hostname',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'beta.kubernetes.io/instance-type',
  'node.kubernetes.io/instance-type',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
]);
const KUBELET_DOMAINS = ['kubelet.kubernetes.io', 'node.kubernetes.io'];
const KUBERNETES_DOMAINS = ['kubernetes.io', 'k8s.io'];
const RESTRICTED_DOMAIN = 'node-restriction.kubernetes.io';

/** Changed labels that others rely on, because no kubelet can set them. */
function forbiddenLabels(now: Labels, before: Labels): readonly string[] {
  const keys = new Set([...Object.keys(now), ...Object.keys(before)]);
  return [...keys].filter((key) => now[key] !== before[key] && isForbidden(key)).sort();
}

function isForbidden(key: string): boolean {
  const slash = key.indexOf('/');
  const domain = slash < 0 ? '' : key.slice(0, slash);
  const within = (parent: string): boolean => domain === parent || domain.endsWith(`.${parent}`);
  if (within(RESTRICTED_DOMAIN)) return true;
  return KUBERNETES_DOMAINS.some(within) && !KUBELET_LABELS.has(key) && !KUBELET_DOMAINS.some(within);
}
