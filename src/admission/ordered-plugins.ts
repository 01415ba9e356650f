// Every admission plugin, in the order they run. Enabling one does not change its place.
import type { AdmissionPlugin } from './plugin.js';
import { defaultTolerationSeconds, type TolerationSeconds } from './plugins/default-toleration-seconds.js';
import { namespaceLifecycle } from './plugins/namespace-lifecycle.js';
import { priority } from './plugins/priority.js';
import { serviceAccount, type ServiceAccountOptions } from './plugins/service-account.js';

export interface PluginParts {
  readonly tolerationSeconds: TolerationSeconds;
  readonly serviceAccount: ServiceAccountOptions;
}

export const orderedPlugins = (parts: PluginParts): readonly AdmissionPlugin[] => [
  // Whether there is a namespace at all, before anyone looks into it.
  namespaceLifecycle,
  serviceAccount(parts.serviceAccount),
  priority,
  defaultTolerationSeconds(parts.tolerationSeconds),
];
