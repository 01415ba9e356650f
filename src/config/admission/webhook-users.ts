// Who the server is to its admission webhooks: the users of a client-configuration file, by the hosts they are for.
import path from 'node:path';
import type { HookIdentity } from '../../admission/webhooks/hook-clients.js';
import { goFileError } from '../../lib/go/file-error.js';
import { fieldErrorText, FieldPath, invalid } from '../../machinery/field-error.js';
import { clientTls, credentialHeaders } from '../client-config.js';
import { ConfigError } from '../config-error.js';
import { pluginOf } from '../exec-user.js';
import { decodeConfig } from '../decode-config.js';
import { type Kubeconfig, type KubeconfigUser, loadKubeconfig } from '../kubeconfig.js';

const GROUP = 'apiserver.config.k8s.io';

/** The file that a webhook plugin's configuration names. Throws a ConfigError. */
export function webhookKubeconfig(text: string): Kubeconfig {
  const { object } = decodeConfig(text, {
    kinds: [
      { kind: 'WebhookAdmissionConfiguration', apiVersions: [`${GROUP}/v1`] },
      { kind: 'WebhookAdmission', apiVersions: [`${GROUP}/v1alpha1`] },
    ],
    scheme: 'k8s.io/apiserver/pkg/admission/plugin/webhook/config/kubeconfig.go:34',
    lenient: true,
  });
  const { kubeConfigFile = '' } = object as { readonly kubeConfigFile?: string };
  if (!path.isAbsolute(kubeConfigFile)) {
    const error = invalid(FieldPath.of('kubeConfigFile'), kubeConfigFile, 'must be an absolute file path');
    throw new ConfigError(fieldErrorText(error));
  }
  return loadKubeconfig(kubeConfigFile);
}

const NOBODY: HookIdentity = { headers: {}, tls: {} };
const HTTPS = ':443';

/** For `host:port`: the exact one, the nearest `*.`, without the usual port again, `*`, the current context's. */
export function identityIn(config: Kubeconfig | undefined): (hostPort: string) => HookIdentity {
  if (config === undefined) return () => NOBODY;
  const { users, contexts, currentContext } = config;
  return (hostPort) => {
    const names = [
      ...namesFor(hostPort),
      ...(hostPort.endsWith(HTTPS) ? namesFor(hostPort.slice(0, -HTTPS.length)) : []),
      '*',
    ];
    const named = names.find((name) => users.has(name)) ?? contexts.get(currentContext)?.user;
    const user = named === undefined || named === '' ? undefined : users.get(named);
    return user === undefined ? NOBODY : identityOf(user);
  };
}

/** `a.b.c`, `*.b.c`, `*.c`. */
function namesFor(host: string): string[] {
  const steps = host.split('.');
  return [host, ...steps.slice(1).map((_, index) => `*.${steps.slice(index + 1).join('.')}`)];
}

/** Read when the hook is first called: a later change of the file takes effect for a hook at another address. */
function identityOf(user: KubeconfigUser): HookIdentity {
  if (user.authProvider !== undefined) throw new ConfigError('auth provider not supported');
  try {
    const { cert, key } = clientTls(undefined, user);
    const credentials = pluginOf(user, undefined);
    return {
      ...(credentials !== undefined && { credentials }),
      headers: { ...credentialHeaders(user), ...user.impersonation },
      tls: { ...(cert !== undefined && { cert }), ...(key !== undefined && { key }) },
    };
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(goFileError(error, (error as NodeJS.ErrnoException).path ?? ''));
  }
}
