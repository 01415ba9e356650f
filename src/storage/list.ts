// Plans a list request, and answers it from an ordered state.
import { decodeContinue, encodeContinue, NEWEST } from './continue-token.js';
import type { Entry } from './entry.js';
import { goQuote } from '../lib/go/quote.js';
import { Yielder } from '../lib/scheduling/yield.js';
import type { State } from './snapshots.js';
import { type ListRequest, type ListResult, type Predicate, type ResourceStoreOptions, StorageError } from './store.js';

export type Freshness =
  /** The state at just this revision. */
  | { readonly kind: 'exact'; readonly revision: number }
  | { readonly kind: 'most-recent' }
  | { readonly kind: 'not-older-than'; readonly revision: number };

export interface ListPlan {
  readonly freshness: Freshness;
  /** Keys wanted: from `start`, before `end`, all starting with `prefix`; below the resource's prefix. */
  readonly prefix: string;
  readonly start: string;
  readonly end: string;
  readonly limit: number;
  /** A name wanted in every namespace, which no key range can say. */
  readonly nameAnywhere: string;
}

export function planList(options: ResourceStoreOptions, request: ListRequest): ListPlan {
  // A further page is read as a list, also of one name: what it goes on from is checked, and a condition names the name.
  const { namespace, continue: token } = request;
  const { prefix, single, nameAnywhere } = scopeOf(options, token === '' ? request : { namespace });
  const end = single ? `${prefix}\0` : prefix === '' ? '\uffff' : after(prefix);
  const { limit } = request;
  if (token !== '') {
    const { revision, start } = decodeContinue(token);
    if (request.resourceVersion !== '' && request.resourceVersion !== '0') {
      throw new StorageError('invalid-continue', 'specifying resource version is not allowed when using continue');
    }
    const freshness: Freshness =
      revision === NEWEST || revision < 0 ? { kind: 'most-recent' } : { kind: 'exact', revision };
    return { freshness, prefix, start: prefix + start, end, limit, nameAnywhere };
  }
  return { freshness: freshnessOf(request, single), prefix, start: prefix, end, limit, nameAnywhere };
}

/** Which keys a request is about. */
export function scopeOf(
  options: ResourceStoreOptions,
  { namespace, name = '' }: { readonly namespace: string; readonly name?: string },
): { readonly prefix: string; readonly single: boolean; readonly nameAnywhere: string } {
  if (!options.namespaced) return { prefix: name, single: name !== '', nameAnywhere: '' };
  if (namespace === '') return { prefix: '', single: false, nameAnywhere: name };
  return { prefix: `${namespace}/${name}`, single: name !== '', nameAnywhere: '' };
}

/** What of it lies in such a scope. */
export function inScope<T extends { readonly key: string }>(
  changes: readonly T[],
  { prefix, single, nameAnywhere }: ReturnType<typeof scopeOf>,
): readonly T[] {
  if (single) return changes.filter(({ key }) => key === prefix);
  if (nameAnywhere !== '') return changes.filter(({ key }) => key.endsWith(`/${nameAnywhere}`));
  return prefix === '' ? changes : changes.filter(({ key }) => key.startsWith(prefix));
}

/** A resourceVersion as it was sent; '' and '0' are 0. */
export function parseRevision(text: string): number {
  if (text === '' || text === '0') return 0;
  const revision = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(revision) || revision > Number.MAX_SAFE_INTEGER) {
    const why = Number.isNaN(revision) ? 'invalid syntax' : 'value out of range';
    throw new StorageError(
      'invalid-continue',
      `invalid resource version: resourceVersion: Invalid value: ${goQuote(text)}: strconv.ParseUint: parsing ${goQuote(text)}: ${why}`,
    );
  }
  return revision;
}

// hot: every list
export function listFrom(state: State, plan: ListPlan, request: ListRequest, revision: number): ListResult {
  const page = new Page(plan, request);
  state.forRange(plan.start, plan.end, false, (key, entry) => (page.takes(key, entry) ? undefined : STOP));
  const result = page.result(revision);
  if (result.continue === '' || request.predicate !== undefined || plan.nameAnywhere !== '') return result;
  return { ...result, remainingItemCount: state.forRange(plan.start, plan.end, false) - result.items.length };
}

const STOP = { break: true };

/** A predicate evaluates this many objects in a few milliseconds, also where it first scans their JSON. */
const ASKED_AT_ONCE = 64;

/** Lists as listFrom does, and yields to the event loop between objects. The state must not change meanwhile. */
export async function listCooperatively(
  state: State,
  plan: ListPlan,
  request: ListRequest,
  revision: number,
): Promise<ListResult> {
  const page = new Page(plan, request);
  const yielder = new Yielder();
  for (let from: string | undefined = plan.start; from !== undefined;) {
    let next: string | undefined;
    let asked = 0;
    state.forRange(from, plan.end, false, (key, entry) => {
      if (asked++ === ASKED_AT_ONCE) next = key;
      else if (page.takes(key, entry)) return undefined;
      return STOP;
    });
    from = next;
    if (from !== undefined) await yielder.yieldIfDue();
  }
  return page.result(revision);
}

/** Lists from objects that an index found, in the order of their keys. */
export function listFound(found: readonly Entry[], plan: ListPlan, request: ListRequest, revision: number): ListResult {
  const page = new Page(plan, request);
  for (const entry of found) {
    if (entry.key < plan.start) continue;
    if (entry.key >= plan.end || !page.takes(entry.key, entry)) break;
  }
  return page.result(revision);
}

/** listFound(), cooperatively. */
export async function listFoundCooperatively(
  found: readonly Entry[],
  plan: ListPlan,
  request: ListRequest,
  revision: number,
): Promise<ListResult> {
  const page = new Page(plan, request);
  const yielder = new Yielder();
  for (const [at, entry] of found.entries()) {
    if (entry.key < plan.start) continue;
    if (entry.key >= plan.end || !page.takes(entry.key, entry)) break;
    if (at % ASKED_AT_ONCE === 0) await yielder.yieldIfDue();
  }
  return page.result(revision);
}

class Page {
  readonly #items: Entry[] = [];
  readonly #suffix: string;
  readonly #predicate: Predicate | undefined;
  #isFull = false;

  constructor(
    private readonly plan: ListPlan,
    { predicate }: ListRequest,
  ) {
    this.#suffix = plan.nameAnywhere === '' ? '' : `/${plan.nameAnywhere}`;
    this.#predicate = predicate;
  }

  /** False when there is no room: others have to come on a further page. */
  takes(key: string, entry: Entry): boolean {
    if (this.plan.limit > 0 && this.#items.length >= this.plan.limit) {
      this.#isFull = true;
      return false;
    }
    if (this.#suffix !== '' && !key.endsWith(this.#suffix)) return true;
    if (this.#predicate === undefined || this.#predicate(entry)) this.#items.push(entry);
    return true;
  }

  result(revision: number): ListResult {
    const items = this.#items;
    const last = items[items.length - 1]?.key ?? '';
    return { items, revision, continue: this.#isFull ? nextCachedPage(this.plan, last, revision) : '' };
  }
}

/** As kube-apiserver's cache writes it, with the slash that its store leaves out; either is read. */
export const nextCachedPage = (plan: ListPlan, lastKey: string, revision: number): string =>
  encodeContinue({ revision, start: `/${lastKey.slice(plan.prefix.length)}\0` });

export const nextPage = (plan: ListPlan, lastKey: string, revision: number): string =>
  encodeContinue({ revision, start: `${lastKey.slice(plan.prefix.length)}\0` });

export const expiredContinue = (plan: ListPlan, requestedRevision: number): StorageError =>
  new StorageError(
    'expired-continue',
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without ' +
      'the continue parameter, or use the continue token in this response to retrieve the remainder of the results. ' +
      'Continuing with the provided token results in an inconsistent list - objects that were created, modified, or ' +
      'deleted between the time the first chunk was returned and now may show up in the list.',
    {
      requestedRevision,
      inconsistentContinue: encodeContinue({ revision: NEWEST, start: plan.start.slice(plan.prefix.length) }),
    },
  );

export const expiredList = (requestedRevision: number): StorageError =>
  new StorageError('too-old', 'The resourceVersion for the provided list is too old.', { requestedRevision });

export const tooNew = (requestedRevision: number, currentRevision: number): StorageError =>
  new StorageError('too-new', `Too large resource version: ${requestedRevision}, current: ${currentRevision}`, {
    requestedRevision,
    currentRevision,
  });

function freshnessOf(request: ListRequest, single: boolean): Freshness {
  const revision = parseRevision(request.resourceVersion);
  switch (request.resourceVersionMatch) {
    case 'Exact':
      return { kind: 'exact', revision };
    case 'NotOlderThan':
      return { kind: 'not-older-than', revision };
    case '':
      if (request.resourceVersion === '') return { kind: 'most-recent' };
      // A limited list at a revision has always meant just that revision.
      if (!single && request.limit > 0 && revision > 0) return { kind: 'exact', revision };
      return { kind: 'not-older-than', revision };
  }
}

const after = (prefix: string): string =>
  prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
