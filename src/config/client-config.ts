// From a client-configuration file to a client: the chosen context's server, trust and credentials, checked together.
import { append } from '../lib/values/append.js';
import fs from 'node:fs';
import { authorityError } from '../lib/x509/authority-error.js';
import { goFileError } from '../lib/go/file-error.js';
import { goQuote } from '../lib/go/quote.js';
import { parseGoUrl } from '../lib/go/url.js';
import { keyPairError } from '../lib/x509/key-pair-error.js';
import type { ClientTls } from '../outbound/client-tls.js';
import { PROXY_SCHEMES, throughProxy } from '../egress/proxy-url.js';
import type { CredentialPlugin } from '../outbound/credential-plugin.js';
import type { Dialer } from '../outbound/dialer.js';
import { HttpClient } from '../outbound/http-client.js';
import { ConfigError } from './config-error.js';
import { execErrors, pluginOf } from './exec-user.js';
import type { Kubeconfig, KubeconfigCluster, KubeconfigUser } from './kubeconfig.js';

export interface ClientConfig {
  readonly server: URL;
  /** Files are read anew each time, so that renewed ones take effect. */
  readonly tls: () => ClientTls;
  /** Who we are and whom we act for; nothing for a client known by its certificate, or by nothing. */
  readonly headers: () => Readonly<Record<string, string | readonly string[]>>;
  /** A program that says who we are, where nothing else does. */
  readonly credentials?: CredentialPlugin | undefined;
  /** The server may compress its answers with gzip. */
  readonly gzip?: boolean | undefined;
  /** The proxy on the way there. */
  readonly proxy?: URL | undefined;
}

const NO_CLUSTER = 'cluster has no server defined';
const NOTHING = 'no configuration has been provided, try setting KUBERNETES_MASTER environment variable';

/** The current context's. A user that is not there is nobody. Throws a ConfigError with all that is wrong with it. */
export function clientConfigOf(config: Kubeconfig): ClientConfig {
  const context = config.contexts.get(config.currentContext);
  const user = config.users.get(context?.user ?? '');
  const cluster = config.clusters.get(context?.cluster ?? '');
  const errors = [
    ...(config.currentContext !== '' && context === undefined
      ? [`context was not found for specified context: ${config.currentContext}`]
      : []),
    ...(user === undefined ? [] : userErrors(context?.user ?? '', user)),
    ...(cluster === undefined ? [NO_CLUSTER] : clusterErrors(context?.cluster ?? '', cluster)),
  ];
  if (errors.length > 0) throw invalid(errors.length === 1 && errors[0] === NO_CLUSTER ? [NOTHING] : errors);
  const server = serverUrl(cluster?.server ?? '');
  // Credentials are not sent in clear.
  const secure = server.protocol === 'https:';
  const shown = secure ? user : undefined;
  const wrong = secure ? secureClientError(cluster, user) : undefined;
  if (wrong !== undefined) throw new ConfigError(wrong);
  if (shown?.authProvider !== undefined) {
    throw new ConfigError(`no Auth Provider found for name ${goQuote(shown.authProvider)}`);
  }
  return {
    server,
    tls: () => clientTls(cluster, user),
    // The impersonated user is sent in clear as well.
    headers: () => ({ ...credentialHeaders(shown), ...user?.impersonation }),
    credentials: pluginOf(shown, cluster),
    gzip: cluster?.gzip ?? true,
    proxy: cluster === undefined || cluster.proxyUrl === '' ? undefined : new URL(cluster.proxyUrl),
  };
}

/** What a client that talks TLS finds out when it is made. */
function secureClientError(
  cluster: KubeconfigCluster | undefined,
  user: KubeconfigUser | undefined,
): string | undefined {
  const hasCa = cluster !== undefined && (cluster.caFile !== '' || cluster.caData !== undefined);
  if (hasCa && cluster.insecure) return 'specifying a root certificates file with the insecure flag is not allowed';
  const token = user?.token === '' ? unreadable(user.tokenFile, (why) => why)[0] : undefined;
  if (token !== undefined) return token;
  let tls: ClientTls;
  try {
    tls = clientTls(cluster, user);
  } catch (error) {
    return goFileError(error, (error as NodeJS.ErrnoException).path ?? '');
  }
  const ca = tls.ca === undefined ? undefined : authorityError(String(tls.ca));
  if (ca !== undefined) return `unable to load root certificates: ${ca}`;
  // Files are read again when they change; what they hold is looked at then.
  const fromFiles = user?.certData === undefined && user?.keyData === undefined;
  if (fromFiles || tls.cert === undefined || tls.key === undefined) return undefined;
  return keyPairError(String(tls.cert), String(tls.key));
}

/** A client that talks to that server alone, as that user. */
export const clientOf = (config: ClientConfig, dialer: Dialer): HttpClient =>
  new HttpClient({
    dialer: config.proxy === undefined ? dialer : throughProxy(config.proxy, dialer, config.tls),
    tls: config.tls,
    headers: config.headers,
    gzip: config.gzip ?? true,
    ...(config.credentials !== undefined && { credentials: config.credentials }),
  });

export function clientTls(cluster: KubeconfigCluster | undefined, user: KubeconfigUser | undefined): ClientTls {
  const ca = cluster?.caData ?? readFile(cluster?.caFile ?? '');
  const cert = user?.certData ?? readFile(user?.certFile ?? '');
  const key = user?.keyData ?? readFile(user?.keyFile ?? '');
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(cluster === undefined || cluster.tlsServerName === '' ? {} : { serverName: cluster.tlsServerName }),
    insecure: cluster?.insecure ?? false,
  };
}

export function credentialHeaders(user: KubeconfigUser | undefined): Readonly<Record<string, string>> {
  if (user === undefined) return {};
  // A token that is renewed in a file is newer than the one beside it.
  const token = user.tokenFile === '' ? user.token : (readFile(user.tokenFile)?.toString('utf8').trim() ?? '');
  if (token !== '') return { authorization: `Bearer ${token}` };
  if (user.username === '' && user.password === '') return {};
  return { authorization: `Basic ${Buffer.from(`${user.username}:${user.password}`).toString('base64')}` };
}

const invalid = (errors: readonly string[]): ConfigError =>
  new ConfigError(`invalid configuration: ${errors.length === 1 ? errors[0] : `[${errors.join(', ')}]`}`);

function clusterErrors(name: string, cluster: KubeconfigCluster): string[] {
  const errors: string[] = [];
  if (cluster.server === '') errors.push(`no server found for cluster ${goQuote(name)}`);
  if (cluster.proxyUrl !== '') {
    const why = wrongProxy(cluster.proxyUrl);
    if (why !== undefined) {
      errors.push(`invalid 'proxy-url' ${goQuote(cluster.proxyUrl)} for cluster ${goQuote(name)}: ${why}`);
    }
  }
  if (cluster.caFile !== '' && cluster.caData !== undefined) {
    errors.push(
      `certificate-authority-data and certificate-authority are both specified for ${name}. certificate-authority-data will override.`,
    );
  }
  append(
    errors,
    unreadable(
      cluster.caFile,
      (why) => `unable to read certificate-authority ${cluster.caFile} for ${name} due to ${why}`,
    ),
  );
  return errors;
}

function userErrors(name: string, user: KubeconfigUser): string[] {
  const errors: string[] = [];
  const methods = [
    ...(user.token !== '' ? ['token'] : []),
    ...(user.username !== '' || user.password !== '' ? ['basicAuth'] : []),
  ];
  const cert = user.certFile !== '' || user.certData !== undefined;
  if (cert) {
    if (user.certFile !== '' && user.certData !== undefined) {
      errors.push(`client-cert-data and client-cert are both specified for ${name}. client-cert-data will override.`);
    }
    if (user.keyFile !== '' && user.keyData !== undefined) {
      errors.push(`client-key-data and client-key are both specified for ${name}; client-key-data will override`);
    }
    if (user.keyFile === '' && user.keyData === undefined) {
      errors.push(
        `client-key-data or client-key must be specified for ${name} to use the clientCert authentication method.`,
      );
    }
    append(
      errors,
      unreadable(user.certFile, (why) => `unable to read client-cert ${user.certFile} for ${name} due to ${why}`),
    );
    append(
      errors,
      unreadable(user.keyFile, (why) => `unable to read client-key ${user.keyFile} for ${name} due to ${why}`),
    );
  }
  if (user.exec !== undefined) append(errors, execErrors(name, user.exec, user.authProvider !== undefined));
  if (methods.length > 1) {
    errors.push(
      `more than one authentication method found for ${name}; found [${methods.join(' ')}], only one is allowed`,
    );
  }
  if (user.isHalfImpersonating) {
    errors.push(`requesting uid, groups or user-extra for ${name} without impersonating a user`);
  }
  return errors;
}

function wrongProxy(url: string): string | undefined {
  const parsed = parseGoUrl(url);
  if ('error' in parsed) return `could not parse: ${url}`;
  if (!PROXY_SCHEMES.includes(parsed.scheme)) {
    return `unsupported scheme ${goQuote(parsed.scheme)}, must be http, https, or socks5`;
  }
  return URL.canParse(url) ? undefined : `could not parse: ${url}`;
}

function unreadable(file: string, say: (why: string) => string): string[] {
  if (file === '') return [];
  try {
    fs.closeSync(fs.openSync(file, 'r'));
    return [];
  } catch (error) {
    return [say(goFileError(error, file))];
  }
}

/**
 * A host alone is reached in clear, whatever trust or certificate stands beside it, and so is what is no URL; of a
 * URL the query is dropped.
 */
function serverUrl(server: string): URL {
  const wrong = (): ConfigError => new ConfigError(`host must be a URL or a host:port pair: ${goQuote(server)}`);
  const text = server === '' ? 'http://localhost:8080' : server;
  const stated = parseGoUrl(text);
  const isUrl = !('error' in stated) && stated.scheme !== '' && stated.host !== '';
  const whole = isUrl ? text : `http://${text}`;
  const parsed = isUrl ? stated : parseGoUrl(whole);
  if ('error' in parsed) throw new ConfigError(parsed.error);
  if (!isUrl && parsed.path !== '' && parsed.path !== '/') throw wrong();
  if (!URL.canParse(whole)) throw wrong();
  const url = new URL(whole);
  url.search = '';
  url.hash = '';
  return url;
}

const readFile = (file: string): Buffer | undefined => (file === '' ? undefined : fs.readFileSync(file));
