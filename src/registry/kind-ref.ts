// A kind as the worker thread finds it among its own.
import type { WorkerRequirement } from '../lib/async/worker-pool.js';
import type { KindDefinition } from './kind.js';

export interface KindRef {
  readonly group: string;
  readonly plural: string;
  /** Of a custom kind: what it is made from, and the version whose rules are meant. */
  readonly custom?: { readonly id: string; readonly version: string };
}

export const refOf = ({ group, plural, origin }: KindDefinition): KindRef => ({
  group,
  plural,
  ...(origin && { custom: { id: origin.requirement.id, version: origin.version } }),
});

/** Of a custom kind: the definition. */
export const neededBy = ({ origin }: KindDefinition): WorkerRequirement | undefined => origin?.requirement;
