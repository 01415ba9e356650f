// A watch whose objects are converted on their way, in order.
import { errorText } from '../../lib/text/error-text.js';
import type { Entry } from '../../storage/entry.js';
import type {
  ResourceStore,
  StorageError,
  StoredObject,
  Watch,
  WatchEvent,
  WatchRequest,
} from '../../storage/store.js';
import { StorageError as StoreError, unselected } from '../../storage/store.js';

export interface ConvertedView {
  readonly base: ResourceStore;
  seenAll(stored: readonly StoredObject[], shared: boolean): Promise<readonly StoredObject[]>;
}

type Receive = (events: readonly WatchEvent[]) => boolean;
type ObjectEvent = Exclude<WatchEvent, { readonly type: 'BOOKMARK' }>;

/** Events that wait to be converted; beyond it the watch has fallen behind. */
const MAX_WAITING_EVENTS = 10_000;

export async function watchConverted(view: ConvertedView, request: WatchRequest, receive: Receive): Promise<Watch> {
  const over = new AbortController();
  const queue = new ConvertingQueue(view, request, receive, over);
  // Selectors apply to the converted object.
  const { drained, ...rest } = unselected(request);
  const watch = await view.base.watch(
    {
      ...rest,
      signal: AbortSignal.any([request.signal, over.signal]),
      drained: async () => {
        await queue.idle();
        await drained?.();
      },
    },
    (events) => queue.push(events),
  );
  return {
    ended: watch.ended.then(async (error) => {
      if (!request.signal.aborted) await queue.idle();
      return queue.failure ?? error;
    }),
  };
}

class ConvertingQueue {
  failure: StorageError | undefined;
  #waiting: WatchEvent[] = [];
  #working: Promise<void> | undefined;

  constructor(
    private readonly view: ConvertedView,
    private readonly request: WatchRequest,
    private readonly receive: Receive,
    private readonly over: AbortController,
  ) {}

  push(events: readonly WatchEvent[]): boolean {
    if (this.over.signal.aborted || this.#waiting.length > MAX_WAITING_EVENTS) return false;
    for (const event of events) this.#waiting.push(event);
    this.#working ??= this.#work().finally(() => (this.#working = undefined));
    return true;
  }

  async idle(): Promise<void> {
    while (this.#working !== undefined) await this.#working;
  }

  async #work(): Promise<void> {
    try {
      while (this.#waiting.length > 0 && !this.over.signal.aborted && !this.request.signal.aborted) {
        const events = this.#waiting;
        this.#waiting = [];
        const seen = await this.#seen(events);
        if (this.request.signal.aborted) return;
        if (seen.length > 0 && !this.receive(seen)) this.over.abort();
      }
    } catch (error) {
      // Nobody awaits this: any error ends the watch and is sent to its client.
      this.failure = error instanceof StoreError ? error : new StoreError('conversion', errorText(error));
      this.over.abort();
    }
  }

  async #seen(events: readonly WatchEvent[]): Promise<readonly WatchEvent[]> {
    const { predicate } = this.request;
    const objects = events.flatMap((event) => {
      if (event.type === 'BOOKMARK') return [];
      return predicate !== undefined && event.previous !== undefined ? [event.object, event.previous] : [event.object];
    });
    const converted = await this.view.seenAll(objects, true);
    const byStored = new Map(objects.map((object, index) => [object, converted[index] ?? object]));
    const at = (object: StoredObject): StoredObject => byStored.get(object) ?? object;
    return events.flatMap((event) => {
      if (event.type === 'BOOKMARK') return [event];
      const { type, previous } = event;
      const object = at(event.object);
      if (predicate === undefined || type !== 'MODIFIED' || previous === undefined) {
        return predicate === undefined || predicate(object) ? [sharedEvent(event, object)] : [];
      }
      return selected(object, at(previous), predicate);
    });
  }
}

/** What a change is to who sees only some objects. */
function selected(
  object: StoredObject,
  previous: StoredObject,
  predicate: NonNullable<WatchRequest['predicate']>,
): WatchEvent[] {
  const before = predicate(previous);
  if (predicate(object)) return [{ type: before ? 'MODIFIED' : 'ADDED', object }];
  return before ? [{ type: 'DELETED', object: (previous as Entry).deletedAt(object.revision) }] : [];
}

const shared = new WeakMap<ObjectEvent, Map<StoredObject, WatchEvent>>();

/** One event for all watches of a version, so that its encodings are made once. */
function sharedEvent(event: ObjectEvent, object: StoredObject): WatchEvent {
  if (object === event.object) return event;
  const known = shared.get(event)?.get(object);
  if (known !== undefined) return known;
  const made: WatchEvent = { type: event.type, object };
  const all = shared.get(event) ?? new Map<StoredObject, WatchEvent>();
  all.set(object, made);
  shared.set(event, all);
  return made;
}
