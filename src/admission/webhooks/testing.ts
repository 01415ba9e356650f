// Webhooks to try on writes, without a server or a socket.
import { silentLog } from '../../lib/testing/test-log.js';
import { MetricRegistry } from '../../lib/telemetry/metrics.js';
import { certificateNotes } from '../../machinery/certificate-notes.js';
import { Readable } from 'node:stream';
import type { KubeObject } from '../../machinery/object.js';
import type { OutboundRequest } from '../../outbound/messages.js';
import { OutboundError } from '../../outbound/outbound-error.js';
import type { MutatingWebhook } from '../../schema/generated/admissionregistration.v1.js';
import type { AdmissionPlugin } from '../plugin.js';
import { mutatingAdmissionWebhook, validatingAdmissionWebhook } from '../plugins/admission-webhooks.js';
import { compiler } from '../validating-policy/testing.js';
import { HookIndex } from './hook-index.js';
import type { HookParts } from './validate.js';

/** One call of a hook. */
export interface HookCall {
  readonly hook: string;
  readonly request: { readonly uid: string; readonly object: KubeObject; readonly operation: string };
}

/** Parts of the response; `patch` is encoded. Or an HTTP answer, or an error on the way. */
export type Judge = (call: HookCall) => {
  readonly allowed?: boolean;
  readonly patch?: readonly object[];
  readonly raw?: string;
  readonly error?: string;
  readonly [member: string]: unknown;
};

export interface TestHooks {
  readonly plugin: AdmissionPlugin;
  readonly calls: HookCall[];
  readonly index: HookIndex;
}

const EVERYTHING = [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }];

/** Hooks by name, called at `https://hook.test/<name>`. */
export function testHooks(
  kind: 'mutating' | 'validating',
  hooks: Readonly<Record<string, Partial<MutatingWebhook>>>,
  judge: Judge = () => ({}),
  more: Partial<HookParts> = {},
): TestHooks {
  const calls: HookCall[] = [];
  const index = new HookIndex(compiler);
  const webhooks = Object.entries(hooks).map(([name, spec]) => ({
    name,
    clientConfig: { url: `https://hook.test/${name}` },
    rules: EVERYTHING,
    failurePolicy: 'Fail',
    matchPolicy: 'Equivalent',
    namespaceSelector: {},
    objectSelector: {},
    sideEffects: 'None',
    timeoutSeconds: 10,
    admissionReviewVersions: ['v1'],
    ...spec,
  }));
  index.put({ metadata: { name: 'configuration' }, webhooks } as KubeObject);
  const client = {
    close: () => undefined,
    async request({ url, body }: OutboundRequest) {
      const { request } = JSON.parse(body as string) as HookCall;
      const question = { hook: url.pathname.slice(1), request };
      calls.push(question);
      const { raw, error, patch, ...response } = judge(question);
      if (error !== undefined) throw new OutboundError('dial', error);
      const patched = patch && {
        patchType: 'JSONPatch',
        patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
      };
      const review = {
        apiVersion: 'admission.k8s.io/v1',
        kind: 'AdmissionReview',
        response: { uid: request.uid, allowed: true, ...patched, ...response },
      };
      return {
        status: 200,
        headers: { 'content-type': 'application/json' },
        rawHeaders: [],
        body: Readable.from([Buffer.from(raw ?? JSON.stringify(review))]),
      };
    },
  };
  const parts: HookParts = {
    served: {
      equivalentsOf: () => [],
      convert: () => undefined,
      inVersion: (_resource, object) => object,
      encode: (_resource, _kind, object) => JSON.stringify(object),
      toStored: (_resource, _kind, tree) => tree as KubeObject,
      typeOf: () => undefined,
    },
    authorizer: { authorize: () => ({ decision: 'no-opinion', reason: '' }) },
    certificates: certificateNotes(new MetricRegistry(), 'webhooks'),
    clients: { of: ({ url = '' }) => ({ client, url, address: new URL(url), headers: {} }) },
    newUid: () => 'uid-1',
    nowMs: () => 0,
    wait: async () => undefined,
    log: silentLog,
    ...more,
  };
  const source = {
    ready: true,
    whenReady: async () => true,
    get hooks() {
      return index.hooks;
    },
  };
  const make = kind === 'mutating' ? mutatingAdmissionWebhook : validatingAdmissionWebhook;
  return { plugin: make({ source, parts: () => parts }), calls, index };
}
