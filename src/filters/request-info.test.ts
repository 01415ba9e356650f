import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRequestInfo } from './request-info.js';
import { testRequest } from './testing.js';

function parse(method: string, target: string): string {
  const info = parseRequestInfo(testRequest(method, target));
  if (typeof info !== 'object') return String(info);
  if (!info.isResourceRequest) return `${info.verb} path ${info.path}`;
  const { verb, apiGroup, apiVersion, namespace, resource, subresource, name } = info;
  return [verb, apiGroup, apiVersion, namespace, resource, subresource, name].join('|');
}

const CASES: readonly (readonly [method: string, target: string, wanted: string])[] = [
  ['GET', '/', 'get path /'],
  ['GET', '/api', 'get path /api'],
  ['GET', '/apis/apps/v1', 'get path /apis/apps/v1'],
  ['OPTIONS', '/healthz', 'options path /healthz'],
  ['GET', '/api/v1/namespaces', 'list||v1||namespaces||'],
  ['GET', '/api/v1/namespaces/other', 'get||v1|other|namespaces||other'],
  ['GET', '/api/v1/namespaces/other/pods', 'list||v1|other|pods||'],
  ['GET', '/api/v1/namespaces/other/pods/foo', 'get||v1|other|pods||foo'],
  ['HEAD', '/api/v1/namespaces/other/pods/foo', 'get||v1|other|pods||foo'],
  ['GET', '/api/v1/pods', 'list||v1||pods||'],
  ['PUT', '/api/v1/namespaces/other/finalize', 'update||v1|other|namespaces|finalize|other'],
  ['PATCH', '/api/v1/namespaces/other/status', 'patch||v1|other|namespaces|status|other'],
  ['GET', '/apis/apps/v1/namespaces/x/deployments/y/scale', 'get|apps|v1|x|deployments|scale|y'],
  ['POST', '/api/v1/namespaces/x/pods', 'create||v1|x|pods||'],
  ['DELETE', '/api/v1/namespaces/x/pods', 'deletecollection||v1|x|pods||'],
  ['DELETE', '/api/v1/namespaces/x/pods/y', 'delete||v1|x|pods||y'],
  ['GET', '/api/v1/watch/pods', 'watch||v1||pods||'],
  ['GET', '/api/v1/watch/namespaces/x/pods', 'watch||v1|x|pods||'],
  ['GET', '/api/v1/proxy/namespaces/x/pods/y/z', 'proxy||v1|x|pods||y'],
  ['GET', '/api/v1/pods?watch=true', 'watch||v1||pods||'],
  ['GET', '/api/v1/pods?watch=', 'watch||v1||pods||'],
  ['GET', '/api/v1/pods?watch=FALSE', 'list||v1||pods||'],
  ['GET', '/api/v1/pods?watch=0', 'list||v1||pods||'],
  ['GET', '/api/v1/namespaces/x/pods?fieldSelector=metadata.name%3Da', 'list||v1|x|pods||a'],
  ['GET', '/api/v1/namespaces/x/pods?watch=1&fieldSelector=metadata.name%3Da', 'watch||v1|x|pods||a'],
  ['GET', '/api/v1/namespaces/x/pods?fieldSelector=metadata.name%3Da%2Fb', 'list||v1|x|pods||'],
  ['GET', '/api/v1/namespaces/x/pods?limit=z&fieldSelector=metadata.name%3Da', 'list||v1|x|pods||'],
  ['DELETE', '/api/v1/namespaces/x/pods?fieldSelector=metadata.name%3Da', 'deletecollection||v1|x|pods||'],
  ['OPTIONS', '/api/v1/pods', '||v1||pods||'],
  ['GET', '//api/v1//pods/', 'get||v1|||' + '|pods'],
  ['GET', '/api/v1/watch', 'no kind'],
  ['GET', '/api/v1/pods/%zz', 'undefined'],
];

for (const [method, target, wanted] of CASES) {
  test(`${method} ${target}`, () => assert.equal(parse(method, target), wanted));
}

test('selectors are authorized on collections only, and not with the verb in the path', () => {
  const selectors = (method: string, target: string): string => {
    const info = parseRequestInfo(testRequest(method, target));
    return typeof info === 'object' ? `${info.fieldSelector}/${info.labelSelector}` : '';
  };
  assert.equal(selectors('GET', '/api/v1/pods?labelSelector=a&fieldSelector=b'), 'b/a');
  assert.equal(selectors('DELETE', '/api/v1/pods?labelSelector=a'), '/a');
  assert.equal(selectors('GET', '/api/v1/watch/pods?labelSelector=a'), '/');
  assert.equal(selectors('POST', '/api/v1/pods?labelSelector=a'), '/');
});
