import type { KindDefinition } from '../../registry/kind.js';
import { controllerRevisions } from './controllerrevision/definition.js';
import { daemonSets } from './daemonset/definition.js';
import { deployments } from './deployment/definition.js';
import { replicaSets } from './replicaset/definition.js';
import { statefulSets } from './statefulset/definition.js';

export const appsKinds: readonly KindDefinition[] = [
  controllerRevisions,
  daemonSets,
  deployments,
  replicaSets,
  statefulSets,
];
