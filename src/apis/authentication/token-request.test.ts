import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TokenToIssue } from '../../authn/service-account/issuer.js';
import type { KubeObject } from '../../machinery/object.js';
import { type GroupResource, StatusError, notFound } from '../../machinery/status.js';
import type { SubresourceAction } from '../../registry/kind.js';
import type { TokenRequest } from '../../schema/generated/authentication.v1.js';
import { createTokenAction, type TokenRequestServices } from './token-request.js';

const ISSUER = 'https://issuer.test';
const NOW = new Date('2030-01-01T00:00:00Z');
const objects: Record<string, object> = {
  'serviceaccounts ns/robot': { metadata: { name: 'robot', namespace: 'ns', uid: 'robot-uid' } },
  'pods ns/p': { metadata: { name: 'p', uid: 'p-uid' }, spec: { serviceAccountName: 'robot', nodeName: 'gone' } },
  'pods ns/other': { metadata: { name: 'other', uid: 'o-uid' }, spec: { serviceAccountName: 'default' } },
  'secrets ns/s': { metadata: { name: 's', uid: 's-uid' } },
};

async function request(
  body: { metadata?: object; spec?: object },
  services: Partial<TokenRequestServices> = {},
  off: readonly string[] = [],
) {
  let issued: TokenToIssue | undefined;
  const warnings: string[] = [];
  const notes: string[] = [];
  const reviewed: TokenRequest[] = [];
  const create = createTokenAction({
    issuer: {
      issue: async (wanted) => {
        issued = wanted;
        return { token: 'signed', id: 'id' };
      },
    },
    apiAudiences: [ISSUER],
    maxExpirationSeconds: 0,
    extendExpiration: true,
    ...services,
  });
  const action = {
    name: 'robot',
    namespace: 'ns',
    body: {
      metadata: {},
      ...body,
      spec: { audiences: null, expirationSeconds: null, boundObjectRef: null, ...body.spec },
    },
    context: {
      now: () => NOW,
      features: { enabled: (gate: string) => !off.includes(gate) },
      warn: (text: string) => warnings.push(text),
    },
    operations: {
      get: async (resource: GroupResource, namespace: string, name: string): Promise<KubeObject> => {
        const found = objects[`${resource.resource} ${namespace}/${name}`];
        if (found === undefined) throw notFound(resource, name);
        return found as KubeObject;
      },
    },
    review: (object: KubeObject) => void reviewed.push(object as TokenRequest),
    annotate: (key: string, value: string) => notes.push(`${key}: ${value}`),
  } as unknown as SubresourceAction;
  try {
    const answer = (await create(action)).object as TokenRequest;
    return { answer, issued, warnings, notes, reviewed, error: '' };
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    return { answer: undefined, issued, warnings, notes, reviewed, error: `${error.code} ${error.message}` };
  }
}
const pod = (name: string, uid?: string) => ({ boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name, uid } });

test('what is not requested comes from the account and the server', async () => {
  const { answer, issued, notes } = await request({});
  assert.deepEqual(notes, ['authentication.kubernetes.io/issued-credential-id: JTI=id']);
  assert.deepEqual(answer?.metadata, {
    name: 'robot',
    namespace: 'ns',
    uid: 'robot-uid',
    creationTimestamp: '2030-01-01T00:00:00Z',
  });
  assert.deepEqual(answer?.spec.audiences, [ISSUER]);
  assert.deepEqual(answer?.status, { token: 'signed', expirationTimestamp: '2030-01-01T01:00:00Z' });
  assert.deepEqual(issued?.bound, { namespace: 'ns', serviceaccount: { name: 'robot', uid: 'robot-uid' } });
});

test('those who validate see the request complete, and see none that contradicts its account', async () => {
  const [seen] = (await request({})).reviewed;
  assert.deepEqual([seen?.metadata.name, seen?.metadata.uid, seen?.spec.audiences], ['robot', 'robot-uid', [ISSUER]]);
  assert.equal(seen?.metadata.creationTimestamp, '2030-01-01T00:00:00Z');
  assert.deepEqual((await request({ metadata: { name: 'other' } })).reviewed, []);
});

test('a pod token of 3607 seconds lives a year and is warned about after an hour; others live as requested', async () => {
  const { answer, issued } = await request({ spec: { expirationSeconds: 3607, ...pod('p') } });
  assert.equal(issued?.expirationSeconds, 31_536_000);
  assert.equal(issued?.bound.warnafter, NOW.getTime() / 1000 + 3607);
  assert.deepEqual(issued?.bound.pod, { name: 'p', uid: 'p-uid' });
  assert.deepEqual(issued?.bound.node, { name: 'gone' }, 'a missing node is kept by name');
  assert.equal(answer?.status.expirationTimestamp, '2030-01-01T01:00:07Z');
  const foreign = await request({ spec: { expirationSeconds: 3607, audiences: ['vault'], ...pod('p') } });
  assert.equal(foreign.issued?.expirationSeconds, 3607);
});

test('a life beyond the limit is shortened with a warning', async () => {
  const { issued, warnings } = await request({ spec: { expirationSeconds: 9000 } }, { maxExpirationSeconds: 7200 });
  assert.equal(issued?.expirationSeconds, 7200);
  assert.deepEqual(warnings, ['requested expiration of 9000 seconds shortened to 7200 seconds']);
});

test('contradictions are refused', async () => {
  const error = async (body: Parameters<typeof request>[0]) => (await request(body)).error;
  assert.match(
    await error({ spec: { expirationSeconds: 599 } }),
    /^422 .*may not specify a duration less than 10 minutes/,
  );
  assert.match(await error({ spec: { expirationSeconds: 2 ** 32 + 1 } }), /larger than 2\^32 seconds/);
  assert.match(
    await error({ metadata: { name: 'x' } }),
    /metadata.name: Invalid value: "x": must match the service account name/,
  );
  assert.match(await error({ metadata: { uid: 'x' } }), /^409 .*the UID in the token request \(x\) does not match/);
  assert.equal(await error({ spec: pod('none') }), '404 pods "none" not found');
  assert.equal(
    await error({ spec: pod('other') }),
    '400 cannot bind token for serviceaccount "robot" to pod running with different serviceaccount name.',
  );
  assert.match(
    await error({ spec: pod('p', 'old') }),
    /^409 Operation cannot be fulfilled on Pod "p": the UID in the bound/,
  );
  assert.equal(
    await error({ spec: { boundObjectRef: { kind: 'Deployment', apiVersion: 'apps/v1', name: 'd' } } }),
    '400 cannot bind token to object of type apps/v1, Kind=Deployment',
  );
});

test('a bound object is of the core group where its version cannot be read', async () => {
  const bound = { ...pod('p').boundObjectRef, apiVersion: 'https://example.com/v1' };
  const { issued } = await request({ spec: { boundObjectRef: bound } });
  assert.equal(issued?.bound.pod?.name, 'p');
});

test('gates decide whether tokens name the node of a pod, and whether they may be bound to one', async () => {
  const withoutGate = await request({ spec: pod('p') }, {}, ['ServiceAccountTokenPodNodeInfo']);
  assert.equal(withoutGate.issued?.bound.node, undefined);
  const node = { boundObjectRef: { kind: 'Node', apiVersion: 'v1', name: 'n' } };
  const { error } = await request({ spec: node }, {}, ['ServiceAccountTokenNodeBinding']);
  assert.equal(
    error,
    '400 cannot bind token to a Node object as the "ServiceAccountTokenNodeBinding" feature-gate is disabled',
  );
});

test('a token without an id is not noted by it', async () => {
  const nameless = { issue: async () => ({ token: 'signed', id: '' }) };
  assert.deepEqual((await request({}, { issuer: nameless })).notes, []);
});
