import type { Level } from '../../audit/levels.js';
import type { BodyTrail } from '../../audit/trail.js';
import type { HttpRequest } from '../../lib/http/http.js';
import type { RequestInfo } from '../../machinery/request-info.js';
import type { LatencyLayer } from '../../machinery/request-latency.js';
import type { UserInfo } from '../../machinery/user.js';
import type { Trace } from '../../tracing/trace.js';

/** A request for a resource, after the filters. */
export interface RestRequest {
  readonly http: HttpRequest;
  readonly info: RequestInfo;
  readonly user: UserInfo;
  /** When it came, by the clock that only runs forward. */
  readonly startedMs?: number;
  /** What Sec-WebSocket-Protocol asks for where authentication took a token out of it. */
  readonly websocketProtocols?: string | undefined;
  /** When it must have been answered, in milliseconds since the epoch; absent for one that may last. */
  readonly deadlineMs?: number | undefined;
  /** Adds a Warning header to the answer. */
  warn(text: string): void;
  /** Told how long it waited for others. */
  spent?(layer: LatencyLayer, ms: number): void;
  /** Told once it is known that the resource has the verb. */
  served?(by: 'resource' | 'custom resource'): void;
  /** A deprecated version was asked for; `removedRelease` is empty when no release removes it. */
  deprecated?(removedRelease: string): void;
  /** Puts a note on the request's audit event; from a level on, where it is too much for the lower ones. */
  annotate(key: string, value: string, level?: Level): void;
  /** Where the work on it is recorded, and what those who are called for it are told; the verb puts its own span here. */
  trace?: Trace | undefined;
  /** Of a list, once the store is asked; how many objects there are, once it has answered. */
  listing?: { readonly count?: number };
  /** Where the body is told to, if anybody records it. */
  readonly trail?: BodyTrail | undefined;
}
