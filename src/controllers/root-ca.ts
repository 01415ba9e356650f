import type { ConfigMap } from '../schema/generated/core.v1.js';
import type { ControllerParts } from './controller.js';
import { keepInNamespaces } from './keep-in-namespaces.js';

const DESCRIPTION_ANNOTATION = 'kubernetes.io/description';
const DESCRIPTION =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. ' +
  'No other usage is guaranteed across distributions of Kubernetes clusters.';

/** Every namespace has a config map with the authority that pods verify the server by. */
export function startRootCaController(parts: ControllerParts, caPem: string): Promise<void> {
  return keepInNamespaces(parts, {
    controller: 'root-ca-configmap',
    resource: { group: '', resource: 'configmaps' },
    name: 'kube-root-ca.crt',
    make: () => {
      const object: ConfigMap = { kind: 'ConfigMap', apiVersion: 'v1', metadata: {} };
      fill(object, caPem);
      return object;
    },
    mend: (object) => fill(object as ConfigMap, caPem),
  });
}

function fill(object: ConfigMap, caPem: string): void {
  object.data = { 'ca.crt': caPem };
  const annotations = (object.metadata.annotations ??= {});
  annotations[DESCRIPTION_ANNOTATION] ||= DESCRIPTION;
}
