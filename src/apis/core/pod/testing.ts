// A pod for tests: the least that is valid, with members on top.
import { decodeTree } from '../../../schema/json/decode.js';
import { mustType } from '../../../schema/catalogue.js';
import type { FieldError } from '../../../machinery/field-error.js';
import { fieldErrorText } from '../../../machinery/field-error.js';
import type { LifeContext } from '../../../registry/kind.js';
import type { Pod } from '../../../schema/generated/core.v1.js';
import { defaultPod } from './defaults.js';

export function testPod(spec: object = {}, metadata: object = {}): Pod {
  const tree = structuredClone({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'n', uid: 'u', resourceVersion: '1', ...metadata },
    spec: { containers: [{ name: 'a', image: 'a' }], ...spec },
  });
  const pod = decodeTree(mustType('io.k8s.api.core.v1.Pod'), tree, { strict: false }).object as unknown as Pod;
  defaultPod(pod);
  return pod;
}

export function testContext(gates: readonly string[] = BETA_GATES): LifeContext {
  return {
    user: { name: 'tester', groups: [] },
    namespace: 'n',
    now: () => new Date('2026-01-02T03:04:05.678Z'),
    features: { enabled: (name) => gates.includes(name) },
    dryRun: false,
    options: { allowPrivileged: false, eventTtlSeconds: 3600 },
    lookup: { get: async () => undefined, list: async () => [] },
    warn: () => undefined,
  };
}

export const texts = (errors: readonly FieldError[]): string[] => errors.map(fieldErrorText);

const BETA_GATES = [
  'InPlacePodVerticalScaling',
  'MatchLabelKeysInPodTopologySpread',
  'MatchLabelKeysInPodTopologySpreadSelectorMerge',
  'PodDeletionCost',
  'PodLevelResources',
  'PodObservedGenerationTracking',
  'ProcMountType',
  'SELinuxChangePolicy',
  'SupplementalGroupsPolicy',
  'UserNamespacesSupport',
];
