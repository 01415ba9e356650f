import type { KindDefinition, Subresource } from '../../../registry/kind.js';
import type { Pod } from '../../../schema/generated/core.v1.js';
import { bindingRules, bindPod } from './binding.js';
import { podColumns, podRow } from './columns.js';
import { defaultPod } from './defaults.js';
import { evictPod } from './eviction.js';
import { ephemeralContainersRules, podStrategy, resizeRules } from './strategy.js';

const connecting = (kind: string, connect: string, verbs: Subresource['verbs']): Subresource<Pod> => ({
  kind,
  verbs,
  connect,
});

export const pods: KindDefinition<Pod> = {
  group: '',
  kind: 'Pod',
  plural: 'pods',
  singular: 'pod',
  shortNames: ['po'],
  categories: ['all'],
  namespaced: true,
  versions: [{ version: 'v1', defaultsBehindGates: defaultPod }],
  storageVersion: 'v1',
  strategy: podStrategy,
  table: {
    columns: podColumns,
    row: podRow,
    rowConditions: ({ status }) => {
      const reason = status.phase ?? '';
      if (reason === 'Succeeded') {
        const message = 'The pod has completed successfully.';
        return [{ type: 'Completed', status: 'True', reason, message }];
      }
      if (reason !== 'Failed') return [];
      return [{ type: 'Completed', status: 'True', reason, message: 'The pod failed.' }];
    },
  },
  selection: {
    fields: ({ spec, status }) => ({
      'spec.nodeName': spec.nodeName ?? '',
      // An older name of the same field, which old clients still send.
      'spec.host': spec.nodeName ?? '',
      'spec.restartPolicy': spec.restartPolicy ?? '',
      'spec.schedulerName': spec.schedulerName ?? '',
      'spec.serviceAccountName': spec.serviceAccountName ?? '',
      'spec.hostNetwork': String(spec.hostNetwork ?? false),
      'status.phase': status.phase ?? '',
      'status.podIP': status.podIPs?.[0]?.ip ?? '',
      // Accepted as a name, but several addresses have no one text to compare with.
      'status.podIPs': '',
      'status.nominatedNodeName': status.nominatedNodeName ?? '',
    }),
    indexedField: 'spec.nodeName',
    textFields: [
      'spec.restartPolicy',
      'spec.schedulerName',
      'spec.serviceAccountName',
      'status.phase',
      'status.nominatedNodeName',
    ],
  },
  subresources: {
    attach: connecting('PodAttachOptions', 'attach', ['create', 'get']),
    binding: { kind: 'Binding', verbs: ['create'], create: bindPod, update: bindingRules },
    ephemeralcontainers: { kind: 'Pod', verbs: ['get', 'patch', 'update'], update: ephemeralContainersRules },
    eviction: {
      group: 'policy',
      version: 'v1',
      alsoVersions: ['v1beta1'],
      kind: 'Eviction',
      verbs: ['create'],
      create: evictPod,
    },
    exec: connecting('PodExecOptions', 'exec', ['create', 'get']),
    log: connecting('Pod', 'log', ['get']),
    portforward: connecting('PodPortForwardOptions', 'portforward', ['create', 'get']),
    proxy: connecting('PodProxyOptions', 'proxy', ['create', 'delete', 'get', 'patch', 'update']),
    resize: { gate: 'InPlacePodVerticalScaling', kind: 'Pod', verbs: ['get', 'patch', 'update'], update: resizeRules },
  },
};
