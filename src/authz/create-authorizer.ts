// The authorizers of --authorization-mode, in the order given, after the one for system:masters.
import type { Authorizer } from './authorizer.js';
import { alwaysAllow, alwaysDeny, privilegedGroup } from './fixed.js';
import { nodeAuthorizer } from './node.js';
import { rbacAuthorizer } from './rbac.js';
import type { RuleResolver } from './rbac-index.js';
import { unionOfAuthorizers } from './union.js';

export type AuthorizationMode = 'AlwaysAllow' | 'AlwaysDeny' | 'RBAC' | 'Node';

export interface AuthorizerOptions {
  readonly modes: readonly AuthorizationMode[];
  /** The index that also answers the escalation checks of roles and bindings. */
  readonly rules: RuleResolver;
}

export function createAuthorizer({ modes, rules }: AuthorizerOptions): Authorizer {
  return unionOfAuthorizers([privilegedGroup, ...modes.map((mode) => authorizerOf(mode, rules))]);
}

function authorizerOf(mode: AuthorizationMode, rules: RuleResolver): Authorizer {
  switch (mode) {
    case 'AlwaysAllow':
      return alwaysAllow;
    case 'AlwaysDeny':
      return alwaysDeny;
    case 'RBAC':
      return rbacAuthorizer(rules);
    case 'Node':
      return nodeAuthorizer;
    default:
      // Options are checked before; a mode that got through must not be passed over in silence.
      throw new Error(`unknown authorization mode ${String(mode satisfies never)} specified`);
  }
}
