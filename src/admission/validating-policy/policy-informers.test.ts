import { silentLog } from '../../lib/testing/test-log.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../machinery/object.js';
import type { ResourceStore, StoredObject, WatchEvent } from '../../storage/store.js';
import { startPolicyInformers } from './policy-informers.js';
import { bindingObject, policyObject } from './testing.js';

/** A store that sends the events of a test. */
function scriptedStore(): { readonly store: ResourceStore; send(...events: WatchEvent[]): void } {
  let receive: ((events: readonly WatchEvent[]) => boolean) | undefined;
  const watch: ResourceStore['watch'] = async (_request, receiver) => {
    receive = receiver;
    return { ended: new Promise(() => undefined) };
  };
  return { store: { watch } as ResourceStore, send: (...events) => void receive?.(events) };
}

const stored = (object: KubeObject, revision: number): StoredObject =>
  ({ key: object.metadata.name, revision, object: () => object }) as StoredObject;
const SYNCED: WatchEvent = { type: 'BOOKMARK', revision: 1, initialEventsEnd: true };

function follow() {
  const policies = scriptedStore();
  const bindings = scriptedStore();
  const stopping = new AbortController();
  const source = startPolicyInformers({
    policies: policies.store,
    bindings: bindings.store,
    compile: () => assert.fail('nothing needs it'),
    signal: stopping.signal,
    log: silentLog,
    wait: () => new Promise(() => undefined),
  });
  return { policies, bindings, stopping, source };
}

test('policies are in force once both kinds are known, and as they change', async () => {
  const { policies, bindings, source } = follow();
  const policy = stored(policyObject({}), 1);
  const binding = stored(bindingObject('bound', 'policy', {}), 1);
  policies.send({ type: 'ADDED', object: policy }, SYNCED);
  assert.equal(source.ready, false);
  bindings.send({ type: 'ADDED', object: binding }, SYNCED);
  assert.equal(await source.whenReady(), true);
  assert.equal(source.ready, true);
  assert.deepEqual(
    source.bound.map(({ name, bindings: [first] }) => [name, first?.name]),
    [['policy', 'bound']],
  );
  bindings.send({ type: 'DELETED', object: binding });
  assert.deepEqual(source.bound, []);
});

test('a server that stops before it knew its policies does not become ready', async () => {
  const { policies, source, stopping } = follow();
  policies.send(SYNCED);
  stopping.abort();
  assert.equal(await source.whenReady(), false);
  assert.equal(source.ready, false);
});
