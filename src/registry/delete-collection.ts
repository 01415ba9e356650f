import { append } from '../lib/values/append.js';
import { Yielder } from '../lib/scheduling/yield.js';
import { StatusError } from '../machinery/status.js';
import { loaded, type ListRequest, type ListResult, type StoredObject } from '../storage/store.js';
import { checkDeadline } from './deadline.js';
import { deleteMember, type DeleteRequest } from './delete.js';
import { list } from './list.js';
import type { ResourceRegistry } from './registry.js';

const PAGE_SIZE = 10_000;

/** Deletes every object a list finds and answers that list. Not atomic: the first refusal ends it, and what went before stays deleted. */
export async function deleteCollection(
  registry: ResourceRegistry,
  selection: ListRequest,
  request: Omit<DeleteRequest, 'name'>,
): Promise<ListResult> {
  const items: StoredObject[] = [];
  let page = { ...selection, limit: selection.limit || PAGE_SIZE };
  let revision: number | undefined;
  for (;;) {
    const found = await list(registry, page);
    revision ??= found.revision;
    append(items, found.items);
    await deleteAll(registry, found.items, request);
    if (selection.limit > 0) return found;
    if (found.continue === '') return { items, revision, continue: '' };
    page = { ...page, continue: found.continue, resourceVersion: '', resourceVersionMatch: '' };
  }
}

async function deleteAll(
  registry: ResourceRegistry,
  items: readonly StoredObject[],
  request: Omit<DeleteRequest, 'name'>,
): Promise<void> {
  let next = 0;
  const yielder = new Yielder();
  const worker = async (): Promise<void> => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) {
      checkDeadline(request.context);
      // Nothing is waited for where nothing is written.
      await yielder.yieldIfDue();
      const { name = '', namespace = '' } = (await loaded(item)).metadata;
      try {
        await deleteMember(registry, { ...request, name, context: { ...request.context, namespace } });
      } catch (error) {
        if (!(error instanceof StatusError && error.code === 404)) throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, registry.deleteCollectionWorkers) }, worker));
}
