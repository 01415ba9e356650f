import type { KubeObject } from '../machinery/object.js';
import type { ControllerParts } from './controller.js';
import { keepInNamespaces } from './keep-in-namespaces.js';

/** Every namespace has a service account `default`, which pods run as unless they say otherwise. */
export function startServiceAccountController(parts: ControllerParts): Promise<void> {
  return keepInNamespaces(parts, {
    controller: 'serviceaccount',
    resource: { group: '', resource: 'serviceaccounts' },
    name: 'default',
    make: (): KubeObject => ({ kind: 'ServiceAccount', apiVersion: 'v1', metadata: {} }),
  });
}
