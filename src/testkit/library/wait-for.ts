// Waits until an object is as wanted: looks, and watches from there.
import { setTimeout as delay } from 'node:timers/promises';
import { type ApiClient, failureText } from './api-client.js';
import { collectionPath, notServed } from './resource-paths.js';
import type { KubernetesObject, ObjectReference, WaitCondition, WaitOptions } from './types.js';

const TIMEOUT_MS = 10_000;
const RETRY_MS = 50;
/** What a client tries again: too many requests, and what is wrong with the server for now. */
const isTransient = (status: number): boolean => status === 429 || status >= 500;

type Judge = (object: KubernetesObject | undefined) => boolean;

export async function waitFor<T extends KubernetesObject>(
  api: ApiClient,
  object: ObjectReference,
  condition: WaitCondition<T>,
  { timeoutMs = TIMEOUT_MS, signal: given }: WaitOptions,
): Promise<T | undefined> {
  const isAsWanted = judgeOf(condition);
  const collection = await collectionPath(api, object);
  if (collection === undefined) throw notServed(object);
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(), timeoutMs);
  const signal = given === undefined ? ending.signal : AbortSignal.any([ending.signal, given]);
  const seen: { last?: KubernetesObject | undefined } = {};
  const judge: Judge = (found) => {
    seen.last = found;
    return isAsWanted(found);
  };
  try {
    for (;;) {
      const found = await look(api, `${collection}?fieldSelector=metadata.name%3D${object.name}`, judge, signal);
      if (found !== undefined) return found.object as T | undefined;
    }
  } catch (error) {
    given?.throwIfAborted();
    if (!ending.signal.aborted) throw error;
    const { kind, namespace, name } = object;
    const last = seen.last === undefined ? 'it is not there' : `last seen: ${JSON.stringify(seen.last)}`;
    const where = namespace === undefined ? name : `${namespace}/${name}`;
    const what = `${kind} ${where}: ${textOf(condition)} did not hold within ${timeoutMs} ms; ${last}`;
    throw new Error(what, { cause: error });
  } finally {
    clearTimeout(timer);
    // Ends the watch.
    ending.abort();
  }
}

const textOf = (condition: WaitCondition<never>): string =>
  typeof condition === 'function' ? condition.toString() : condition;

function judgeOf<T extends KubernetesObject>(condition: WaitCondition<T>): Judge {
  // Of which type the object is, its waiter knows.
  if (typeof condition === 'function') return (object) => object !== undefined && condition(object as T);
  if (condition === 'create') return (object) => object !== undefined;
  if (condition === 'delete') return (object) => object === undefined;
  const [word, type, status = 'True'] = condition.split('=');
  if (word !== 'condition' || type === undefined) throw new Error(`not a condition to wait for: ${condition}`);
  return (object) => conditionsOf(object).some((one) => one.type === type && one.status === status);
}

const conditionsOf = (object: KubernetesObject | undefined): readonly { type?: string; status?: string }[] =>
  (object?.['status'] as { conditions?: { type?: string; status?: string }[] } | undefined)?.conditions ?? [];

/** Undefined when the watch ended: then one has to look again. */
async function look(
  api: ApiClient,
  at: string,
  judge: Judge,
  signal: AbortSignal,
): Promise<{ readonly object: KubernetesObject | undefined } | undefined> {
  const response = await api.request('GET', at, { signal });
  if (isTransient(response.status)) {
    await delay(RETRY_MS, undefined, { signal });
    return undefined;
  }
  if (response.status !== 200) throw new Error(failureText(`GET ${at}`, response.status, response.text));
  const list = response.json<KubernetesObject>();
  const [first] = list['items'] as readonly KubernetesObject[];
  if (judge(first)) return { object: first };
  const from = list.metadata?.resourceVersion ?? '';
  for await (const line of api.lines(`${at}&watch=1&resourceVersion=${from}`, signal)) {
    const { type, object } = JSON.parse(line) as { type: string; object: KubernetesObject };
    if (type === 'ERROR') return undefined;
    if (type === 'BOOKMARK') continue;
    const now = type === 'DELETED' ? undefined : object;
    if (judge(now)) return { object: now };
  }
  return undefined;
}
