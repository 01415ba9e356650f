import { type HttpResponse, isWebSocketRequest, type ResponseSink } from '../../lib/http/http.js';
import { whenAborted, whenGone } from '../../lib/async/when-aborted.js';
import { type MaybePromise, whenReady } from '../../lib/async/maybe-promise.js';
import { requestScope } from '../../machinery/request-scope.js';
import { methodNotAllowed, notAcceptable } from '../../machinery/status.js';
import { awaitReady, watch } from '../../registry/list.js';
import { watchFailure } from '../../registry/storage-status.js';
import { StorageError, type WatchEvent, type WatchRequest } from '../../storage/store.js';
import type { Endpoint } from '../contract/endpoint.js';
import { checkResourceVersion } from '../verbs/get.js';
import { type MediaType, streamNames } from '../wire/media-types.js';
import { negotiate, OF_LISTS } from '../wire/negotiate.js';
import type { ListOptions } from '../contract/query-options.js';
import type { RestRequest } from '../contract/request.js';
import type { ObserveEvents } from '../contract/metrics.js';
import { selectionOf } from '../contract/selection.js';
import type { RestServices } from '../contract/services.js';
import { type EventEncoder, eventEncoder } from './watch-events.js';
import { OrderedOutput } from './ordered-output.js';
import { acceptWebSocket, offeredProtocols } from '../contract/web-socket.js';
import { unframed } from '../wire/codec.js';

/** The longest delay of a timer, about 24 days. */
const MAX_MS = 2 ** 31 - 1;

export async function watchObjects(
  services: RestServices,
  endpoint: Endpoint,
  request: RestRequest,
  options: ListOptions,
): Promise<HttpResponse> {
  const { http, info } = request;
  const negotiated = negotiate(http, services.mediaTypes, OF_LISTS);
  const selection = selectionOf(endpoint, options, info.name);
  const { verbs } = endpoint.definition;
  if (verbs !== undefined && !verbs.includes('watch')) throw methodNotAllowed(endpoint.resource, 'watch');
  checkResourceVersion(options.resourceVersion);
  const { streamName } = negotiated.media;
  if (streamName === undefined) throw notAcceptable(streamNames(services.mediaTypes));
  // The error that ends a watch goes into its stream; the error of a watch that cannot begin is the answer itself.
  await awaitReady(endpoint.registry);
  const encoder = eventEncoder(endpoint, negotiated, http.query, services);
  const lastsMs = Math.min(watchSeconds(services, options) * 1000, MAX_MS);
  const wanted = {
    namespace: info.namespace,
    ...selection,
    resourceVersion: options.resourceVersion,
    resourceVersionMatch: options.resourceVersionMatch,
    allowBookmarks: options.allowWatchBookmarks,
    ...(options.sendInitialEvents !== undefined && { sendInitialEvents: options.sendInitialEvents }),
  };
  const isForLists = negotiated.transform?.kind === 'PartialObjectMetadataList';
  const watched = { services, registry: endpoint.registry, encoder, isForLists, wanted, lastsMs };
  const counted = {
    ...watched,
    observe: services.metrics.events(endpoint),
    ...(options.sendInitialEvents === true && { initialEnd: whenInitialEnded(services, endpoint, request) }),
  };
  if (http.upgrade !== undefined && isWebSocketRequest(http)) {
    const { media } = negotiated;
    const form = { isText: media.encoding === 'json', offered: offeredProtocols(request) };
    return acceptWebSocket(http, form, (sink) => streamWatch({ ...watched, messages: media }, sink));
  }
  return {
    status: 200,
    headers: { 'content-type': streamName },
    body: { stream: (sink) => streamWatch(counted, sink) },
  };
}

interface Watched {
  readonly services: Pick<RestServices, 'watchBuffers' | 'shutdown'>;
  readonly registry: Endpoint['registry'];
  readonly encoder: EventEncoder;
  /** The requested form is one that no event has: the first event ends the watch silently. */
  readonly isForLists: boolean;
  /** Each event is a message of its own, which needs no other frame. */
  readonly messages?: MediaType;
  /** Counts what is sent; messages are not counted. */
  readonly observe?: ObserveEvents;
  /** Called when all initial events have been sent. */
  readonly initialEnd?: () => void;
  readonly wanted: Omit<WatchRequest, 'signal' | 'timeoutAtMs' | 'drained'>;
  readonly lastsMs: number;
}

/** One reason for all: without one each would be made an error of its own, with a trace. */
const OVER = new Error('the watch is over');

/** One signal for all that can end a watch, and one function that waits: thousands are kept. */
async function streamWatch(watched: Watched, sink: ResponseSink): Promise<void> {
  const { services, encoder, isForLists, messages, observe, initialEnd, lastsMs } = watched;
  const over = new AbortController();
  let isOver = false;
  const end = (): void => {
    isOver = true;
    over.abort(OVER);
  };
  const paced = services.watchBuffers.open(sink, end);
  const ordered = new OrderedOutput(paced);
  const timer = setTimeout(end, lastsMs);
  const leave = whenGone(sink, end);
  const stay = whenAborted(services.shutdown, end);
  // hot: runs for every watcher on every batch of events.
  const receive = (events: readonly WatchEvent[]): boolean => {
    if (isForLists && events.length > 0) end();
    else if (messages !== undefined) for (const event of events) ordered.write(() => message(messages, event), [event]);
    else if (events.length > 0) ordered.write(made, events);
    return !isOver;
  };
  const made = (events: readonly WatchEvent[]): MaybePromise<Buffer> => {
    const bytes = encoder.events(events);
    return bytes instanceof Promise ? bytes.then((later) => counted(events, later)) : counted(events, bytes);
  };
  const counted = (events: readonly WatchEvent[], bytes: Buffer): Buffer => {
    observe?.(events.length, bytes.length);
    if (initialEnd !== undefined && events.some(isInitialEnd)) initialEnd();
    return bytes;
  };
  const message = (media: MediaType, event: WatchEvent): MaybePromise<Buffer> =>
    whenReady(encoder.events([event]), (bytes) => unframed(media, bytes));
  const pace = { timeoutAtMs: Date.now() + lastsMs, drained: () => ordered.drained() };
  try {
    let failure: StorageError | undefined;
    try {
      const request = { ...watched.wanted, ...pace, signal: over.signal };
      const { ended } = await watch(watched.registry, request, receive);
      failure = await ended;
      if (isOver) failure = undefined;
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      failure = error;
    }
    if (failure !== undefined) {
      const bytes = encoder.error(watchFailure(failure));
      ordered.write(() => (messages === undefined ? bytes : unframed(messages, bytes)));
    }
    // Pending events are sent before the stream ends, unless the client is gone.
    if (!sink.signal.aborted) await Promise.race([ordered.drained(), gone(sink)]);
  } finally {
    clearTimeout(timer);
    stay();
    leave();
    paced.end();
  }
}

/** The request itself is not kept for as long as the watch lasts. */
function whenInitialEnded({ metrics }: RestServices, endpoint: Endpoint, request: RestRequest): () => void {
  const startedMs = request.startedMs ?? performance.now();
  const scope = requestScope(request.info);
  return () => metrics.initialEvents(endpoint, scope, (performance.now() - startedMs) / 1000);
}

const isInitialEnd = (event: WatchEvent): boolean => event.type === 'BOOKMARK' && event.initialEventsEnd === true;

/** In whole seconds, so that timers of the same length are few. */
function watchSeconds(services: RestServices, { timeoutSeconds }: ListOptions): number {
  if (timeoutSeconds !== undefined && timeoutSeconds !== 0) return Math.max(0, timeoutSeconds);
  return Math.round(services.minWatchSeconds * (1 + services.random()));
}

const gone = (sink: ResponseSink): Promise<void> => new Promise((resolve) => void whenGone(sink, resolve));
