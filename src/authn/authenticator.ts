import type { HttpRequest } from '../lib/http.js';
import type { UserInfo } from '../machinery/user.js';

export interface Authenticated {
  readonly user: UserInfo;
  /** The audiences the credential was checked for; absent when it has none. */
  readonly audiences?: readonly string[];
  /** Sent as Warning headers with the answer. */
  readonly warnings?: readonly string[];
  /** Put on the request's audit event. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** What is left of Sec-WebSocket-Protocol once the bearer token in it is taken out. */
  readonly websocketProtocols?: string;
}

/** `undefined`: nothing here for this authenticator. An AuthenticationError: a credential that was refused. */
export interface RequestAuthenticator {
  authenticate(request: HttpRequest): Promise<Authenticated | undefined>;
}

export interface TokenAuthenticator {
  /** `audiences`: those the caller accepts; empty for the server's own. */
  authenticateToken(token: string, audiences: readonly string[]): Promise<Authenticated | undefined>;
}

/** Why a credential was refused: for the log, never for the client. */
export class AuthenticationError extends Error {}
