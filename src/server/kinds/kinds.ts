// The kinds of every group. Adding a group touches its own folder and this list.
import type { ExpressionChecker } from '../../cel/expression-check.js';
import type { ParamServices } from '../../apis/admissionregistration/param-authorization.js';
import { admissionregistrationKinds } from '../../apis/admissionregistration/index.js';
import { apiextensionsKinds } from '../../apis/apiextensions/index.js';
import { apiregistrationKinds } from '../../apis/apiregistration/index.js';
import { flowcontrolKinds } from '../../apis/flowcontrol/index.js';
import { internalApiserverKinds } from '../../apis/internal-apiserver/index.js';
import { storagemigrationKinds } from '../../apis/storagemigration/index.js';
import { appsKinds } from '../../apis/apps/index.js';
import { authenticationKinds, type AuthenticationServices } from '../../apis/authentication/index.js';
import { authorizationKinds } from '../../apis/authorization/index.js';
import { type CertificatesServices, certificatesKinds } from '../../apis/certificates/index.js';
import { batchKinds } from '../../apis/batch/index.js';
import { type CoreParts, coreKinds } from '../../apis/core/index.js';
import { discoveryKinds } from '../../apis/discovery/index.js';
import { eventsKinds } from '../../apis/events/index.js';
import { networkingKinds } from '../../apis/networking/index.js';
import { rbacKinds } from '../../apis/rbac/index.js';
import type { EscalationServices } from '../../apis/rbac/escalation.js';
import { autoscalingKinds } from '../../apis/autoscaling/index.js';
import { coordinationKinds } from '../../apis/coordination/index.js';
import { nodeKinds } from '../../apis/node/index.js';
import { policyKinds } from '../../apis/policy/index.js';
import { resourceKinds } from '../../apis/resource/index.js';
import { schedulingKinds } from '../../apis/scheduling/index.js';
import { storageKinds } from '../../apis/storage/index.js';
import type { KubeObject } from '../../machinery/object.js';
import type { FeatureGates, KindDefinition } from '../../registry/kind.js';

export interface KindParts {
  readonly core: CoreParts;
  readonly access: EscalationServices;
  readonly identity: AuthenticationServices;
  readonly resourceOf: ParamServices['resourceOf'];
  readonly expressions: ExpressionChecker;
  readonly issuedMetrics?: CertificatesServices['issuedMetrics'];
}

export const serverKinds = ({
  core,
  access,
  identity,
  resourceOf,
  expressions,
  issuedMetrics,
}: KindParts): readonly KindDefinition[] => [
  ...coreKinds(core),
  ...appsKinds,
  ...batchKinds,
  ...eventsKinds,
  ...discoveryKinds,
  ...networkingKinds,
  ...rbacKinds(access),
  ...authorizationKinds(access),
  ...authenticationKinds(identity),
  ...certificatesKinds({ authorizer: access.authorizer, ...(issuedMetrics && { issuedMetrics }) }),
  ...autoscalingKinds,
  ...coordinationKinds,
  ...nodeKinds,
  ...policyKinds,
  ...resourceKinds(expressions),
  ...schedulingKinds,
  ...storageKinds,
  ...admissionregistrationKinds({ authorizer: access.authorizer, resourceOf }, expressions),
  ...apiextensionsKinds(expressions),
  ...apiregistrationKinds,
  ...flowcontrolKinds,
  ...internalApiserverKinds,
  ...storagemigrationKinds,
];

/** What is served of these kinds with these gates. */
export const behindGates = (kinds: readonly KindDefinition[], gates: FeatureGates): readonly KindDefinition[] =>
  kinds.filter(({ gate }) => isOn(gate, gates)).map((kind) => withDefaultsOf(withSubresourcesOn(kind, gates), gates));

/** With the defaults that these gates fill in. */
export function withDefaultsOf(kind: KindDefinition, gates: FeatureGates): KindDefinition {
  const versions = kind.versions.map((version) =>
    'defaultsBehindGates' in version
      ? {
          ...version,
          defaults: (object: KubeObject) => {
            version.defaults?.(object);
            version.defaultsBehindGates?.(object, gates);
          },
        }
      : version,
  );
  return { ...kind, versions };
}

function withSubresourcesOn(kind: KindDefinition, gates: FeatureGates): KindDefinition {
  const all = Object.entries(kind.subresources ?? {});
  const on = all.filter(([, { gate }]) => isOn(gate, gates));
  return on.length === all.length ? kind : { ...kind, subresources: Object.fromEntries(on) };
}

const isOn = (gate: string | undefined, gates: FeatureGates): boolean => gate === undefined || gates.enabled(gate);
