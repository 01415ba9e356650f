// Gates that change the server itself, not the fields of a kind.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { customResourceDefinition } from '../apis/apiextensions/definition.js';
import { configMaps } from '../apis/core/configmap/definition.js';
import { estimateWork, type ListQuery } from '../flowcontrol/work-estimate.js';
import type { RequestInfo } from '../machinery/request-info.js';
import type { KindDefinition } from '../registry/kind.js';
import { resourceListOf } from '../rest/discovery/discovery-resources.js';
import { TestApi, type TestApiOptions } from './testing/test-api.js';

const CONFIG_MAPS = '/api/v1/namespaces/n/configmaps';
const kinds = [configMaps] as unknown as readonly KindDefinition[];
const at31 = { version: { major: 1, minor: 31 }, forwardCompatible: false, namedForwardCompatible: false };
const api = (gates: Readonly<Record<string, boolean>>, more: Partial<TestApiOptions> = {}): TestApi =>
  new TestApi({ kinds, gates, ...more });

test('WatchList: without it no watch may request initial events', async () => {
  const target = `${CONFIG_MAPS}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`;
  const { status, body } = await api({ WatchList: false }).get(target);
  assert.equal(status, 422);
  assert.match(
    body.message,
    /sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList/,
  );
});

test('StorageVersionHash: discovery has it only with the gate', () => {
  const endpoints = [...api({}).resources.all()];
  assert.ok(resourceListOf(endpoints)[0]?.storageVersionHash);
  assert.equal(resourceListOf(endpoints, false)[0]?.storageVersionHash, undefined);
});

test('SizeBasedListCostEstimate: lists cost by bytes with it, by the number of objects without', () => {
  const info = { isResourceRequest: true, verb: 'list', name: '' } as RequestInfo;
  const query: ListQuery = {
    limit: 0,
    resourceVersion: '0',
    resourceVersionMatch: '',
    continueToken: '',
    selected: false,
    sendInitialEvents: false,
  };
  const seats = (sizeBased: boolean, objects: number, averageBytes: number): number =>
    estimateWork(info, 0, () => query, {
      stored: () => ({ objects, averageBytes }),
      sizeBased,
      watches: () => 0,
      observeWatches: () => undefined,
    }).initialSeats;
  assert.equal(seats(true, 450, 1000), 5);
  assert.equal(seats(false, 450, 1000), 5);
  assert.equal(seats(true, 450, 100), 1);
  assert.equal(seats(false, 450, 100), 5);
  assert.equal(seats(true, 50_000, 1000), 10);
  assert.equal(seats(false, 50_000, 1000), 10);
});

test('CustomResourceFieldSelectors and CRDValidationRatcheting: their fields of CRDs are dropped without them', async () => {
  const crds = [customResourceDefinition(undefined)] as unknown as readonly KindDefinition[];
  const properties = {
    color: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self != ""', optionalOldSelf: true }] },
  };
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.test' },
    spec: {
      group: 'example.test',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          selectableFields: [{ jsonPath: '.color' }],
          schema: { openAPIV3Schema: { type: 'object', properties } },
        },
      ],
    },
  };
  const made = async (gates: Readonly<Record<string, boolean>>): Promise<string> => {
    const server = new TestApi({ kinds: crds, gates, emulated: at31 });
    const { status, bytes } = await server.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
    assert.equal(status, 201, bytes.toString());
    return bytes.toString();
  };
  const on = await made({});
  assert.match(on, /selectableFields/);
  assert.match(on, /optionalOldSelf/);
  assert.doesNotMatch(await made({ CustomResourceFieldSelectors: false }), /selectableFields/);
  assert.doesNotMatch(await made({ CRDValidationRatcheting: false }), /optionalOldSelf/);
});
