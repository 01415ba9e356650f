import { logTo } from '../../lib/testing/test-log.js';
import assert from 'node:assert/strict';
import { type CrdControllerOptions, startCrdController } from '../../crd/controller.js';
import type { WorkerPool, WorkerTaskOptions, Task } from '../../lib/async/worker-pool.js';
import { WorkerContext } from '../worker/worker-context.js';
import type { TestApi } from './test-api.js';

/** As the thread does it, without one: what goes over is copied. */
export class InlineWorker implements WorkerPool {
  readonly minBytes = 0;
  readonly done: string[] = [];
  #world: WorkerContext | undefined;
  readonly features: string[] = [];

  async run<Work extends object, Answered extends object>(
    { name }: Task<Work, Answered>,
    work: Work,
    { requires }: WorkerTaskOptions = {},
  ): Promise<Answered> {
    this.#world ??= new WorkerContext({
      features: this.features,
      compatibility: { major: 1, minor: 33 },
      kindOptions: { allowPrivileged: true, eventTtlSeconds: 3600 },
    });
    if (requires !== undefined && !this.#world.knows({ id: requires.id })) {
      assert.ok(this.#world.knows({ id: requires.id, json: await requires.json() }));
    }
    const answer = this.#world.do(name, structuredClone(work));
    this.done.push(name);
    return structuredClone(answer) as Answered;
  }
}

/** Serves what is defined. Resolves with what ends that. */
export async function serveDefinitions(
  api: TestApi,
  options: Pick<CrdControllerOptions, 'expressions' | 'converterOf' | 'workers'>,
): Promise<() => void> {
  const registry = api.resources.registry({ group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' });
  assert.ok(registry);
  const stopping = new AbortController();
  await startCrdController({
    store: registry.store,
    operations: api.resources.operations,
    context: api.context,
    serve: (kind) => api.resources.serveCustom(kind),
    ...options,
    signal: stopping.signal,
    log: logTo(assert.fail),
  }).served;
  return () => {
    stopping.abort();
    api.resources.close();
  };
}
