// The table of the kinds that only keep a number of pods alive.
import type { KubeObject } from '../../../machinery/object.js';
import { AGE_COLUMN, ageCell, NAME_COLUMN, wideColumn } from '../../../registry/columns.js';
import type { Cell, Column } from '../../../registry/kind.js';
import type { PodTemplateSpec } from '../../../schema/generated/core.v1.js';
import { containerCells, containerColumns } from './columns.js';

type ReplicaKeeper = KubeObject & {
  spec: { replicas?: number; template?: PodTemplateSpec };
  status: { replicas: number; readyReplicas?: number };
};

export const replicaColumns: readonly Column[] = [
  NAME_COLUMN,
  { name: 'Desired', type: 'integer', description: 'How many pods are wanted.' },
  { name: 'Current', type: 'integer', description: 'How many pods there are.' },
  { name: 'Ready', type: 'integer', description: 'How many of them are ready.' },
  AGE_COLUMN,
  ...containerColumns,
  wideColumn('Selector', 'The labels of its pods.'),
];

export const replicaRow = (object: Readonly<ReplicaKeeper>, now: Date, selector: string): readonly Cell[] => [
  object.metadata.name ?? '',
  object.spec.replicas ?? 0,
  object.status.replicas,
  object.status.readyReplicas ?? 0,
  ageCell(object, now),
  ...containerCells(object.spec.template?.spec.containers),
  selector,
];
