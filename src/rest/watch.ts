import { type HttpResponse, isWebSocketRequest, type ResponseSink } from '../lib/http.js';
import { whenAborted } from '../lib/when-aborted.js';
import { methodNotAllowed, notAcceptable, type StatusError } from '../machinery/status.js';
import { watch } from '../registry/list.js';
import { watchFailure } from '../registry/storage-status.js';
import { StorageError, type WatchEvent, type WatchRequest } from '../storage/store.js';
import type { Endpoint } from './endpoint.js';
import { checkResourceVersion } from './get.js';
import { type MediaType, streamNames } from './media-types.js';
import { negotiate } from './negotiate.js';
import type { ListOptions } from './query-options.js';
import type { RestRequest } from './request.js';
import { selectionOf } from './selection.js';
import type { RestServices } from './services.js';
import { type EventEncoder, eventEncoder } from './watch-events.js';
import type { PacedOutput } from './unread-events.js';
import { acceptWebSocket } from './web-socket.js';
import { unframed } from './wire.js';

/** What a timer takes, about 24 days. */
const LONGEST_MS = 2 ** 31 - 1;

export async function watchObjects(
  services: RestServices,
  endpoint: Endpoint,
  request: RestRequest,
  options: ListOptions,
): Promise<HttpResponse> {
  const { http, info } = request;
  const negotiated = negotiate(http, services.mediaTypes, { streams: true });
  const selection = selectionOf(endpoint, options, info.name);
  const { verbs } = endpoint.definition;
  if (verbs !== undefined && !verbs.includes('watch')) throw methodNotAllowed(endpoint.resource, 'watch');
  checkResourceVersion(options.resourceVersion);
  const { streamName } = negotiated.media;
  if (streamName === undefined) throw notAcceptable(streamNames(services.mediaTypes));
  const encoder = eventEncoder(endpoint, negotiated, http.query, services.clock);
  const lastsMs = Math.min(Math.round(watchSeconds(services, options) * 1000), LONGEST_MS);
  const wanted = {
    namespace: info.namespace,
    ...selection,
    resourceVersion: options.resourceVersion,
    resourceVersionMatch: options.resourceVersionMatch,
    allowBookmarks: options.allowWatchBookmarks,
    ...(options.sendInitialEvents !== undefined && { sendInitialEvents: options.sendInitialEvents }),
  };
  const stream = (sink: ResponseSink, outputTo: (paced: PacedOutput) => Output): Promise<void> =>
    streamWatch({ services, endpoint, wanted, lastsMs }, sink, outputTo);
  if (http.upgrade !== undefined && isWebSocketRequest(http)) {
    const { media } = negotiated;
    const protocols = request.websocketProtocols ?? http.headers['sec-websocket-protocol'];
    return acceptWebSocket(http, { isText: media.encoding === 'json', protocols }, (sink) =>
      stream(sink, (paced) => asMessages(encoder, media, paced)),
    );
  }
  return {
    status: 200,
    headers: { 'content-type': streamName },
    body: { stream: (sink) => stream(sink, (paced) => asStream(encoder, paced)) },
  };
}

interface Watched {
  readonly services: Pick<RestServices, 'unreadEvents' | 'shutdown'>;
  readonly endpoint: Endpoint;
  readonly wanted: Omit<WatchRequest, 'signal' | 'timeoutAtMs' | 'drained'>;
  readonly lastsMs: number;
}

/** One reason for all: without one each would be made an error of its own, with a trace. */
const OVER = new Error('the watch is over');

/** One signal for all that can end a watch, for thousands are kept. */
async function streamWatch(
  { services, endpoint, wanted, lastsMs }: Watched,
  sink: ResponseSink,
  outputTo: (paced: PacedOutput) => Output,
): Promise<void> {
  const over = new AbortController();
  const end = (): void => over.abort(OVER);
  const paced = services.unreadEvents.open(sink, end);
  const timer = setTimeout(end, lastsMs);
  sink.signal.addEventListener('abort', end);
  if (sink.signal.aborted) end();
  const stay = whenAborted(services.shutdown, end);
  try {
    const pace = { timeoutAtMs: Date.now() + lastsMs, drained: () => paced.drained() };
    await run(endpoint, { ...wanted, ...pace, signal: over.signal }, outputTo(paced));
    // What was there to tell is told before the stream ends, unless nobody wants it any more.
    if (!sink.signal.aborted) await Promise.race([paced.drained(), gone(sink.signal)]);
  } finally {
    clearTimeout(timer);
    stay();
    sink.signal.removeEventListener('abort', end);
    paced.end();
  }
}

function watchSeconds(services: RestServices, { timeoutSeconds }: ListOptions): number {
  if (timeoutSeconds !== undefined && timeoutSeconds !== 0) return Math.max(0, timeoutSeconds);
  return services.minWatchSeconds * (1 + services.random());
}

/** Where events go. */
interface Output {
  events(events: readonly WatchEvent[]): void;
  error(error: StatusError): void;
}

const asStream = (encoder: EventEncoder, paced: PacedOutput): Output => ({
  events: (events) => paced.write(encoder.events(events)),
  error: (error) => paced.write(encoder.error(error)),
});

/** Each event a message of its own, which needs no other frame. */
const asMessages = (encoder: EventEncoder, media: MediaType, paced: PacedOutput): Output => ({
  events(events) {
    for (const event of events) paced.write(unframed(media, encoder.events([event])));
  },
  error: (error) => paced.write(unframed(media, encoder.error(error))),
});

async function run(endpoint: Endpoint, wanted: Parameters<typeof watch>[1], output: Output): Promise<void> {
  // hot: runs for every watcher on every batch of events.
  const receive = (events: readonly WatchEvent[]): boolean => {
    if (events.length > 0) output.events(events);
    return !wanted.signal.aborted;
  };
  try {
    const { ended } = await watch(endpoint.registry, wanted, receive);
    const error = await ended;
    if (error !== undefined && !wanted.signal.aborted) output.error(watchFailure(error));
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    output.error(watchFailure(error));
  }
}

const gone = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
