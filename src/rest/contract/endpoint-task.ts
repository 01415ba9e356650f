// Tasks about the objects of an endpoint: the worker thread does them with the same endpoint among its own.
import type { Task, WorkerPool, WorkerTaskOptions } from '../../lib/async/worker-pool.js';
import { type KindRef, neededBy, refOf } from '../../registry/kind-ref.js';
import type { Endpoint } from './endpoint.js';

/** What every such task is sent. */
export interface EndpointWork {
  readonly kind: KindRef;
  readonly version: string;
}

interface WorkOf<Work extends EndpointWork> extends Omit<WorkerTaskOptions, 'requires'> {
  readonly work: Omit<Work, keyof EndpointWork>;
}

export function runForEndpoint<Work extends EndpointWork, Answer extends object>(
  workers: WorkerPool,
  task: Task<Work, Answer>,
  { definition, kind }: Pick<Endpoint, 'definition' | 'kind'>,
  { work, ...options }: WorkOf<Work>,
): Promise<Answer> {
  const sent = { ...work, kind: refOf(definition), version: kind.version } as unknown as Work;
  return workers.run(task, sent, { ...options, requires: neededBy(definition) });
}
