import type { Container, EphemeralContainer, PodSpec } from '../../../schema/generated/core.v1.js';
import type { FieldPath } from '../../../machinery/field-error.js';

export type AnyContainer = Container | EphemeralContainer;

/** All containers of a pod, in the order kube-apiserver visits them. */
export const allContainers = (spec: Readonly<PodSpec>): AnyContainer[] => [
  ...(spec.initContainers ?? []),
  ...(spec.containers ?? []),
  ...(spec.ephemeralContainers ?? []),
];

/** All containers with their paths; `path` is the spec's. */
export function* containersWithPaths(
  spec: Readonly<PodSpec>,
  path: FieldPath,
): Generator<readonly [AnyContainer, FieldPath]> {
  for (const member of ['initContainers', 'containers', 'ephemeralContainers'] as const) {
    const list: readonly AnyContainer[] = spec[member] ?? [];
    for (const [position, container] of list.entries()) yield [container, path.child(member).index(position)];
  }
}

/** An init container that keeps running beside the others: a sidecar. */
export const isSidecar = (container: Readonly<Container>): boolean => container.restartPolicy === 'Always';
