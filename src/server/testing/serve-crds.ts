// CRDs in tests without sockets.
import assert from 'node:assert/strict';
import { logTo } from '../../lib/testing/test-log.js';
import type { TestApi } from './test-api.js';
import { type CrdControllerOptions, startCrdController } from '../../crd/controller.js';

const CRDS = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' };

/** Resolves when an API whose kinds are those of apiextensions, too, serves what CRDs define. */
export async function serveCrds(
  api: TestApi,
  signal: AbortSignal,
  more: Partial<CrdControllerOptions> = {},
): Promise<void> {
  const registry = api.resources.registry(CRDS);
  assert.ok(registry);
  const { served } = startCrdController({
    store: registry.store,
    operations: api.resources.operations,
    context: api.context,
    serve: (kind) => api.resources.serveCustom(kind),
    signal,
    log: logTo(assert.fail),
    ...more,
  });
  await served;
}
