import type { ResourceList, Service } from '../../schema/generated/core.v1.js';
import type { QuotaEvaluator } from './evaluator.js';

const COUNTED: ReadonlySet<string> = new Set([
  'count/services',
  'services',
  'services.nodeports',
  'services.loadbalancers',
]);

export const serviceEvaluator: QuotaEvaluator = {
  resource: { group: '', resource: 'services' },
  handles: ({ operation, subresource }) => subresource === '' && (operation === 'CREATE' || operation === 'UPDATE'),
  counts: (name) => COUNTED.has(name),
  usage: (object) => usageOf(object as Service),
};

function usageOf({ spec }: Service): ResourceList {
  const balanced = spec?.type === 'LoadBalancer';
  return {
    'count/services': '1',
    services: '1',
    'services.nodeports': String(nodePorts(spec)),
    'services.loadbalancers': balanced ? '1' : '0',
  };
}

function nodePorts(spec: Service['spec']): number {
  const ports = spec?.ports ?? [];
  if (spec?.type === 'NodePort') return ports.length;
  if (spec?.type !== 'LoadBalancer') return 0;
  // Without allocation, node ports that the client chose count all the same.
  return spec.allocateLoadBalancerNodePorts === false ? ports.filter(({ nodePort }) => nodePort).length : ports.length;
}
