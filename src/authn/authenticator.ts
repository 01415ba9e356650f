import type { HttpRequest } from '../lib/http/http.js';
import type { MaybePromise } from '../lib/async/maybe-promise.js';
import { aggregateText } from '../machinery/field-error.js';
import type { UserInfo } from '../machinery/user.js';

export interface Authenticated {
  readonly user: UserInfo;
  /** The audiences the credential was checked for; absent when it has none. */
  readonly audiences?: readonly string[];
  /** Sent as Warning headers with the answer. */
  readonly warnings?: readonly string[];
  /** Put on the request's audit event. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** What is left of Sec-WebSocket-Protocol once the bearer token in it is removed. */
  readonly websocketProtocols?: string;
}

/**
 * `undefined`: nothing here for this authenticator. An AuthenticationError, thrown or rejected with: a credential that
 * was refused. What is known already is answered at once, without a promise.
 */
export interface RequestAuthenticator {
  authenticate(request: HttpRequest): MaybePromise<Authenticated | undefined>;
}

export interface TokenAuthenticator {
  /** `audiences`: those the caller accepts; empty for the server's own. `connection`: which one the token came by. */
  authenticateToken(
    token: string,
    audiences: readonly string[],
    connection?: object,
  ): MaybePromise<Authenticated | undefined>;
}

/** Why a credential was refused, one reason for each way that was tried: for the log and reviews, never for the client. */
export class AuthenticationError extends Error {
  readonly reasons: readonly string[];

  constructor(reasons: string | readonly string[]) {
    const list = typeof reasons === 'string' ? [reasons] : reasons;
    super(aggregateText(list));
    this.reasons = list;
  }
}
