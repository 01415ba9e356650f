// Where a bearer token stands in a request: the Authorization header, or a WebSocket subprotocol (browsers can set
// no headers on WebSockets).
import { headerText, trimSpaces } from '../lib/http/header-text.js';
import { type HttpRequest, headerValues, isWebSocketRequest } from '../lib/http/http.js';
import { whenReady } from '../lib/async/maybe-promise.js';
import type { Authenticated, RequestAuthenticator, TokenAuthenticator } from './authenticator.js';
import { AuthenticationError } from './authenticator.js';

export const INVALID_BEARER_TOKEN = 'invalid bearer token';

export function createBearerAuthenticator(
  tokens: TokenAuthenticator,
  audiences: readonly string[],
): RequestAuthenticator {
  return {
    authenticate(request) {
      const token = tokenOf(request);
      if (token === '') return undefined;
      return whenReady(tokens.authenticateToken(token, audiences, request.connection), required);
    },
  };
}

/** Shown to clients that put more than one space before their token, which is then not seen. */
export const EXTRA_SPACE_WARNING =
  'the provided Authorization header contains extra space before the bearer token, and is ignored';

export const hasExtraSpace = (authorization: string): boolean => /^bearer  +\S/i.test(trimSpaces(authorization));

interface LastHeader {
  readonly authorization: string;
  readonly token: string;
}

/** A connection's header compression keeps the header for as long as it is open; so may we, and read it once. */
const lastHeaders = new WeakMap<object, LastHeader>();

// hot: every request with a token
function tokenOf({ headers, connection }: HttpRequest): string {
  const { authorization } = headers;
  if (authorization === undefined) return '';
  if (connection === undefined) return bearerToken(authorization);
  const last = lastHeaders.get(connection);
  if (last?.authorization === authorization) return last.token;
  const token = bearerToken(authorization);
  lastHeaders.set(connection, { authorization, token });
  return token;
}

function bearerToken(authorization: string): string {
  // hot: this is how clients write it.
  if (authorization.startsWith('Bearer ')) {
    const token = authorization.slice(7);
    if (!token.includes(' ') && trimSpaces(token) === token) return headerText(token);
  }
  const [scheme = '', token = ''] = trimSpaces(authorization).split(' ');
  return scheme.toLowerCase() === 'bearer' ? headerText(token) : '';
}

const PROTOCOL_PREFIX = 'base64url.bearer.authorization.k8s.io.';

export function createWebSocketAuthenticator(
  tokens: TokenAuthenticator,
  audiences: readonly string[],
): RequestAuthenticator {
  return {
    authenticate(request) {
      if (!isWebSocketRequest(request)) return undefined;
      const { token, rest } = splitProtocols(request);
      if (token === '') return undefined;
      // One other protocol must remain, to be answered to the client in place of the one with the token.
      if (rest.length === 0) throw new AuthenticationError('missing additional subprotocol');
      return whenReady(tokens.authenticateToken(token, audiences, request.connection), (result) => ({
        ...required(result),
        websocketProtocols: rest.join(','),
      }));
    },
  };
}

function splitProtocols(request: HttpRequest): { token: string; rest: string[] } {
  const protocols = headerValues(request, 'sec-websocket-protocol').flatMap((value) => value.split(','));
  const rest: string[] = [];
  let encoded: string | undefined;
  for (const protocol of protocols.map(trimSpaces)) {
    if (!protocol.startsWith(PROTOCOL_PREFIX)) {
      rest.push(protocol);
      continue;
    }
    if (encoded !== undefined) throw new AuthenticationError('multiple base64.bearer.authorization tokens specified');
    encoded = protocol.slice(PROTOCOL_PREFIX.length);
  }
  return { token: encoded === undefined ? '' : decodeToken(encoded), rest };
}

function decodeToken(encoded: string): string {
  if (!/^[A-Za-z0-9_-]*$/.test(encoded) || encoded.length % 4 === 1) {
    throw new AuthenticationError('invalid base64.bearer.authorization token encoding');
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(encoded, 'base64url'));
  } catch {
    throw new AuthenticationError('invalid base64.bearer.authorization token');
  }
}

export function required(result: Authenticated | undefined): Authenticated {
  if (result === undefined) throw new AuthenticationError(INVALID_BEARER_TOKEN);
  return result;
}
