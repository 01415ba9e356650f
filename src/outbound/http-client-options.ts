// What an HTTP client is made with.
import type { ClientTls } from './client-tls.js';
import type { Dialer } from './dialer.js';
import type { CredentialPlugin } from './credential-plugin.js';

export interface HttpClientOptions {
  readonly dialer: Dialer;
  /** Called for every new connection, so that renewed certificates apply. */
  readonly tls?: () => ClientTls;
  /** HTTP/2 is offered to servers over TLS unless this is false. */
  readonly http2?: boolean;
  /** A server that does not speak TLS is probed for plain HTTP, for a better error, unless this is false. */
  readonly probePlainHttp?: boolean;
  /** Requests accept gzip unless this is false. */
  readonly gzip?: boolean;
  /** How fast connections that left HTTP may be used, each way; 0 or nothing for as fast as they can. */
  readonly upgradedBytesPerSecond?: number;
  /** Where requests to an origin are really sent: a service's address under the service's name, for one. */
  readonly resolve?: (url: URL) => { readonly host: string; readonly port: number };
  /** An exec credential plugin, consulted for every request and connection. */
  readonly credentials?: Pick<CredentialPlugin, 'get' | 'refused'>;
  /** Default headers, names in lower case; a request's own headers override them. Called for every request. */
  readonly headers?: () => Readonly<Record<string, string | readonly string[]>>;
}
