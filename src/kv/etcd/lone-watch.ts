// A watch on a stream of its own: what its member says of progress is about this watch alone.
import { errorText } from '../../lib/text/error-text.js';
import { KvError, type KvWatchReceiver } from '../kv.js';
import { kvError } from './client.js';
import type { Endpoints } from './endpoints.js';
import { WatchStream } from './watch-stream.js';

export interface LoneWatch {
  /** Its receiver hears nothing more. */
  cancel(): void;
  /** Leads to `progress` once etcd has handed over everything up to some revision; not while the watch is behind. */
  requestProgress(): void;
}

export interface LoneWatchRequest {
  readonly prefix: string;
  readonly startRevision: number;
}

/** With what each change replaced. The receiver's `failed` is called when the stream is lost, too. */
export function watchAlone(
  endpoints: Endpoints,
  { prefix, startRevision }: LoneWatchRequest,
  receiver: KvWatchReceiver,
): LoneWatch {
  let stream: WatchStream | undefined;
  let isCancelled = false;
  const fail = (error: KvError): void => {
    if (!isCancelled) receiver.failed(error);
  };
  const begin = async (): Promise<void> => {
    const { connection } = await endpoints.member();
    if (isCancelled) return;
    if (connection === undefined) throw new KvError('unavailable', 'no member of etcd answers');
    stream = new WatchStream(connection, {
      answered: () => undefined,
      failed: (_watch, error) => fail(error),
      lost: (_stream, error) => fail(kvError(error)),
    });
    stream.add({ id: 1, prefix, previous: true, receiver, nextRevision: startRevision, busy: undefined });
    stream.requestProgress();
  };
  begin().catch((error: unknown) =>
    fail(error instanceof KvError ? error : new KvError('unavailable', errorText(error))),
  );
  return {
    cancel: () => {
      isCancelled = true;
      stream?.close();
    },
    requestProgress: () => stream?.requestProgress(),
  };
}
