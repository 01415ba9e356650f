import { whenReady } from '../../lib/async/maybe-promise.js';
import type { KubeObject } from '../../machinery/object.js';
import type { Binding, Pod } from '../../schema/generated/core.v1.js';
import type { GroupResource } from '../../machinery/status.js';
import { onlyWhere } from '../forbid.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../plugin.js';

const NODES = { group: '', resource: 'nodes' };
const COPIED = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region'];

/** Tells a pod where its node stands, by copying the labels of zone and region. */
export const podTopologyLabels: AdmissionPlugin = {
  name: 'PodTopologyLabels',
  handles: (operation) => operation === 'CREATE',
  admit: onlyWhere(namesNode, (attributes) => {
    const { object, context } = attributes;
    const nodeName = nodeNameOf(attributes);
    if (nodeName === '' || object === undefined || !context.features.enabled('PodTopologyLabelsAdmission')) return;
    return whenReady(context.lookup.get(NODES, '', nodeName), (node) => {
      if (node !== undefined) copyLabels(node, object);
    });
  }),
};

function namesNode({ group, resource }: GroupResource, subresource: string): boolean {
  return group === '' && resource === 'pods' && (subresource === '' || subresource === 'binding');
}

function nodeNameOf({ subresource, object }: AdmissionAttributes): string {
  if (subresource === '') return (object as Pod).spec?.nodeName ?? '';
  const { target } = object as Binding;
  return target.kind === 'Node' ? (target.name ?? '') : '';
}

function copyLabels(node: Readonly<KubeObject>, object: KubeObject): void {
  for (const label of COPIED) {
    const value = node.metadata.labels?.[label];
    if (value !== undefined) object.metadata.labels = { ...object.metadata.labels, [label]: value };
  }
}
