import { FieldPath } from '../../../machinery/field-error.js';
import { warningsForCidr } from '../../../machinery/validation/ip.js';
import type { KindDefinition } from '../../../registry/kind.js';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../../registry/columns.js';
import type { NetworkPolicy } from '../../../schema/generated/networking.v1.js';
import { selectorCell } from '../../core/pod/template-strategy.js';
import { peersOf, validateNetworkPolicy, validateNetworkPolicyUpdate } from './validation.js';

export const networkPolicies: KindDefinition<NetworkPolicy> = {
  group: 'networking.k8s.io',
  kind: 'NetworkPolicy',
  plural: 'networkpolicies',
  singular: 'networkpolicy',
  shortNames: ['netpol'],
  namespaced: true,
  versions: [{ version: 'v1', defaults: setDefaults }],
  storageVersion: 'v1',
  strategy: {
    metadataRules: { placedOnUpdate: true },
    hasGeneration: true,
    emptyIsChange: true,
    validate: (object, { features }) => validateNetworkPolicy(object, features),
    validateUpdate: (object, old, { features }, metadata) =>
      validateNetworkPolicyUpdate(object, old, features, metadata),
    warningsOnCreate: cidrWarnings,
    warningsOnUpdate: cidrWarnings,
  },
  table: {
    columns: [NAME_COLUMN, column('Pod-Selector', 'The pods the policy is for.'), AGE_COLUMN],
    row: (object, now) => [object.metadata.name ?? '', selectorCell(object.spec.podSelector), ageCell(object, now)],
  },
};

function setDefaults({ spec }: NetworkPolicy): void {
  for (const rule of [...(spec.ingress ?? []), ...(spec.egress ?? [])]) {
    for (const port of rule.ports ?? []) port.protocol ??= 'TCP';
  }
  if ((spec.policyTypes ?? []).length > 0) return;
  spec.policyTypes = (spec.egress ?? []).length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];
}

function cidrWarnings(object: Readonly<NetworkPolicy>): string[] {
  return peersOf(object, FieldPath.of('spec')).flatMap(({ peer: { ipBlock }, path }) => {
    if (ipBlock === undefined) return [];
    const at = path.child('ipBlock');
    return [
      ...warningsForCidr(at.child('cidr'), ipBlock.cidr),
      ...(ipBlock.except ?? []).flatMap((cidr, position) => warningsForCidr(at.child('except').index(position), cidr)),
    ];
  });
}
