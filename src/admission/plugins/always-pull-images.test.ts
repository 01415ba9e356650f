import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../schema/generated/core.v1.js';
import { refusal, testAttributes } from '../test-attributes.js';
import { Rounds } from '../rounds.js';
import { alwaysPullImages } from './always-pull-images.js';

const pod = (image: string, imagePullPolicy = 'IfNotPresent'): Pod =>
  ({ metadata: { name: 'p' }, spec: { containers: [{ name: 'a', image, imagePullPolicy }] } }) as Pod;

test('pulls every image, and refuses what somebody later in the chain turned back', async () => {
  const object = pod('i');
  assert.equal(await refusal(alwaysPullImages, testAttributes({ resource: 'pods', object })), undefined);
  assert.equal(object.spec.containers?.[0]?.imagePullPolicy, 'Always');
  const { validate } = alwaysPullImages;
  const attributes = testAttributes({ resource: 'pods', object: pod('i') });
  await assert.rejects(async () => validate?.(attributes, new Rounds()), {
    code: 500,
    message:
      'pods "p" is forbidden: spec.containers[0].imagePullPolicy: Unsupported value: "IfNotPresent": supported values: "Always"',
  });
});

test('an update that brings no image stays as it is', async () => {
  const object = pod('i');
  await refusal(alwaysPullImages, testAttributes({ resource: 'pods', object, old: pod('i') }));
  assert.equal(object.spec.containers?.[0]?.imagePullPolicy, 'IfNotPresent');
});
