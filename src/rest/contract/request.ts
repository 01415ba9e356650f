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
  /** What Sec-WebSocket-Protocol requests where authentication removed a token from it. */
  readonly websocketProtocols?: string | undefined;
  /** When it must have been answered, in milliseconds since the epoch; absent for one that may last. */
  readonly deadlineMs?: number | undefined;
  /** Adds a Warning header to the answer. */
  warn(text: string): void;
  /** Records how long the request waited in a layer. */
  spent?(layer: LatencyLayer, ms: number): void;
  /** Called once it is known that the resource has the verb. */
  served?(by: 'resource' | 'custom resource'): void;
  /** Called for a request in a deprecated version; `removedRelease` is empty when no release removes it. */
  deprecated?(removedRelease: string): void;
  /** Puts a note on the request's audit event; from a level on, where it is too much for the lower ones. */
  annotate(key: string, value: string, level?: Level): void;
  /** Where the work is recorded, and what outgoing calls carry; the verb puts its own span here. */
  trace?: Trace | undefined;
  /** Of a list, once the store is read; how many objects there are, once it has answered. */
  listing?: { readonly count?: number };
  /** Records the body, where the audit policy wants it. */
  readonly trail?: BodyTrail | undefined;
}
