// The kinds of the core group. What a kind needs of the running server comes in as its part.
import type { KindDefinition } from '../../registry/kind.js';
import { configMaps } from './configmap/definition.js';
import { endpoints } from './endpoints/definition.js';
import { events } from './event/definition.js';
import { namespaces } from './namespace/definition.js';
import { pods } from './pod/definition.js';
import { secrets } from './secret/definition.js';
import { type ServiceParts, serviceKind } from './service/definition.js';
import { serviceAccountKind, type ServiceAccountParts } from './serviceaccount/definition.js';

export interface CoreParts {
  readonly service: ServiceParts;
  readonly serviceAccount: ServiceAccountParts;
}

export const coreKinds = ({ service, serviceAccount }: CoreParts): readonly KindDefinition[] => [
  configMaps,
  endpoints,
  events,
  namespaces,
  pods,
  secrets,
  serviceAccountKind(serviceAccount),
  serviceKind(service),
];
