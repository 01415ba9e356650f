import type { Logger } from '../../lib/telemetry/log.js';
import { type CaBundleSource, createCaBundle } from '../../authn/ca-bundle.js';
import type { AuthenticationTrust } from '../../authn/trust.js';
import type { Options } from '../../options/options.js';

/** The trust that the flags state; a file is read again when it changed. */
export function trustOf({ authentication, generate }: Options, clientCaFile: string, log: Logger): AuthenticationTrust {
  const bundle = (path: string): CaBundleSource => createCaBundle({ path, nowMs: Date.now, log });
  return {
    ...(clientCaFile !== '' && { clientCa: bundle(clientCaFile), ignoresOtherCertificates: generate.clientCa }),
    ...(authentication.requestheaderClientCaFile !== '' && {
      requestHeader: {
        clientCa: bundle(authentication.requestheaderClientCaFile),
        allowedNames: authentication.requestheaderAllowedNames,
        usernameHeaders: authentication.requestheaderUsernameHeaders,
        uidHeaders: authentication.requestheaderUidHeaders,
        groupHeaders: authentication.requestheaderGroupHeaders,
        extraHeaderPrefixes: authentication.requestheaderExtraHeadersPrefix,
      },
    }),
  };
}
