// Client-configuration files (kubeconfig): where a server is and how to show oneself to it. Webhooks are named by them.
import fs from 'node:fs';
import path from 'node:path';
import { base64Fault } from '../lib/text/base64-fault.js';
import { goFileError, readTextFile } from '../lib/go/file-error.js';
import { cannotUnmarshal, goJsonKind } from '../lib/go/json-kind.js';
import { isPlainObject } from '../lib/values/plain-object.js';
import { apiVersionFault } from '../machinery/object.js';
import { escapedHeaderKey } from '../outbound/escaped-header-key.js';
import { DecodeError } from '../schema/json/decode.js';
import { parseYaml } from '../schema/yaml/parse.js';
import { ConfigError } from './config-error.js';

export interface Kubeconfig {
  readonly clusters: ReadonlyMap<string, KubeconfigCluster>;
  readonly users: ReadonlyMap<string, KubeconfigUser>;
  readonly contexts: ReadonlyMap<string, KubeconfigContext>;
  readonly currentContext: string;
}

/** Files are named by whole paths; `…Data` is what was written inline, decoded. */
export interface KubeconfigCluster {
  readonly server: string;
  readonly tlsServerName: string;
  readonly insecure: boolean;
  readonly caFile: string;
  readonly caData: Buffer | undefined;
  readonly proxyUrl: string;
  /** The server may compress its answers with gzip. */
  readonly gzip: boolean;
}

export interface KubeconfigUser {
  readonly certFile: string;
  readonly certData: Buffer | undefined;
  readonly keyFile: string;
  readonly keyData: Buffer | undefined;
  readonly token: string;
  readonly tokenFile: string;
  readonly username: string;
  readonly password: string;
  /** Whom to act as: headers by name. */
  readonly impersonation: Readonly<Record<string, string | readonly string[]>>;
  /** Groups, a uid or extra fields are set without a user to impersonate. */
  readonly isHalfImpersonating: boolean;
  /** A program that says who we are. */
  readonly exec: KubeconfigExec | undefined;
  /** A way to be known that needs a library beside us, by its name: nobody has any. */
  readonly authProvider: string | undefined;
}

export interface KubeconfigExec {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly apiVersion: string;
  readonly installHint: string;
  readonly provideClusterInfo: boolean;
  readonly interactiveMode: string;
}

export interface KubeconfigContext {
  readonly cluster: string;
  readonly user: string;
}

/** Throws a ConfigError. Only its form is checked here, not that its parts fit together. */
export function loadKubeconfig(file: string): Kubeconfig {
  try {
    fs.statSync(file);
  } catch (error) {
    throw new ConfigError(goFileError(error, file, 'stat'));
  }
  const read = readTextFile(file);
  if (!read.ok) throw new ConfigError(read.error);
  return parseKubeconfig(read.text, file);
}

/** `file`: where the text stood; relative paths in it start from there. */
export function parseKubeconfig(text: string, file: string): Kubeconfig {
  const wrong = (why: string): ConfigError => new ConfigError(`error loading config file "${file}": ${why}`);
  let tree: unknown;
  try {
    tree = parseYaml(firstJsonObject(text)).value;
  } catch (error) {
    if (error instanceof DecodeError) throw wrong(error.message);
    throw error;
  }
  if (tree !== null && !isPlainObject(tree)) {
    throw wrong(`couldn't get version/kind; json parse error: ${cannotUnmarshal(tree, 'an object')}`);
  }
  const root = new Reader(tree ?? {}, wrong);
  const kind = root.text('kind') || 'Config';
  const apiVersion = root.text('apiVersion') || 'v1';
  const unfit = apiVersionFault(apiVersion);
  if (unfit !== undefined) throw wrong(unfit);
  if (kind !== 'Config' || apiVersion !== 'v1') {
    throw wrong(`no kind "${kind}" is registered for version "${apiVersion}" in scheme "pkg/runtime/scheme.go:110"`);
  }
  root.checkExtensions();
  const preferences = root.inner('preferences');
  preferences?.flag('colors');
  preferences?.checkExtensions();
  const folder = path.dirname(path.resolve(file));
  const whole = (name: string): string => (name === '' ? '' : path.resolve(folder, name));
  return {
    clusters: root.named('clusters', 'cluster', (cluster) => ({
      server: cluster.text('server'),
      tlsServerName: cluster.text('tls-server-name'),
      insecure: cluster.flag('insecure-skip-tls-verify'),
      caFile: whole(cluster.text('certificate-authority')),
      caData: cluster.bytes('certificate-authority-data'),
      proxyUrl: cluster.text('proxy-url'),
      gzip: !cluster.flag('disable-compression'),
    })),
    users: root.named('users', 'user', (user) => ({
      certFile: whole(user.text('client-certificate')),
      certData: user.bytes('client-certificate-data'),
      keyFile: whole(user.text('client-key')),
      keyData: user.bytes('client-key-data'),
      token: user.text('token'),
      tokenFile: whole(user.text('tokenFile')),
      username: user.text('username'),
      password: user.text('password'),
      impersonation: impersonationOf(user),
      isHalfImpersonating: user.text('as') === '' && saysMoreThanName(user),
      exec: execOf(user.inner('exec'), whole),
      authProvider: user.inner('auth-provider')?.text('name'),
    })),
    contexts: root.named('contexts', 'context', (context) => {
      context.text('namespace');
      return { cluster: context.text('cluster'), user: context.text('user') };
    }),
    currentContext: root.text('current-context'),
  };
}

/** What begins as JSON is read as JSON, and nothing of what follows the first object. Anything else is left as it is. */
function firstJsonObject(text: string): string {
  const start = text.search(/\S/);
  if (text[start] !== '{') return text;
  let depth = 0;
  let inText = false;
  for (let at = start; at < text.length; at++) {
    const char = text[at];
    if (inText) {
      if (char === '\\') at++;
      else if (char === '"') inText = false;
    } else if (char === '"') inText = true;
    else if (char === '{') depth++;
    else if (char === '}' && --depth === 0) return text.slice(0, at + 1);
  }
  return text;
}

/** The path of a program is relative to the file, unless it is a mere name. */
function execOf(exec: Reader | undefined, whole: (name: string) => string): KubeconfigExec | undefined {
  if (exec === undefined) return undefined;
  const [command, apiVersion] = [exec.text('command'), exec.text('apiVersion')];
  return {
    command: command.includes(path.sep) ? whole(command) : command,
    args: exec.texts('args'),
    env: exec.inners('env').map((one) => ({ name: one.text('name'), value: one.text('value') })),
    apiVersion,
    installHint: exec.text('installHint'),
    provideClusterInfo: exec.flag('provideClusterInfo'),
    interactiveMode: exec.text('interactiveMode') || (OLDER_EXEC.has(apiVersion) ? 'IfAvailable' : ''),
  };
}

/** Versions in which `interactiveMode` is optional. */
const OLDER_EXEC = new Set(['client.authentication.k8s.io/v1alpha1', 'client.authentication.k8s.io/v1beta1']);

const saysMoreThanName = (user: Reader): boolean =>
  user.text('as-uid') !== '' ||
  user.texts('as-groups').length > 0 ||
  (user.inner('as-user-extra')?.names() ?? []).length > 0;

function impersonationOf(user: Reader): KubeconfigUser['impersonation'] {
  const name = user.text('as');
  if (name === '') return {};
  const [uid, groups, extra] = [user.text('as-uid'), user.texts('as-groups'), user.inner('as-user-extra')];
  return {
    'impersonate-user': name,
    ...(uid !== '' && { 'impersonate-uid': uid }),
    ...(groups.length > 0 && { 'impersonate-group': groups }),
    ...Object.fromEntries(
      (extra?.names() ?? []).map((key) => [`impersonate-extra-${escapedHeaderKey(key)}`, extra?.texts(key) ?? []]),
    ),
  };
}

/** What kube-apiserver calls the items of these lists. */
const LISTED = { clusters: 'NamedCluster', users: 'NamedAuthInfo', contexts: 'NamedContext' } as const;

/** A list whose items may be left out: kube-apiserver reads null as an empty one. */
const orEmpty = (list: unknown, empty: unknown): readonly unknown[] | undefined =>
  Array.isArray(list) ? list.map((item: unknown) => item ?? empty) : undefined;

/** Takes members out of a tree and complains of those of another type. Unknown ones are passed over. */
class Reader {
  readonly #tree: Record<string, unknown>;
  readonly #wrong: (why: string) => ConfigError;

  constructor(tree: Record<string, unknown>, wrong: (why: string) => ConfigError) {
    this.#tree = tree;
    this.#wrong = wrong;
  }

  inner(name: string): Reader | undefined {
    const value = this.#tree[name] ?? undefined;
    if (value === undefined || isPlainObject(value)) return value && new Reader(value, this.#wrong);
    throw this.#wrong(`${name}: an object is wanted`);
  }

  names(): readonly string[] {
    return Object.keys(this.#tree);
  }

  inners(name: string): readonly Reader[] {
    const values = orEmpty(this.#tree[name] ?? [], {});
    if (values?.every(isPlainObject)) return values.map((one) => new Reader(one, this.#wrong));
    throw this.#wrong(`${name}: a list of objects is wanted`);
  }

  /** Nobody looks into them here, but they must be what they are called. */
  checkExtensions(): void {
    const seen = new Set<string>();
    for (const extension of this.inners('extensions')) {
      const name = extension.text('name');
      if (seen.has(name)) {
        const into = '*map[string]runtime.Object';
        throw this.#wrong(`error converting *[]NamedExtension into ${into}: duplicate name "${name}" in list`);
      }
      seen.add(name);
    }
  }

  text(name: string): string {
    const value = this.#tree[name] ?? '';
    if (typeof value === 'string') return value;
    throw this.#wrong(`${name}: a text is wanted`);
  }

  texts(name: string): readonly string[] {
    const values = orEmpty(this.#tree[name] ?? [], '');
    if (values?.every((value) => typeof value === 'string')) return values as string[];
    throw this.#wrong(`${name}: a list of texts is wanted`);
  }

  flag(name: string): boolean {
    const value = this.#tree[name] ?? false;
    if (typeof value === 'boolean') return value;
    throw this.#wrong(`${name}: true or false is wanted`);
  }

  bytes(name: string): Buffer | undefined {
    const text = this.text(name).replaceAll('\n', '').replaceAll('\r', '');
    if (text === '') return undefined;
    const bytes = Buffer.from(text, 'base64');
    const fault = base64Fault(text, { url: false, padded: true });
    if (fault !== undefined) throw this.#wrong(`illegal base64 data at input byte ${fault}`);
    return bytes;
  }

  /** A list of `{ name, <member> }`, each name there once. Errors leave its content out: it may hold secrets. */
  named<T>(list: keyof typeof LISTED, member: string, read: (reader: Reader) => T): ReadonlyMap<string, T> {
    const items = this.#tree[list] ?? [];
    if (!Array.isArray(items)) {
      const found = goJsonKind(items);
      throw this.#wrong(
        `json: cannot unmarshal ${found} into Go struct field Config.${list} of type []v1.${LISTED[list]}`,
      );
    }
    const found = new Map<string, T>();
    for (const item of orEmpty(items, {}) ?? []) {
      if (!isPlainObject(item)) throw this.#wrong(`${list}: an object is wanted`);
      const content = item[member] ?? {};
      if (!isPlainObject(content)) throw this.#wrong(`${list}: ${member}: an object is wanted`);
      const name = new Reader(item, this.#wrong).text('name');
      if (found.has(name)) {
        const kind = LISTED[list];
        const into = `*map[string]*api.${kind.slice('Named'.length)}`;
        throw this.#wrong(`error converting *[]${kind} into ${into}: duplicate name "${name}" in list`);
      }
      const reader = new Reader(content, this.#wrong);
      reader.checkExtensions();
      found.set(name, read(reader));
    }
    return found;
  }
}
