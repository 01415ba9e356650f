// A namespace of its own on the servers that are tortured, and the calls of clients in it.
import { faultTime } from '../support/fault-time.js';
import type { TestAnswer, TestServer } from '../support/server.js';
import type { Version } from './history.js';
import type { Random } from './random.js';
import type { Recorder } from './recorder.js';
import type { Target } from './target.js';

/** Servers answer within 60 s or refuse; pauses and starts come on top. */
const DEADLINE_MS = 120_000;
const AGAIN_AFTER_MS = 20;

export interface Session {
  readonly recorder: Recorder;
  /** The path of its objects. */
  readonly path: string;
  /** When the clients are to end. */
  readonly ending: AbortSignal;
  anyServer(random: Random): Promise<TestServer>;
  /** Undefined when there was no answer. */
  call(random: Random, request: CallRequest): Promise<TestAnswer | undefined>;
}

export interface CallRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly contentType?: string;
}

export function createSession(options: {
  readonly target: Target;
  readonly recorder: Recorder;
  readonly namespace: string;
  readonly ending: AbortSignal;
}): Session {
  const { target, recorder, namespace, ending } = options;
  const anyServer = (random: Random): Promise<TestServer> => random.pick(target.servers).running();
  return {
    recorder,
    ending,
    path: `/api/v1/namespaces/${namespace}/configmaps`,
    anyServer,
    async call(random, { method, path, body, contentType }) {
      const server = await anyServer(random);
      const answer = server.request(method, path, body, contentType).catch(() => undefined);
      const late = new AbortController();
      const result = await Promise.race([
        answer,
        faultTime(DEADLINE_MS, { signal: late.signal }).then(
          () => 'late' as const,
          () => undefined,
        ),
      ]);
      late.abort();
      if (result === 'late') {
        recorder.overdue.push(`${method} ${path}`);
        return undefined;
      }
      // A server that is being killed refuses at once, and would be asked thousands of times.
      if (result === undefined) await faultTime(AGAIN_AFTER_MS);
      return result;
    },
  };
}

export interface ConfigMap {
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string };
  readonly data?: { readonly value?: string; readonly base?: string };
}

export const versionOf = ({ metadata, data }: ConfigMap): Version => ({
  key: metadata.name,
  revision: Number(metadata.resourceVersion),
  uid: metadata.uid,
  value: data?.value ?? '',
  base: data?.base,
});
