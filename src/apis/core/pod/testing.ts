// A pod for tests: the least that is valid, with members on top.
import { decodeTree } from '../../../schema/json/decode.js';
import { mustType } from '../../../schema/catalogue.js';
import type { FieldError } from '../../../machinery/field-error.js';
import { fieldErrorText } from '../../../machinery/field-error.js';
import { chooseFeatureGates } from '../../../machinery/feature-gates.js';
import { RELEASE } from '../../../machinery/names.js';
import type { FeatureGates, LifeContext, MetadataErrors } from '../../../registry/kind.js';
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
  defaultPod(pod, testGates());
  return pod;
}

/** With the gates of this release or an older one, and some chosen. */
export function testContext(gates: Readonly<Record<string, boolean>> = {}, minor: number = RELEASE.minor): LifeContext {
  return {
    user: { name: 'tester', groups: [] },
    namespace: 'n',
    now: () => new Date('2026-01-02T03:04:05.678Z'),
    features: testGates(gates, minor),
    dryRun: false,
    options: { allowPrivileged: false, eventTtlSeconds: 3600 },
    lookup: { get: async () => undefined, list: async () => [] },
    warn: () => undefined,
  };
}

/** Of metadata that is right. */
export const NO_ERRORS: MetadataErrors = { whole: [], change: [] };

function testGates(gates: Readonly<Record<string, boolean>> = {}, minor: number = RELEASE.minor): FeatureGates {
  const { gates: features, errors } = chooseFeatureGates(new Map(Object.entries(gates)), { ...RELEASE, minor });
  if (errors.length > 0) throw new Error(errors.join('; '));
  return features as FeatureGates;
}

export const texts = (errors: readonly FieldError[]): string[] => errors.map(fieldErrorText);
