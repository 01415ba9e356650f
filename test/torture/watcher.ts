import { faultTime } from '../support/fault-time.js';
import type { Span, WatchEvent } from './history.js';
import { listOnce } from './lister.js';
import type { Random } from './random.js';
import { type ConfigMap, type Session, versionOf } from './session.js';

const AGAIN_AFTER_MS = 20;
const MAX_EVENTS_OF_A_WATCH = 200;

export interface Watcher {
  /** The newest revision that it has seen. */
  newest(): number;
  reconnects(): number;
  expiries(): number;
  ended: Promise<void>;
}

/** Watches from the session's revision on, on any server, until the signal: every watch that ends is resumed. */
export function startWatcher(
  session: Session,
  { name, random, signal }: { name: string; random: Random; signal: AbortSignal },
): Watcher {
  const { recorder } = session;
  let span: Span = { watcher: name, from: recorder.from, events: [] };
  recorder.spans.push(span);
  let [reconnects, expiries] = [0, 0];
  const newest = (): number => span.events.at(-1)?.revision ?? span.from;
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      const end = await watchOnce(session, { span, from: newest(), random, signal });
      reconnects++;
      if (end === 'expired') {
        expiries++;
        const list = await listOnce(session, random, { match: 'newest', wanted: 0, limit: 0 });
        const from = list?.pages[0]?.revision;
        if (from === undefined) continue;
        span = { watcher: name, from, events: [] };
        recorder.spans.push(span);
      } else if (end === 'failed') await faultTime(AGAIN_AFTER_MS);
    }
  };
  const ended = run();
  ended.catch(() => undefined);
  return { newest, reconnects: () => reconnects, expiries: () => expiries, ended };
}

type End = 'expired' | 'failed' | 'closed';

/** One watch, until the server ends it, the signal, or after some events. */
async function watchOnce(
  session: Session,
  { span, from, random, signal }: { span: Span; from: number; random: Random; signal: AbortSignal },
): Promise<End> {
  const server = await session.anyServer(random);
  if (signal.aborted) return 'closed';
  const close = new AbortController();
  const stop = (): void => close.abort();
  signal.addEventListener('abort', stop, { once: true });
  let left = random.between(1, MAX_EVENTS_OF_A_WATCH);
  let end: End = 'closed';
  try {
    return await new Promise<End>((resolve) => {
      const path = `${session.path}?watch=true&allowWatchBookmarks=true&resourceVersion=${from}`;
      close.signal.addEventListener('abort', () => resolve(end), { once: true });
      const line = (event: { type: string; object: unknown }): void => {
        if (close.signal.aborted) return;
        const seen = eventOf(event, session.recorder.tick());
        if (seen === undefined) {
          // A watch that is refused has a Status for its only line.
          end = isExpired(event.object ?? event) ? 'expired' : 'failed';
          return close.abort();
        }
        span.events.push(seen);
        if (--left === 0) close.abort();
      };
      server
        .watch(path, close.signal, line, (status) =>
          resolve(status === 410 ? 'expired' : status === 200 ? end : 'failed'),
        )
        .catch(() => resolve('failed'));
    });
  } finally {
    signal.removeEventListener('abort', stop);
    close.abort();
  }
}

function eventOf({ type, object }: { type: string; object: unknown }, at: number): WatchEvent | undefined {
  if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED' && type !== 'BOOKMARK') return undefined;
  const configMap = object as ConfigMap;
  const revision = Number(configMap.metadata.resourceVersion);
  return { type, at, revision, ...(type !== 'BOOKMARK' && { version: versionOf(configMap) }) };
}

const isExpired = (status: unknown): boolean => (status as { code?: number } | undefined)?.code === 410;
