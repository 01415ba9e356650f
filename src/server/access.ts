// Who may come in and what they may do, from the options.
import fs from 'node:fs';
import { anonymousEnabled, type Authentication, createAuthenticator } from '../authn/create-authenticator.js';
import { parseTokenFile } from '../authn/token-file.js';
import type { TokenAuthenticator } from '../authn/authenticator.js';
import type { Authorizer } from '../authz/authorizer.js';
import { type AuthorizationMode, createAuthorizer } from '../authz/create-authorizer.js';
import { createRbacIndex, type RuleResolver } from '../authz/rbac-index.js';
import { RBAC_GROUP, type BindingObject, type RoleObject } from '../authz/rbac-objects.js';
import { createStoreSource, type StoreSource } from '../authz/store-source.js';
import type { Logger } from '../lib/log.js';
import type { KubeObject } from '../machinery/object.js';
import type { Options } from '../options/options.js';
import type { Resources } from './resources.js';
import { trustOf } from './trust.js';

export interface Authorization {
  readonly authorizer: Authorizer;
  readonly rules: RuleResolver;
  /** Resolves when the roles and bindings that were there at the start are known. */
  readonly synced: Promise<void>;
  /** The kinds of which that is not so yet. */
  readonly unsynced: () => readonly string[];
}

export function buildAuthorization(
  options: Options,
  resources: Resources,
  signal: AbortSignal,
  logger: Logger,
): Authorization {
  const log = (message: string): void => logger.warning(message);
  const source = <T extends RoleObject | BindingObject>(resource: string): StoreSource<T & KubeObject> =>
    createStoreSource({ store: resources.store({ group: RBAC_GROUP, resource }), signal, log });
  const sources = {
    roles: source<RoleObject>('roles'),
    roleBindings: source<BindingObject>('rolebindings'),
    clusterRoles: source<RoleObject>('clusterroles'),
    clusterRoleBindings: source<BindingObject>('clusterrolebindings'),
  };
  const waiting = new Set(['Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding']);
  const known = (kind: string, { synced }: { readonly synced: Promise<void> }): Promise<unknown> =>
    synced.then(() => waiting.delete(kind));
  const synced = Promise.all([
    known('Role', sources.roles),
    known('RoleBinding', sources.roleBindings),
    known('ClusterRole', sources.clusterRoles),
    known('ClusterRoleBinding', sources.clusterRoleBindings),
  ]);
  const rules = createRbacIndex(sources);
  const modes = authorizationModes(options) as AuthorizationMode[];
  return {
    authorizer: createAuthorizer({ modes, rules }),
    rules,
    synced: synced.then(() => undefined),
    unsynced: () => [...waiting],
  };
}

/** None with --authorization-config, which is not read yet: then only system:masters may do anything. */
export function authorizationModes({ authorization }: Options): readonly string[] {
  return authorization.authorizationMode;
}

export function buildAuthentication(
  options: Options,
  parts: {
    readonly apiAudiences: readonly string[];
    readonly clientCaFile: string;
    readonly serviceAccounts: readonly TokenAuthenticator[];
    readonly log: Logger;
  },
): Authentication {
  const { authentication } = options;
  const log = (message: string): void => parts.log.warning(message);
  const nowMs = Date.now;
  const { tokenAuthFile } = authentication;
  return createAuthenticator({
    apiAudiences: parts.apiAudiences,
    ...trustOf(options, parts.clientCaFile, log),
    ...(tokenAuthFile !== '' && {
      tokenFile: parseTokenFile(fs.readFileSync(tokenAuthFile, 'utf8'), tokenAuthFile, log),
    }),
    serviceAccounts: parts.serviceAccounts,
    anonymous: {
      enabled: anonymousEnabled(authentication.anonymousAuth, authorizationModes(options)),
    },
    parseCertificateUid: options.featureGates.enabled('AllowParsingUserUIDFromCertAuth'),
    tokenCache: { successTtlMs: 10_000, failureTtlMs: 0 },
    nowMs,
  });
}
