import { FieldPath } from '../../../machinery/field-error.js';
import { warningsForIp } from '../../../machinery/validation/ip.js';
import type { KindDefinition } from '../../../registry/kind.js';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../../registry/columns.js';
import type { Ingress } from '../../../schema/generated/networking.v1.js';
import { loadBalancerCell } from '../../core/service/columns.js';
import { CLASS_ANNOTATION, validateIngress, validateIngressStatus, validateIngressUpdate } from './validation.js';

const SHOWN_HOSTS = 3;

export const ingresses: KindDefinition<Ingress> = {
  group: 'networking.k8s.io',
  kind: 'Ingress',
  plural: 'ingresses',
  singular: 'ingress',
  shortNames: ['ing'],
  namespaced: true,
  storage: { keyPrefix: 'ingress' },
  versions: [{ version: 'v1' }],
  storageVersion: 'v1',
  strategy: {
    metadataRules: { placedOnUpdate: true },
    hasStatus: true,
    prepareForCreate: (object) => {
      object.status = { loadBalancer: {} };
    },
    validate: (object, { features }) => validateIngress(object, features),
    validateUpdate: (object, old, { features }, { whole, change }) => [
      ...change,
      ...whole,
      ...validateIngressUpdate(object, old, features),
    ],
    warningsOnCreate: classWarnings,
    status: {
      validateUpdate: (object, old, { features }) => validateIngressStatus(object, old, features),
      warningsOnUpdate: statusWarnings,
    },
    resetFields: { '': [['status']], status: [['spec']] },
  },
  subresources: { status: { kind: 'Ingress', verbs: ['get', 'patch', 'update'] } },
  table: {
    columns: [
      NAME_COLUMN,
      column('Class', 'The name of the IngressClass resource that should be used for additional configuration'),
      column('Hosts', 'Hosts that incoming requests are matched against before the ingress rule'),
      column('Address', 'Address is a list containing ingress points for the load-balancer'),
      column('Ports', 'Ports of TLS configurations that open'),
      AGE_COLUMN,
    ],
    row: (object, now) => [
      object.metadata.name ?? '',
      object.spec.ingressClassName ?? '<none>',
      hostsCell(object),
      loadBalancerCell(object.status.loadBalancer),
      (object.spec.tls ?? []).length > 0 ? '80, 443' : '80',
      ageCell(object, now),
    ],
  },
};

function classWarnings({ metadata, spec }: Readonly<Ingress>): string[] {
  if (metadata.annotations?.[CLASS_ANNOTATION] === undefined || spec.ingressClassName !== undefined) return [];
  return [`annotation "${CLASS_ANNOTATION}" is deprecated, please use 'spec.ingressClassName' instead`];
}

function statusWarnings({ status }: Readonly<Ingress>): string[] {
  const path = FieldPath.of('status', 'loadBalancer', 'ingress');
  return (status.loadBalancer.ingress ?? []).flatMap(({ ip }, position) =>
    ip ? warningsForIp(path.index(position), ip) : [],
  );
}

/** The first hosts; `*` when the rules name none. Rules without a host count among those not shown. */
function hostsCell({ spec }: Readonly<Ingress>): string {
  const rules = spec.rules ?? [];
  const shown: string[] = [];
  for (const [position, { host }] of rules.entries()) {
    if (host) shown.push(host);
    if (shown.length < SHOWN_HOSTS) continue;
    const more = position < rules.length - 1 ? ` + ${rules.length - SHOWN_HOSTS} more...` : '';
    return shown.join(',') + more;
  }
  return shown.length === 0 ? '*' : shown.join(',');
}
