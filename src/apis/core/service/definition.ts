import { nameIsDns1035Label, nameIsDnsLabel } from '../../../machinery/validation/names.js';
import { dropGatedFields, gated } from '../../../registry/gated-fields.js';
import type { KindDefinition, LifeContext } from '../../../registry/kind.js';
import type { Service } from '../../../schema/generated/core.v1.js';
import { allocateForCreate, allocateForUpdate, releaseAll } from './allocation.js';
import type { ServiceAllocators } from './allocators.js';
import { validateClusterIpsUpdate } from './cluster-ip-validation.js';
import { serviceColumns, serviceRow } from './columns.js';
import { defaultIpMode, setServiceDefaults } from './defaults.js';
import { validateServiceStatus } from './load-balancer-status.js';
import { validateHealthCheckNodePortUpdate, validateLoadBalancerClass } from './traffic-validation.js';
import { dropTypeDependentFields } from './type-change.js';
import { validateService } from './validation.js';
import { serviceStatusWarnings, serviceWarnings } from './warnings.js';

export interface ServiceParts {
  readonly allocators: ServiceAllocators;
  /** The endpoints of a deleted service go with it, so that a new one of its name does not inherit them. */
  readonly deleteEndpoints: (namespace: string, name: string, context: LifeContext) => Promise<void>;
  /** The RelaxedServiceNameValidation gate. */
  readonly relaxedNames: boolean;
}

const GATED = [gated<Service>('ServiceTrafficDistribution', 'spec.trafficDistribution')];
const GATED_STATUS = [gated<Service>('LoadBalancerIPMode', 'status.loadBalancer.ingress[].ipMode')];

export const serviceKind = ({ allocators, deleteEndpoints, relaxedNames }: ServiceParts): KindDefinition<Service> => ({
  group: '',
  kind: 'Service',
  plural: 'services',
  singular: 'service',
  shortNames: ['svc'],
  categories: ['all'],
  namespaced: true,
  storage: { keyPrefix: 'services/specs' },
  versions: [{ version: 'v1', defaults: setServiceDefaults, defaultsBehindGates: defaultIpMode }],
  storageVersion: 'v1',
  strategy: {
    metadataRules: { validateName: relaxedNames ? nameIsDnsLabel : nameIsDns1035Label },
    hasStatus: true,
    hasGeneration: false,
    allowCreateOnUpdate: true,
    prepareForCreate: (object, { features }) => {
      object.status = { loadBalancer: {} };
      dropGatedFields(GATED, object, undefined, features);
    },
    prepareForUpdate: (object, old, { features }) => {
      dropGatedFields(GATED, object, old, features);
      dropTypeDependentFields(object, old);
    },
    validate: (object, { features }) => validateService(object, undefined, features),
    validateUpdate: (object, old, { features }) => [
      ...validateClusterIpsUpdate(object, old),
      ...validateLoadBalancerClass(object, old),
      ...validateHealthCheckNodePortUpdate(object, old),
      ...validateService(object, old, features),
    ],
    // A mere name balances nothing, but clients have been sending the policy with it.
    canonicalize: ({ spec }) => {
      if (spec.type === 'ExternalName') delete spec.internalTrafficPolicy;
    },
    warningsOnCreate: serviceWarnings,
    warningsOnUpdate: serviceWarnings,
    status: {
      prepareForUpdate: (object, old, { features }) => dropGatedFields(GATED_STATUS, object, old, features),
      validateUpdate: (object, old, { features }) => validateServiceStatus(object, old, features),
      warningsOnUpdate: serviceStatusWarnings,
    },
    delete: {
      returnsObject: true,
      after: async (object, context) => {
        const { namespace = '', name = '' } = object.metadata;
        await deleteEndpoints(namespace, name, context).catch((error: unknown) =>
          allocators.leaked(`endpoints ${namespace}/${name}`, error),
        );
        await releaseAll(object, allocators);
      },
    },
    transaction: {
      beginCreate: (object, context) => allocateForCreate(object, allocators, context),
      beginUpdate: (object, old, context) => allocateForUpdate(object, old, allocators, context),
    },
    resetFields: { '': [['status']], status: [['spec']] },
  },
  subresources: {
    status: { kind: 'Service', verbs: ['get', 'patch', 'update'] },
    proxy: {
      kind: 'ServiceProxyOptions',
      verbs: ['create', 'delete', 'get', 'patch', 'update'],
      connect: 'services/proxy',
    },
  },
  table: { columns: serviceColumns, row: serviceRow },
  selection: { fields: ({ spec }) => ({ 'spec.clusterIP': spec.clusterIP ?? '', 'spec.type': spec.type ?? '' }) },
});
