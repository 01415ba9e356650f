import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MetricRegistry } from '../../lib/telemetry/metrics.js';
import type { JsonObject, KubeObject } from '../../machinery/object.js';
import { StorageError } from '../../storage/store.js';
import { webhookConverter } from './converter.js';
import type { Converted } from './converted.js';
import { conversionMetrics } from './metrics.js';

const V1 = 'example.test/v1';
const V2 = 'example.test/v2';
const OBJECT = {
  apiVersion: V2,
  kind: 'Thing',
  metadata: { name: 'a', namespace: 'ns', uid: 'u', labels: { own: '1' }, finalizers: ['example.test/f'] },
  spec: { hostPort: 'h:1' },
};

interface Review extends JsonObject {
  readonly request: { readonly uid: string; readonly desiredAPIVersion: string; readonly objects: JsonObject[] };
}

type Twist = (review: Review, converted: JsonObject[]) => unknown;

const answered: Twist = (review, convertedObjects) => ({
  apiVersion: review['apiVersion'],
  kind: 'ConversionReview',
  response: { uid: review.request.uid, result: { status: 'Success' }, convertedObjects },
});

function converterWith(twist: Twist, reviewVersions = ['v1'], registry = new MetricRegistry()) {
  return webhookConverter({
    reviewVersions,
    newUid: () => 'uid-1',
    recorder: conversionMetrics(registry)('things.example.test'),
    async ask(body) {
      const review = JSON.parse(body.toString()) as Review;
      const { objects, desiredAPIVersion } = review.request;
      const made = twist(
        review,
        objects.map((object) => ({ ...object, apiVersion: desiredAPIVersion, spec: { host: 'h' } })),
      );
      const text = typeof made === 'string' ? made : JSON.stringify(made);
      return { status: 200, contentType: 'application/json', body: Buffer.from(text) };
    },
  });
}

async function failureOf(twist: Twist, reviewVersions?: string[]): Promise<string> {
  try {
    await converterWith(twist, reviewVersions).convert([OBJECT], V1);
    return '';
  } catch (error) {
    assert.ok(error instanceof StorageError);
    assert.equal(error.code, 'conversion');
    return error.message.replace(`conversion webhook for ${V2}, Kind=Thing `, '');
  }
}

const objectsOf = (converted: readonly Converted[]): Promise<KubeObject[]> =>
  Promise.all(converted.map(async (one) => one.object()));

const withMetadata =
  (change: (metadata: JsonObject) => unknown): Twist =>
  (review, converted) =>
    answered(
      review,
      converted.map((object) => ({ ...object, metadata: change(object['metadata'] as JsonObject) })),
    );

test('many objects are converted in one call, in their order', async () => {
  let calls = 0;
  const converter = converterWith((review, converted) => {
    calls++;
    return answered(review, converted);
  });
  const named = (name: string): JsonObject => ({ ...OBJECT, metadata: { ...OBJECT.metadata, name } });
  const converted = await converter.convert([named('a'), named('b')], V1);
  assert.deepEqual(
    (await objectsOf(converted)).map(({ apiVersion, metadata, ...rest }) => [apiVersion, metadata.name, rest]),
    [
      [V1, 'a', { kind: 'Thing', spec: { host: 'h' } }],
      [V1, 'b', { kind: 'Thing', spec: { host: 'h' } }],
    ],
  );
  assert.equal(calls, 1);
});

test('labels and annotations may change, all other metadata is put back', async () => {
  const converter = converterWith(
    withMetadata((metadata) => ({ ...metadata, labels: { new: 'x' }, finalizers: [], generation: 99 })),
  );
  const [converted] = await objectsOf(await converter.convert([OBJECT], V1));
  assert.deepEqual(converted?.metadata, { ...OBJECT.metadata, labels: { new: 'x' } });
});

test('an answer that does not answer the review is its own kind of failure', async () => {
  assert.equal(
    await failureOf((review) => answered({ ...review, request: { ...review.request, uid: 'other' } }, [])),
    'failed: expected response.uid="uid-1", got "other"',
  );
  assert.equal(
    await failureOf(() => ({ kind: 'ConversionReview', apiVersion: 'apiextensions.k8s.io/v1' })),
    'failed: no response provided',
  );
  assert.equal(
    await failureOf((review) => ({ ...(answered(review, []) as object), apiVersion: 'apiextensions.k8s.io/v1beta1' })),
    'failed: converting (v1beta1.ConversionReview) to (v1.ConversionReview): unknown conversion',
  );
  assert.equal(await failureOf((review) => answered(review, [])), 'returned 0 objects, expected 1');
  assert.match(await failureOf(() => 'garbage'), /^failed: couldn't get version\/kind; json parse error: /);
  assert.equal(
    await failureOf(() => ''),
    'failed: 0-length response with status code: 200 and content type: application/json',
  );
});

test('an older review need not say what it is', async () => {
  assert.equal(
    await failureOf(
      (_review, convertedObjects) => ({ response: { result: { status: 'Success' }, convertedObjects } }),
      ['v9', 'v1beta1'],
    ),
    '',
  );
});

test('an object that is no longer the same is refused', async () => {
  assert.equal(
    await failureOf(withMetadata((metadata) => ({ ...metadata, name: 'z' }))),
    'returned invalid object: must have the same name: a != z',
  );
  assert.equal(
    await failureOf((review, [object]) => answered(review, [{ ...object, kind: 'Other' }])),
    'returned invalid object at index 0: invalid kind (expected Thing, received Other)',
  );
  assert.equal(
    await failureOf((review) => answered(review, [OBJECT])),
    `returned invalid object at index 0: invalid groupVersion (expected ${V1}, received ${V2})`,
  );
  assert.equal(
    await failureOf(withMetadata((metadata) => ({ ...metadata, labels: { bad: 5 } }))),
    'returned invalid metadata: metadata.labels[bad] must be a string, but is int64 in converted object',
  );
  assert.match(
    await failureOf(withMetadata((metadata) => ({ ...metadata, annotations: { 'not valid!': '' } }))),
    /^returned invalid metadata: metadata.annotation: Invalid value: "not valid!"/,
  );
});

test('calls are counted by how they ended', async () => {
  const registry = new MetricRegistry();
  const converter = converterWith((review) => answered(review, []), ['v1'], registry);
  await assert.rejects(converter.convert([OBJECT], V1));
  const text = registry.text();
  assert.match(
    text,
    /apiserver_conversion_webhook_request_total\{failure_type="conversion_webhook_partial_response_failure",result="failure"\} 1/,
  );
  assert.match(
    text,
    /duration_seconds_count\{crd_name="things.example.test",from_version="v2",succeeded="false",to_version="v1"\} 1/,
  );
});
