// What an HTTP client is made with.
import type { ClientTls } from './client-tls.js';
import type { Dialer } from './dialer.js';
import type { CredentialPlugin } from './credential-plugin.js';

export interface HttpClientOptions {
  readonly dialer: Dialer;
  /** Asked for every new connection, so that renewed certificates are taken up. */
  readonly tls?: () => ClientTls;
  /** HTTP/2 is offered to servers over TLS unless this is false. */
  readonly http2?: boolean;
  /** Who does not speak TLS is asked whether it speaks HTTP, to say so, unless this is false. */
  readonly probePlainHttp?: boolean;
  /** Nobody is told that answers may be packed where this is false. */
  readonly gzip?: boolean;
  /** How fast connections that left HTTP may be used, each way; 0 or nothing for as fast as they can. */
  readonly upgradedBytesPerSecond?: number;
  /** Where requests to an origin are really sent: a service's address under the service's name, for one. */
  readonly resolve?: (url: URL) => { readonly host: string; readonly port: number };
  /** A program that says who we are, asked for every request and connection. */
  readonly credentials?: Pick<CredentialPlugin, 'get' | 'refused'>;
  /** Go along with every request unless it has them itself; names in lower case. Asked for every request. */
  readonly headers?: () => Readonly<Record<string, string | readonly string[]>>;
}
