import type { KindDefinition } from '../../registry/kind.js';
import { ingresses } from './ingress/definition.js';
import { ingressClasses } from './ingressclass.js';
import { ipAddresses } from './ipaddress.js';
import { networkPolicies } from './networkpolicy/definition.js';
import { serviceCidrs } from './servicecidr.js';

export const networkingKinds: readonly KindDefinition[] = [
  ingressClasses,
  ingresses,
  ipAddresses,
  networkPolicies,
  serviceCidrs,
];
