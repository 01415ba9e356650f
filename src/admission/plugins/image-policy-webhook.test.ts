import { silentLog } from '../../lib/testing/test-log.js';
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import type { OutboundRequest } from '../../outbound/messages.js';
import { refusal, testAttributes, type TestWrite } from '../test-attributes.js';
import { imagePolicyWebhook, type ImagePolicySettings } from './image-policy-webhook.js';

function backend(
  answers: readonly { readonly status?: number; readonly body?: object }[],
  more: Partial<ImagePolicySettings> = {},
) {
  const reviews: object[] = [];
  const urls: string[] = [];
  const clock = { nowMs: 0 };
  const request = async ({ url, body }: OutboundRequest) => {
    urls.push(url.href);
    reviews.push((JSON.parse(body as string) as { spec: object }).spec);
    const { status = 200, body: answer = {} } = answers[Math.min(reviews.length, answers.length) - 1] ?? {};
    const review = { apiVersion: 'imagepolicy.k8s.io/v1alpha1', kind: 'ImageReview', ...answer };
    return { status, headers: {}, rawHeaders: [], body: Readable.from([Buffer.from(JSON.stringify(review))]) };
  };
  const plugin = imagePolicyWebhook({
    settings: {
      client: { request },
      server: new URL('https://images.test/'),
      allowTtlMs: 1000,
      denyTtlMs: 0,
      retryBackoffMs: 1,
      defaultAllow: false,
      ...more,
    },
    nowMs: () => clock.nowMs,
    random: () => 0,
    wait: async () => undefined,
    log: silentLog,
  });
  return { reviews, urls, clock, say: (write: TestWrite) => refusal(plugin, testAttributes(write)), plugin };
}
const pod = (image: string, more: Partial<TestWrite> = {}): TestWrite => ({
  resource: 'pods',
  object: {
    metadata: { name: 'p', annotations: { 'x.image-policy.k8s.io/ticket': '1', other: '2' } },
    spec: { containers: [{ name: 'c', image }], initContainers: [{ name: 'i', image: 'init' }] },
  },
  ...more,
});
const allow = { body: { status: { allowed: true } } };
const deny = { body: { status: { allowed: false, reason: 'evil' } } };

describe('the image policy', () => {
  it('is called with all images, and an approval is cached for a while', async () => {
    const { say, reviews, clock } = backend([allow]);
    assert.deepEqual([await say(pod('a')), await say(pod('a'))], [undefined, undefined]);
    assert.deepEqual(reviews, [
      {
        containers: [{ image: 'a' }, { image: 'init' }],
        annotations: { 'x.image-policy.k8s.io/ticket': '1' },
        namespace: 'ns',
      },
    ]);
    clock.nowMs = 1001;
    await say(pod('a'));
    assert.equal(reviews.length, 2);
  });

  it('is called at its path alone, without a trailing slash, and with its timeout', async () => {
    for (const [server, url] of [
      ['https://images.test', 'https://images.test/?timeout=30s'],
      ['https://images.test//a/b/', 'https://images.test/a/b?timeout=30s'],
      ['https://images.test/a?x=1#y', 'https://images.test/a?timeout=30s'],
    ] as const) {
      const { say, urls } = backend([allow], { server: new URL(server) });
      await say(pod('a'));
      assert.deepEqual(urls, [url]);
    }
  });

  it('refuses, and is called again where refusals are not cached', async () => {
    const { say, reviews } = backend([deny]);
    const words = 'pods "p" is forbidden: image policy webhook backend denied one or more images: evil';
    assert.deepEqual([await say(pod('a')), await say(pod('a'))], [words, words]);
    assert.equal(reviews.length, 2);
  });

  it('that fails is called five times, and then decides by its default', async () => {
    const failing = backend([{ status: 500 }]);
    assert.match((await failing.say(pod('a'))) ?? '', /is forbidden: an error on the server/);
    assert.equal(failing.reviews.length, 5);
    const open = backend([{ status: 500 }], { defaultAllow: true });
    const attributes = testAttributes(pod('a'));
    assert.equal(await refusal(open.plugin, attributes), undefined);
    assert.deepEqual(attributes.annotations, { 'imagepolicywebhook.image-policy.k8s.io/failed-open': 'true' });
  });

  it('that answers with another kind fails with the expected kind', async () => {
    const { say } = backend([{ body: { kind: 'Other' } }]);
    assert.equal(
      await say(pod('a')),
      'pods "p" is forbidden: no kind "Other" is registered for version "imagepolicy.k8s.io/v1alpha1" in scheme "pkg/api/legacyscheme/scheme.go:30"',
    );
  });

  it('says nothing of other subresources and resources', async () => {
    const { say, reviews } = backend([deny]);
    for (const write of [pod('a', { subresource: 'status' }), pod('a', { resource: 'pods.metrics.k8s.io' })]) {
      assert.equal(await say(write), undefined);
    }
    assert.equal(reviews.length, 0);
  });
});
