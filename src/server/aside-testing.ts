import assert from 'node:assert/strict';
import { type DefinitionsOptions, startDefinitions } from '../crd/controller.js';
import type { Aside, AsideOptions, Task } from '../lib/aside.js';
import { AsideWorld } from './aside-world.js';
import type { TestApi } from './testing.js';

/** As the thread does it, without one: what goes over is copied. */
export class InThisThread implements Aside {
  readonly fromBytes = 0;
  readonly done: string[] = [];
  #world: AsideWorld | undefined;
  readonly features: string[] = [];

  async do<Work extends object, Answered extends object>(
    { name }: Task<Work, Answered>,
    work: Work,
    { needs }: AsideOptions = {},
  ): Promise<Answered> {
    this.#world ??= new AsideWorld({
      features: this.features,
      compatibility: { major: 1, minor: 33 },
      kindOptions: { allowPrivileged: true, eventTtlSeconds: 3600 },
    });
    if (needs !== undefined && !this.#world.knows({ id: needs.id })) {
      assert.ok(this.#world.knows({ id: needs.id, json: await needs.json() }));
    }
    const answer = this.#world.do(name, structuredClone(work));
    this.done.push(name);
    return structuredClone(answer) as Answered;
  }
}

/** Serves what is defined. Resolves with what ends that. */
export async function serveDefinitions(
  api: TestApi,
  options: Pick<DefinitionsOptions, 'expressions' | 'converterOf' | 'aside'>,
): Promise<() => void> {
  const registry = api.resources.registry({ group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' });
  assert.ok(registry);
  const stopping = new AbortController();
  await startDefinitions({
    store: registry.store,
    operations: api.resources.operations,
    context: api.context,
    serve: (kind) => api.resources.serveCustom(kind),
    ...options,
    signal: stopping.signal,
    log: (message) => assert.fail(message),
  }).served;
  return () => {
    stopping.abort();
    api.resources.close();
  };
}
