// The kinds of the core group. What a kind needs of the running server comes in as its part.
import type { KindDefinition } from '../../registry/kind.js';
import { bindingKind, type BindingParts } from './binding/definition.js';
import { componentStatusKind, type ComponentStatusParts } from './componentstatus/definition.js';
import { configMaps } from './configmap/definition.js';
import { endpoints } from './endpoints/definition.js';
import { events } from './event/definition.js';
import { limitRanges } from './limitrange/definition.js';
import { namespaces } from './namespace/definition.js';
import { pods } from './pod/definition.js';
import { nodes } from './node/definition.js';
import { persistentVolumes } from './persistentvolume/definition.js';
import { persistentVolumeClaims } from './persistentvolumeclaim/definition.js';
import { resourceQuotas } from './resourcequota/definition.js';
import { podTemplates } from './podtemplate/definition.js';
import { replicationControllers } from './replicationcontroller/definition.js';
import { secrets } from './secret/definition.js';
import { type ServiceParts, serviceKind } from './service/definition.js';
import { serviceAccountKind, type ServiceAccountParts } from './serviceaccount/definition.js';

export interface CoreParts {
  readonly binding: BindingParts;
  readonly componentStatus: ComponentStatusParts;
  readonly service: ServiceParts;
  readonly serviceAccount: ServiceAccountParts;
}

export const coreKinds = ({
  binding,
  componentStatus,
  service,
  serviceAccount,
}: CoreParts): readonly KindDefinition[] => [
  bindingKind(binding),
  componentStatusKind(componentStatus),
  configMaps,
  endpoints,
  events,
  limitRanges,
  namespaces,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  resourceQuotas,
  pods,
  podTemplates,
  replicationControllers,
  secrets,
  serviceAccountKind(serviceAccount),
  serviceKind(service),
];
