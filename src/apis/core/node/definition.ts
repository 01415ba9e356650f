import { append } from '../../../lib/values/append.js';
import { FieldPath } from '../../../machinery/field-error.js';
import { warningsForCidr } from '../../../machinery/validation/ip.js';
import { dropGatedFields, gated, gatedAlways } from '../../../registry/gated-fields.js';
import type { KindDefinition } from '../../../registry/kind.js';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN, wideColumn } from '../../../registry/columns.js';
import type { Node } from '../../../schema/generated/core.v1.js';
import { roundResources } from '../shared/resource-list.js';
import { validateNode, validateNodeUpdate } from './validation.js';

const ROLE_PREFIX = 'node-role.kubernetes.io/';
const ROLE_LABEL = 'kubernetes.io/role';

const GATED = [
  gatedAlways<Node>(['RecursiveReadOnlyMounts', 'UserNamespacesSupport'], 'status.runtimeHandlers'),
  gated<Node>('SupplementalGroupsPolicy', 'status.features'),
];

export const nodes: KindDefinition<Node> = {
  group: '',
  kind: 'Node',
  plural: 'nodes',
  singular: 'node',
  shortNames: ['no'],
  namespaced: false,
  storage: { keyPrefix: 'minions' },
  versions: [{ version: 'v1', defaults: setDefaults }],
  storageVersion: 'v1',
  strategy: {
    metadataRules: { placedOnUpdate: true },
    // A node is created with its status: its agent registers it whole.
    prepareForCreate: (object, { features }) => {
      delete object.spec.configSource;
      delete object.status.config;
      dropGatedFields(GATED, object, undefined, features);
    },
    prepareForUpdate: (object, old, { features }) => {
      object.status = old.status;
      if (old.spec.configSource === undefined) delete object.spec.configSource;
      dropGatedFields(GATED, object, old, features);
    },
    validate: (object, { features }) => validateNode(object, features),
    validateUpdate: (object, old, { features }, { whole, change }) => [
      ...whole,
      ...validateNode(object, features),
      ...change,
      ...validateNodeUpdate(object, old),
    ],
    warningsOnCreate: nodeWarnings,
    warningsOnUpdate: nodeWarnings,
    status: {
      prepareForUpdate: (object, old) => {
        if (old.status.config === undefined) delete object.status.config;
      },
      validateUpdate: validateNodeUpdate,
    },
    resetFields: { '': [['status']], status: [['spec']] },
  },
  subresources: {
    status: { kind: 'Node', verbs: ['get', 'patch', 'update'] },
    proxy: {
      kind: 'NodeProxyOptions',
      verbs: ['create', 'delete', 'get', 'patch', 'update'],
      connect: 'nodes/proxy',
    },
  },
  table: {
    columns: [
      NAME_COLUMN,
      column('Status', 'The status of the node'),
      column('Roles', 'The roles of the node'),
      AGE_COLUMN,
      column('Version', 'The version of its agent.'),
      wideColumn('Internal-IP', 'Its address inside the cluster.'),
      wideColumn('External-IP', 'Its address outside the cluster.'),
      wideColumn('OS-Image', 'Its operating system.'),
      wideColumn('Kernel-Version', 'The version of its kernel.'),
      wideColumn('Container-Runtime', 'What runs its containers.'),
    ],
    row: (object, now) => {
      const info = object.status.nodeInfo;
      return [
        object.metadata.name ?? '',
        statusCell(object),
        rolesCell(object),
        ageCell(object, now),
        info.kubeletVersion,
        addressCell(object, 'InternalIP'),
        addressCell(object, 'ExternalIP'),
        info.osImage || '<unknown>',
        info.kernelVersion || '<unknown>',
        info.containerRuntimeVersion || '<unknown>',
      ];
    },
  },
  selection: { fields: ({ spec }) => ({ 'spec.unschedulable': String(spec.unschedulable ?? false) }) },
};

function setDefaults({ spec, status }: Node): void {
  // The singular is what older clients know, and wins when the two differ.
  if (spec.podCIDR && spec.podCIDRs?.[0] !== spec.podCIDR) spec.podCIDRs = [spec.podCIDR];
  else if (spec.podCIDRs?.[0]) spec.podCIDR = spec.podCIDRs[0];
  roundResources(status.capacity);
  if (status.allocatable === undefined && status.capacity !== undefined) status.allocatable = { ...status.capacity };
  else roundResources(status.allocatable);
}

function nodeWarnings({ spec }: Readonly<Node>): string[] {
  const warnings: string[] = [];
  if (spec.configSource !== undefined) warnings.push('spec.configSource: the feature is removed');
  if (spec.externalID) {
    warnings.push('spec.externalID: this field is deprecated, and is unused by Kubernetes');
  }
  for (const [position, cidr] of (spec.podCIDRs ?? []).entries()) {
    append(warnings, warningsForCidr(FieldPath.of('spec', 'podCIDRs').index(position), cidr));
  }
  return warnings;
}

function statusCell({ spec, status }: Readonly<Node>): string {
  const ready = (status.conditions ?? []).findLast(({ type }) => type === 'Ready');
  const state = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady';
  return spec.unschedulable ? `${state},SchedulingDisabled` : state;
}

function rolesCell({ metadata }: Readonly<Node>): string {
  const roles = new Set<string>();
  for (const [label, value] of Object.entries(metadata.labels ?? {})) {
    if (label.startsWith(ROLE_PREFIX) && label.length > ROLE_PREFIX.length) roles.add(label.slice(ROLE_PREFIX.length));
    else if (label === ROLE_LABEL && value !== '') roles.add(value);
  }
  return [...roles].sort().join(',') || '<none>';
}

const addressCell = ({ status }: Readonly<Node>, type: string): string =>
  (status.addresses ?? []).find((address) => address.type === type)?.address ?? '<none>';
