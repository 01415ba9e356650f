// Users of client-configuration files that a program speaks for.
import { goQuote } from '../lib/go/quote.js';
import { CredentialPlugin } from '../outbound/credential-plugin.js';
import { ConfigError } from './config-error.js';
import type { KubeconfigCluster, KubeconfigExec, KubeconfigUser } from './kubeconfig.js';

const VERSIONS = ['client.authentication.k8s.io/v1beta1', 'client.authentication.k8s.io/v1'];
const MODES = ['Never', 'IfAvailable', 'Always'];

export function execErrors(name: string, exec: KubeconfigExec, withAuthProvider: boolean): string[] {
  const errors: string[] = [];
  const missing = (what: string): void =>
    void errors.push(`${what} must be specified for ${name} to use exec authentication plugin`);
  if (withAuthProvider) errors.push(`authProvider cannot be provided in combination with an exec plugin for ${name}`);
  if (exec.command === '') missing('command');
  if (exec.apiVersion === '') missing('apiVersion');
  for (const variable of exec.env) if (variable.name === '') missing('env variable name');
  if (exec.interactiveMode === '') missing('interactiveMode');
  else if (!MODES.includes(exec.interactiveMode)) {
    errors.push(`invalid interactiveMode for ${name}: ${goQuote(exec.interactiveMode)}`);
  }
  return errors;
}

/** Nothing where the user is known by anything else. Throws a ConfigError. */
export function pluginOf(
  user: KubeconfigUser | undefined,
  cluster: KubeconfigCluster | undefined,
): CredentialPlugin | undefined {
  if (user?.exec === undefined || isKnown(user)) return undefined;
  const { exec } = user;
  if (!VERSIONS.includes(exec.apiVersion)) {
    throw new ConfigError(`exec plugin: invalid apiVersion ${goQuote(exec.apiVersion)}`);
  }
  return new CredentialPlugin({
    command: exec.command,
    args: exec.args,
    env: Object.fromEntries(exec.env.map(({ name, value }) => [name, value])),
    apiVersion: exec.apiVersion,
    needsTerminal: exec.interactiveMode === 'Always',
    installHint: exec.installHint,
    ...(exec.provideClusterInfo && cluster !== undefined && { cluster: clusterInfo(cluster) }),
    nowMs: Date.now,
  });
}

const isKnown = (user: KubeconfigUser): boolean =>
  [user.token, user.tokenFile, user.username, user.password, user.certFile].some((text) => text !== '') ||
  user.certData !== undefined;

const clusterInfo = (cluster: KubeconfigCluster): object => ({
  server: cluster.server,
  ...(cluster.tlsServerName !== '' && { 'tls-server-name': cluster.tlsServerName }),
  ...(cluster.insecure && { 'insecure-skip-tls-verify': true }),
  ...(cluster.caData !== undefined && { 'certificate-authority-data': cluster.caData.toString('base64') }),
  ...(cluster.proxyUrl !== '' && { 'proxy-url': cluster.proxyUrl }),
});
