// How each extension server is reached: where its service leads, whom to trust there, and as whom.
import type { Dialer, DialTarget } from '../outbound/dialer.js';
import { addressOf } from '../outbound/dialer.js';
import type { ClientTls } from '../outbound/client-tls.js';
import { HttpClient } from '../outbound/http-client.js';
import { decodePem } from '../lib/x509/pem.js';
import type { ServiceResolver } from '../registry/service-address.js';
import type { APIService, ServiceReference } from '../schema/generated/apiregistration.v1.js';

export interface RemoteServerOptions {
  readonly resolve: ServiceResolver;
  readonly dialer: Dialer;
  /** The certificate this server shows on new connections; nothing where none is configured. */
  readonly identity: () => Pick<ClientTls, 'cert' | 'key'>;
}

export interface RemoteServer {
  readonly client: HttpClient;
  readonly origin: URL;
  /** `host:port`, as it was found. */
  readonly host: string;
}

/** A configuration that no connection can be made with. */
export class RemoteError extends Error {}

const HTTPS_PORT = 443;

export class RemoteServers {
  readonly #options: RemoteServerOptions;
  readonly #clients = new Map<string, { readonly key: string; readonly client: HttpClient }>();
  /** For the check of availability, which accepts any certificate. */
  readonly #unverified: HttpClient;

  constructor(options: RemoteServerOptions) {
    this.#options = options;
    this.#unverified = new HttpClient({
      dialer: options.dialer,
      tls: () => ({ ...options.identity(), ca: '', insecure: true }),
    });
  }

  /** Rejects with an OutboundError where there is no way, and with a RemoteError where no connection can be trusted. */
  async reach(service: Readonly<APIService>): Promise<RemoteServer> {
    return at(this.#clientOf(service), await this.#options.resolve(targetOf(service.spec.service)));
  }

  async reachUnverified(service: Readonly<APIService>): Promise<RemoteServer> {
    return at(this.#unverified, await this.#options.resolve(targetOf(service.spec.service)));
  }

  forget(name: string): void {
    this.#clients.get(name)?.client.close();
    this.#clients.delete(name);
  }

  /** The identity has changed: requests from now on use new connections, which present the new one. */
  renewConnections(): void {
    for (const { client } of this.#clients.values()) client.renewConnections();
    this.#unverified.renewConnections();
  }

  close(): void {
    for (const { client } of this.#clients.values()) client.close();
    this.#clients.clear();
    this.#unverified.close();
  }

  /** Connections are kept until what they rest on changes. */
  #clientOf({ metadata, spec }: Readonly<APIService>): HttpClient {
    const name = metadata.name ?? '';
    const { caBundle = '', insecureSkipTLSVerify = false, service } = spec;
    const key = JSON.stringify([caBundle, insecureSkipTLSVerify, service?.namespace, service?.name]);
    const known = this.#clients.get(name);
    if (known?.key === key) return known.client;
    const ca = caBundle === '' ? undefined : trusted(caBundle);
    this.forget(name);
    const client = new HttpClient({
      dialer: this.#options.dialer,
      tls: () => ({
        ...this.#options.identity(),
        ...(ca !== undefined && { ca }),
        serverName: `${service?.name ?? ''}.${service?.namespace ?? ''}.svc`,
        insecure: insecureSkipTLSVerify,
      }),
    });
    this.#clients.set(name, { key, client });
    return client;
  }
}

const targetOf = (service: ServiceReference | null | undefined) => ({
  namespace: service?.namespace ?? '',
  name: service?.name ?? '',
  port: service?.port ?? HTTPS_PORT,
});

function at(client: HttpClient, target: DialTarget): RemoteServer {
  const host = addressOf(target);
  return { client, origin: new URL(`https://${host}`), host };
}

function trusted(caBundle: string): string {
  const text = Buffer.from(caBundle, 'base64').toString('latin1');
  const blocks = decodePem(text);
  if (blocks.some(({ type, hasHeaders }) => type === 'CERTIFICATE' && !hasHeaders)) return text;
  const why = blocks.length === 0 ? 'unable to parse bytes as PEM block' : 'no valid certificate authority data seen';
  throw new RemoteError(`unable to load root certificates: ${why}`);
}
