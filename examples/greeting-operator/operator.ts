// Gives every Greeting a ConfigMap with its text, and writes the text into its status.
import { setTimeout as delay } from 'node:timers/promises';
import { Api, type ApiAddress } from './api.js';

export interface Greeting {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string; readonly uid: string };
  readonly spec: { readonly name: string };
  readonly status?: { readonly text?: string };
}

const GREETINGS = '/apis/example.test/v1/greetings';
const FIELD_MANAGER = 'greeting-operator';
const RETRY_MS = 20;

/** Works until the signal aborts; all that goes wrong meanwhile is tried again. */
export async function runOperator(address: ApiAddress, signal: AbortSignal): Promise<void> {
  const api = new Api(address);
  while (!signal.aborted) {
    // A watch that ends is nothing unusual: list again, and watch from there.
    await listAndWatch(api, signal).catch(() => undefined);
    await delay(RETRY_MS, undefined, { signal }).catch(() => undefined);
  }
  api.close();
}

async function listAndWatch(api: Api, signal: AbortSignal): Promise<void> {
  const list = await api.request<{ metadata: { resourceVersion: string }; items: Greeting[] }>('GET', GREETINGS);
  if (list.status !== 200) return;
  // What a list has, it does not say the kind of.
  for (const item of list.body.items)
    await reconcile(api, { ...item, apiVersion: 'example.test/v1', kind: 'Greeting' }, signal);
  const from = `${GREETINGS}?watch=1&resourceVersion=${list.body.metadata.resourceVersion}`;
  for await (const { type, object } of api.watch<Greeting>(from, signal)) {
    if (type === 'ERROR') return;
    if (type === 'ADDED' || type === 'MODIFIED') await reconcile(api, object, signal);
  }
}

async function reconcile(api: Api, greeting: Greeting, signal: AbortSignal): Promise<void> {
  const { apiVersion, kind, metadata, spec } = greeting;
  const { name, namespace, uid } = metadata;
  const text = `hello, ${spec.name}`;
  const configMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace, ownerReferences: [{ apiVersion, kind, name, uid }] },
    data: { text },
  };
  // Applying says what is wanted, so that it can be done again without harm when the answer is lost.
  const apply = (at: string, object: unknown): Promise<void> =>
    untilDone(signal, async () => {
      const query = `?fieldManager=${FIELD_MANAGER}&force=true`;
      return (await api.request('PATCH', at + query, object, 'application/apply-patch+yaml')).status;
    });
  await apply(`/api/v1/namespaces/${namespace}/configmaps/${name}`, configMap);
  if (greeting.status?.text === text) return;
  const status = { apiVersion, kind, metadata: { name, namespace }, status: { text } };
  await apply(`/apis/example.test/v1/namespaces/${namespace}/greetings/${name}/status`, status);
}

/** What is gone, or refused for good, needs no second try. */
async function untilDone(signal: AbortSignal, send: () => Promise<number>): Promise<void> {
  while (!signal.aborted) {
    const status = await send();
    if (status < 400 || (status < 500 && status !== 409 && status !== 429)) return;
    await delay(RETRY_MS, undefined, { signal });
  }
}
