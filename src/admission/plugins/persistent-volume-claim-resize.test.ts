import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusal, testAttributes } from '../test-attributes.js';
import { persistentVolumeClaimResize } from './persistent-volume-claim-resize.js';

const CLASSES = 'storageclasses.storage.k8s.io';

test('a claim grows only when bound, by a class that can', async () => {
  const claim = (storage: string, phase: string): object => ({
    metadata: { name: 'c' },
    spec: { storageClassName: 'k', resources: { requests: { storage } } },
    status: { phase },
  });
  const grow = (phase: string, allowVolumeExpansion: boolean) =>
    refusal(
      persistentVolumeClaimResize,
      testAttributes({
        resource: 'persistentvolumeclaims',
        old: claim('1Gi', phase),
        object: claim('2Gi', phase),
        world: { [CLASSES]: [{ metadata: { name: 'k' }, allowVolumeExpansion }] },
      }),
    );
  assert.match((await grow('Pending', true)) ?? '', /Only bound persistent volume claims can be expanded$/);
  assert.match((await grow('Bound', false)) ?? '', /the storageclass that provisions the pvc must support resize$/);
  assert.equal(await grow('Bound', true), undefined);
});
