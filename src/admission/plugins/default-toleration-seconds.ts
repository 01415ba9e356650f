import type { Pod, Toleration } from '../../schema/generated/core.v1.js';
import { onlyFor } from '../forbid.js';
import type { AdmissionPlugin } from '../plugin.js';

export interface TolerationSeconds {
  /** --default-not-ready-toleration-seconds. */
  readonly notReady: number;
  /** --default-unreachable-toleration-seconds. */
  readonly unreachable: number;
}

/** Lets pods stay a while on a node that is not ready or cannot be reached, unless they say otherwise. */
export const defaultTolerationSeconds = ({ notReady, unreachable }: TolerationSeconds): AdmissionPlugin => ({
  name: 'DefaultTolerationSeconds',
  handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
  admit: onlyFor('', 'pods', (attributes) => {
    const { spec } = attributes.object as Pod;
    if (spec === undefined) return;
    const given = spec.tolerations ?? [];
    const added = [
      ...tolerationFor('node.kubernetes.io/not-ready', notReady, given),
      ...tolerationFor('node.kubernetes.io/unreachable', unreachable, given),
    ];
    if (added.length > 0) spec.tolerations = [...given, ...added];
  }),
});

function tolerationFor(key: string, tolerationSeconds: number, given: readonly Toleration[]): Toleration[] {
  const tolerated = given.some(
    (toleration) =>
      (!toleration.key || toleration.key === key) && (!toleration.effect || toleration.effect === 'NoExecute'),
  );
  return tolerated ? [] : [{ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds }];
}
