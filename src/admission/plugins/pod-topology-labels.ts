import { whenReady } from '../../lib/async/maybe-promise.js';
import type { KubeObject } from '../../machinery/object.js';
import type { Binding, Pod } from '../../schema/generated/core.v1.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../plugin.js';

const NODES = { group: '', resource: 'nodes' };
const COPIED = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region'];

/** Tells a pod where its node stands, by copying the labels of zone and region. */
export const podTopologyLabels: AdmissionPlugin = {
  name: 'PodTopologyLabels',
  handles: (operation) => operation === 'CREATE',
  admit(attributes) {
    const { object, context } = attributes;
    const nodeName = nodeNameOf(attributes);
    if (nodeName === '' || object === undefined || !context.features.enabled('PodTopologyLabelsAdmission')) return;
    return whenReady(context.lookup.get(NODES, '', nodeName), (node) => {
      if (node !== undefined) copyLabels(node, object);
    });
  },
};

function nodeNameOf({ resource, subresource, object }: AdmissionAttributes): string {
  if (resource.group !== '' || resource.resource !== 'pods') return '';
  if (subresource === '') return (object as Pod).spec?.nodeName ?? '';
  if (subresource !== 'binding') return '';
  const { target } = object as Binding;
  return target.kind === 'Node' ? (target.name ?? '') : '';
}

function copyLabels(node: Readonly<KubeObject>, object: KubeObject): void {
  for (const label of COPIED) {
    const value = node.metadata.labels?.[label];
    if (value !== undefined) object.metadata.labels = { ...object.metadata.labels, [label]: value };
  }
}
