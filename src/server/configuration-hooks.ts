// Looks into the configuration files before anything is started: what is wrong with them is reported with what is wrong
// with the flags.
import { loadAdmissionSettings } from '../config/admission/load.js';
import { auditPolicyError } from '../config/audit-policy/load.js';
import { ConfigError } from '../config/config-error.js';
import { loadEgress } from '../config/egress/load.js';
import { loadTracing } from '../config/tracing/load.js';
import { apiVersionFault } from '../machinery/object.js';
import { enabledAdmissionPlugins } from '../options/admission-plugins.js';
import type { CommandLineHooks } from '../options/parse-command-line.js';
import { readChainConfig } from './access/authorization-config.js';
import { readEncryption } from './storage/encryption.js';
import { lazyReviewConditions } from './kinds/expressions.js';
import { jwtAuthentication, tokenWebhook, usesJwts, usesTokenWebhook } from './access/token-sources.js';

export const configurationHooks: CommandLineHooks = {
  admission: ({ admission }) =>
    wrongWith(() => loadAdmissionSettings(admission.admissionControlConfigFile, enabledAdmissionPlugins(admission))),
  authentication: (options) => (usesJwts(options) ? jwtAuthentication().authenticationConfigError(options) : undefined),
  jwtAuthenticators: (options) => (usesJwts(options) ? jwtAuthentication().jwtBuildError(options) : undefined),
  tokenWebhook: (options) => (usesTokenWebhook(options) ? tokenWebhook().tokenWebhookError(options) : undefined),
  // The version is looked at also where no webhook is called.
  auditPolicy: ({ audit }) => auditPolicyError(audit.auditPolicyFile) ?? apiVersionFault(audit.auditWebhookVersion),
  authorizationConfig: (options) =>
    wrongWith(() => {
      const { minCompatibleVersion: compatibility, featureGates: features } = options;
      readChainConfig(options, lazyReviewConditions({ compatibility, features }));
    }),
  egressSelector: ({ egressSelector: { egressSelectorConfigFile: file } }) =>
    file === '' ? undefined : wrongWith(() => loadEgress(file)),
  tracing: ({ traces: { tracingConfigFile: file } }) => (file === '' ? undefined : wrongWith(() => loadTracing(file))),
  encryption: (options) => wrongWith(() => readEncryption(options)),
};

function wrongWith(read: () => void): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
}
