// All flags, by topic, in the order help shows them.
import type { FlagValues } from './flag-table.js';
import { admission } from './flags/admission.js';
import { apiEnablement } from './flags/api-enablement.js';
import { audit } from './flags/audit.js';
import { authentication } from './flags/authentication.js';
import { authorization } from './flags/authorization.js';
import { binnacle } from './flags/binnacle.js';
import { egressSelector } from './flags/egress-selector.js';
import { etcd } from './flags/etcd.js';
import { features } from './flags/features.js';
import { generic } from './flags/generic.js';
import { global } from './flags/global.js';
import { logs } from './flags/logs.js';
import { metrics } from './flags/metrics.js';
import { misc } from './flags/misc.js';
import { secureServing } from './flags/secure-serving.js';
import { traces } from './flags/traces.js';

export const TOPICS = [
  generic,
  etcd,
  secureServing,
  audit,
  features,
  authentication,
  authorization,
  apiEnablement,
  egressSelector,
  admission,
  metrics,
  logs,
  traces,
  misc,
  binnacle,
  global,
] as const;

/** The value of every flag: `values.secureServing.bindAddress`, `values.generic.requestTimeoutMs` … */
export type Flags = FlagValues<typeof TOPICS>;
