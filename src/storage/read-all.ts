// Reading everything of one resource, as one state of the store: what the cache is filled with.
import type { MaybePromise } from '../lib/async/maybe-promise.js';
import { Yielder } from '../lib/scheduling/yield.js';
import { type KeyValue, type KeyValueStore, prefixEnd } from '../kv/kv.js';
import type { Contents } from './contents.js';
import type { Entry } from './entry.js';
import type { StoredValueFault } from './store.js';
import { faultOf, namesMore, unreadableList } from './unreadable.js';
import type { Values } from './values.js';

const LOAD_PAGE = 10_000;
/** A store in this process reads a page synchronously, so pages are small; counting the rest for each page is cheap. */
const LOCAL_LOAD_PAGE = 2_000;
/** The most values that a KMS plugin decrypts at once. */
const MAX_BEING_OPENED = 64;
/** After this many values the reader yields to the event loop if its time slice is exhausted. */
const VALUES_A_STEP = 32;

/** Puts everything into `contents` and answers the revision it is from. Fails naming what cannot be read. */
export async function readAll(kv: KeyValueStore, values: Values, contents: Contents): Promise<number> {
  const { options } = values;
  const end = prefixEnd(options.prefix);
  const limit = kv.local ? LOCAL_LOAD_PAGE : LOAD_PAGE;
  const faults: StoredValueFault[] = [];
  const yielder = new Yielder();
  let revision = 0;
  let start = options.prefix;
  for (;;) {
    const page = await kv.range({ start, end, limit, ...(revision > 0 ? { revision } : {}) });
    if (revision === 0) revision = page.revision;
    await readPage(values, page.kvs, { contents, faults, yielder });
    const last = page.kvs[page.kvs.length - 1];
    if (last !== undefined) start = `${last.key}\0`;
    if (page.count <= page.kvs.length) break;
  }
  if (faults.length > 0) throw unreadableList(options, faults);
  return revision;
}

/** Values whose keys are in memory are decrypted in bulk; values that need a KMS plugin, many at a time. */
async function readPage(
  values: Values,
  kvs: readonly KeyValue[],
  {
    contents,
    faults,
    yielder,
  }: { readonly contents: Contents; readonly faults: StoredValueFault[]; readonly yielder: Yielder },
): Promise<void> {
  const { options } = values;
  const made: MaybePromise<Entry | undefined>[] = [];
  let waiting: Promise<Entry | undefined>[] = [];
  const failed = (error: unknown): undefined => {
    const fault = faultOf(error);
    if (fault === undefined) throw error;
    faults.push(fault);
    if (!namesMore(options, faults.length)) throw unreadableList(options, faults);
  };
  for (const [index, { key, value, modRevision }] of kvs.entries()) {
    try {
      const name = key.slice(options.prefix.length);
      const left = values.leftEntry(name, value, modRevision);
      const entry = left ?? values.entry(name, value, modRevision);
      if (entry instanceof Promise) {
        const opened = entry.then(lookedInto).catch(failed);
        // It is awaited below, unless another has failed before.
        opened.catch(() => undefined);
        made.push(opened);
        waiting.push(opened);
      } else {
        made.push(left ?? lookedInto(entry));
      }
    } catch (error) {
      failed(error);
    }
    if (waiting.length >= MAX_BEING_OPENED) {
      await Promise.all(waiting);
      waiting = [];
    }
    if (index % VALUES_A_STEP === VALUES_A_STEP - 1) await yielder.yieldIfDue();
  }
  for (const entry of made) {
    const read = entry instanceof Promise ? await entry : entry;
    if (read !== undefined) contents.add(read);
  }
}

/** Now, while the bytes are at hand: those of all need not be in memory even once. */
const lookedInto = (entry: Entry): Entry => {
  entry.indexFields();
  entry.releaseBytes();
  entry.settle();
  return entry;
};
