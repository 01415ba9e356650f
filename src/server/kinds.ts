// The kinds of every group. Adding a group touches its own folder and this list.
import { appsKinds } from '../apis/apps/index.js';
import { authenticationKinds, type AuthenticationServices } from '../apis/authentication/index.js';
import { authorizationKinds } from '../apis/authorization/index.js';
import { certificatesKinds } from '../apis/certificates/index.js';
import { batchKinds } from '../apis/batch/index.js';
import { type CoreParts, coreKinds } from '../apis/core/index.js';
import { discoveryKinds } from '../apis/discovery/index.js';
import { eventsKinds } from '../apis/events/index.js';
import { networkingKinds } from '../apis/networking/index.js';
import { rbacKinds } from '../apis/rbac/index.js';
import type { EscalationServices } from '../apis/rbac/escalation.js';
import type { KindDefinition } from '../registry/kind.js';

export interface KindParts {
  readonly core: CoreParts;
  readonly access: EscalationServices;
  readonly identity: AuthenticationServices;
}

export const serverKinds = ({ core, access, identity }: KindParts): readonly KindDefinition[] => [
  ...coreKinds(core),
  ...appsKinds,
  ...batchKinds,
  ...eventsKinds,
  ...discoveryKinds,
  ...networkingKinds,
  ...rbacKinds(access),
  ...authorizationKinds(access),
  ...authenticationKinds(identity),
  ...certificatesKinds(access),
];
