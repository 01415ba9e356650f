import { AGE_COLUMN, ageCell, column, labelsCell, NAME_COLUMN, wideColumn } from '../../../registry/columns.js';
import type { Cell, Column } from '../../../registry/kind.js';
import type { LoadBalancerStatus, Service, ServicePort } from '../../../schema/generated/core.v1.js';

export const serviceColumns: readonly Column[] = [
  NAME_COLUMN,
  column('Type', 'How the service is reached.'),
  column('Cluster-IP', 'Its address inside the cluster.'),
  column('External-IP', 'Its addresses outside the cluster.'),
  column('Port(s)', 'The ports it takes traffic at, with their node ports.'),
  AGE_COLUMN,
  wideColumn('Selector', 'The labels of the pods behind it.'),
];

export function serviceRow(object: Readonly<Service>, now: Date): readonly Cell[] {
  const { spec } = object;
  return [
    object.metadata.name ?? '',
    spec.type ?? '',
    spec.clusterIPs?.[0] ?? '<none>',
    externalIpCell(object),
    (spec.ports ?? []).map(portText).join(',') || '<none>',
    ageCell(object, now),
    labelsCell(spec.selector),
  ];
}

/** The points of a load balancer, each once, in order. */
export function loadBalancerCell({ ingress = [] }: Readonly<LoadBalancerStatus>): string {
  const points = ingress.map(({ ip, hostname }) => ip || hostname || '').filter((point) => point !== '');
  return [...new Set(points)].sort().join(',');
}

function externalIpCell({ spec, status }: Readonly<Service>): string {
  const external = (spec.externalIPs ?? []).join(',');
  switch (spec.type) {
    case 'ClusterIP':
    case 'NodePort':
      return external || '<none>';
    case 'LoadBalancer': {
      const points = loadBalancerCell(status.loadBalancer);
      return [points, external].filter((part) => part !== '').join(',') || '<pending>';
    }
    case 'ExternalName':
      return spec.externalName ?? '';
    default:
      return '<unknown>';
  }
}

const portText = ({ port, nodePort = 0, protocol = '' }: Readonly<ServicePort>): string =>
  nodePort > 0 ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`;
