// Where webhooks are, and the connections to them: kept for as long as a hook stays where it is.
import net from 'node:net';
import type { ClientTls } from '../../outbound/client-tls.js';
import type { CredentialPlugin } from '../../outbound/credential-plugin.js';
import type { Dialer } from '../../outbound/dialer.js';
import { HttpClient } from '../../outbound/http-client.js';
import type { ServiceReference } from '../../schema/generated/admissionregistration.v1.js';
import type { WebhookClientConfig } from '../../schema/generated/admissionregistration.v1.js';

/** Who the server is to one of its webhooks. */
export interface HookIdentity {
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly tls: Pick<ClientTls, 'cert' | 'key'>;
  /** A program that says who the server is, where nothing else does. */
  readonly credentials?: CredentialPlugin;
}

export interface HookClientParts {
  /** `host:port` of a hook. Throws an Error whose message says why there is no answer. */
  readonly identityFor: (hostPort: string) => HookIdentity;
  /** The dialer for hooks that are configured by URL. */
  readonly dialer: Dialer;
  /** The way to a service, by name. */
  readonly serviceDialer: (service: ServiceTarget) => Dialer;
  /** For hooks at the API's own service: the server as a client of itself. */
  readonly itself: HookClient['client'];
}

export interface ServiceTarget {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/** A hook's address with the client that reaches it. */
export interface HookClient {
  readonly client: Pick<HttpClient, 'request' | 'close'>;
  /** `https://host:port/path`, without a query. */
  readonly url: string;
  /** The URL, parsed. */
  readonly address: URL;
  readonly headers: HookIdentity['headers'];
}

/** Addresses kept at once; hooks are few. */
const MAX_CLIENTS = 200;
const HTTPS_PORT = 443;
const USER_AGENT = 'kube-apiserver-admission';

export class HookClients {
  readonly #clients = new Map<string, HookClient>();
  /** Keys are as long as certificates, and a hook's configuration is the same object until it changes. */
  readonly #keys = new WeakMap<Readonly<WebhookClientConfig>, string>();
  readonly #parts: HookClientParts;

  constructor(parts: HookClientParts) {
    this.#parts = parts;
  }

  /** Throws an Error when there cannot be a client. */
  of(config: Readonly<WebhookClientConfig>): HookClient {
    const key = this.#keyOf(config);
    const known = this.#clients.get(key);
    if (known !== undefined) return known;
    const created = this.#create(config);
    const made = { ...created, address: new URL(created.url) };
    for (const [oldest, { client }] of this.#clients) {
      if (this.#clients.size < MAX_CLIENTS) break;
      client.close();
      this.#clients.delete(oldest);
    }
    this.#clients.set(key, made);
    return made;
  }

  close(): void {
    for (const { client } of this.#clients.values()) client.close();
    this.#clients.clear();
  }

  #keyOf(config: Readonly<WebhookClientConfig>): string {
    const known = this.#keys.get(config);
    if (known !== undefined) return known;
    const key = keyOf(config);
    this.#keys.set(config, key);
    return key;
  }

  #create(config: Readonly<WebhookClientConfig>): Created {
    return config.service === undefined ? this.#byUrl(config) : this.#byService(config, config.service);
  }

  #byService({ caBundle = '' }: Readonly<WebhookClientConfig>, service: ServiceReference): Created {
    const { namespace, name, path = '', port = HTTPS_PORT } = service;
    const host = `${name}.${namespace}.svc`;
    const url = `https://${host}:${port}${cleanPath(path)}`;
    if (namespace === 'default' && name === 'kubernetes' && port === HTTPS_PORT) {
      return { client: this.#parts.itself, url, headers: { 'user-agent': USER_AGENT, host } };
    }
    const identity = this.#parts.identityFor(`${host}:${port}`);
    return {
      client: new HttpClient({
        dialer: this.#parts.serviceDialer({ namespace, name, port }),
        tls: tlsOf(caBundle, identity, host),
        // One HTTP/2 connection would send all requests to one of the pods behind the service.
        http2: false,
        ...pluginIn(identity),
      }),
      url,
      headers: { ...identity.headers, 'user-agent': USER_AGENT, host: `${host}:${port}` },
    };
  }

  #byUrl({ url = '', caBundle = '' }: Readonly<WebhookClientConfig>): Created {
    if (url === '') throw new Error('webhook configuration must have either service or URL');
    const parsed = new URL(url);
    const hostPort = parsed.port === '' ? `${parsed.hostname}:${HTTPS_PORT}` : parsed.host;
    const identity = this.#parts.identityFor(hostPort);
    return {
      client: new HttpClient({
        dialer: this.#parts.dialer,
        tls: tlsOf(caBundle, identity),
        http2: isLoopback(parsed.hostname),
        ...pluginIn(identity),
      }),
      url: `${parsed.protocol}//${parsed.host}${cleanPath(parsed.pathname)}`,
      headers: { ...identity.headers, 'user-agent': USER_AGENT },
    };
  }
}

type Created = Omit<HookClient, 'address'>;

const pluginIn = ({ credentials }: HookIdentity): Pick<HookIdentity, 'credentials'> =>
  credentials === undefined ? {} : { credentials };

const keyOf = ({ url = '', caBundle = '', service }: Readonly<WebhookClientConfig>): string =>
  JSON.stringify([url, caBundle, service?.namespace, service?.name, service?.port, service?.path]);

const PEM = '-----BEGIN CERTIFICATE-----';

function tlsOf(caBundle: string, identity: HookIdentity, serverName?: string): () => ClientTls {
  const ca = Buffer.from(caBundle, 'base64');
  if (ca.length > 0 && !ca.includes(PEM)) {
    throw new Error('unable to load root certificates: unable to parse bytes as PEM block');
  }
  const tls = { ...identity.tls, ...(ca.length > 0 && { ca }), ...(serverName !== undefined && { serverName }) };
  return () => tls;
}

/** `/a//b/../c/` is `/a/c`. */
function cleanPath(path: string): string {
  const steps: string[] = [];
  for (const step of path.split('/')) {
    if (step === '..') steps.pop();
    else if (step !== '' && step !== '.') steps.push(step);
  }
  return `/${steps.join('/')}`;
}

function isLoopback(hostname: string): boolean {
  if (hostname.toLowerCase() === 'localhost') return true;
  const address = hostname.replace(/^\[|\]$/g, '');
  return net.isIPv4(address) ? address.startsWith('127.') : address === '::1';
}
