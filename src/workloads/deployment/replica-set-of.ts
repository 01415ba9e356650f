// The replica sets of a deployment: which one has its template, and what is written on each.
import { deepEqual } from '../../lib/values/deep-equal.js';
import { deepCopy } from '../../schema/deep-copy.js';
import type { Deployment, ReplicaSet } from '../../schema/generated/apps.v1.js';
import { controllerReference } from '../pod/make-pod.js';
import { templateHash, withLabel, withoutLabel } from '../template-hash.js';
import { surgeLimits } from './rollout-limits.js';

const HASH_LABEL = 'pod-template-hash';
export const REVISION = 'deployment.kubernetes.io/revision';
const HISTORY = 'deployment.kubernetes.io/revision-history';
const DESIRED = 'deployment.kubernetes.io/desired-replicas';
const MAX = 'deployment.kubernetes.io/max-replicas';
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
/** Of a deployment, those that its replica sets do not get. */
const NOT_COPIED = new Set([LAST_APPLIED, REVISION, HISTORY, DESIRED, MAX, 'deprecated.deployment.rollback.to']);
const MAX_NAME = 253;
const MAX_HISTORY = 2000;

export interface Divided {
  /** With the deployment's template; undefined until it is made. */
  readonly current: Readonly<ReplicaSet> | undefined;
  /** Oldest first. */
  readonly old: readonly Readonly<ReplicaSet>[];
}

export function divide({ spec }: Readonly<Deployment>, replicaSets: readonly Readonly<ReplicaSet>[]): Divided {
  const byAge = [...replicaSets].sort((a, b) => age(a).localeCompare(age(b)));
  const wanted = withoutLabel(spec.template, HASH_LABEL);
  const current = byAge.find((one) => deepEqual(withoutLabel(one.spec.template, HASH_LABEL), wanted));
  return { current, old: byAge.filter((one) => one !== current) };
}

const age = ({ metadata }: Readonly<ReplicaSet>): string => `${metadata.creationTimestamp} ${metadata.name}`;

export const revisionOf = ({ metadata }: Readonly<ReplicaSet>): number =>
  Number(metadata.annotations?.[REVISION] ?? 0) || 0;

export const nextRevision = (old: readonly Readonly<ReplicaSet>[]): number =>
  old.reduce((newest, one) => Math.max(newest, revisionOf(one)), 0) + 1;

export function newReplicaSet(deployment: Readonly<Deployment>, replicas: number, revision: number): ReplicaSet {
  const { metadata, spec, status } = deployment;
  const { name = '', namespace = '' } = metadata;
  const hash = templateHash(spec.template, status.collisionCount);
  const template = withLabel(spec.template, HASH_LABEL, hash);
  const selector = { ...spec.selector, matchLabels: { ...spec.selector?.matchLabels, [HASH_LABEL]: hash } };
  return deepCopy<ReplicaSet>({
    kind: 'ReplicaSet',
    apiVersion: 'apps/v1',
    metadata: {
      name: `${name.slice(0, MAX_NAME - hash.length - 1)}-${hash}`,
      namespace,
      labels: template.metadata.labels ?? {},
      annotations: annotationsFor(deployment, {}, revision),
      ownerReferences: [controllerReference(deployment)],
    },
    spec: {
      replicas,
      ...(spec.minReadySeconds !== undefined && { minReadySeconds: spec.minReadySeconds }),
      selector,
      template,
    },
    status: { replicas: 0 },
  });
}

/** Those that the current replica set shall have. A revision that it gets again is written into its history. */
export function annotationsFor(
  deployment: Readonly<Deployment>,
  existing: Readonly<Record<string, string>>,
  revision: number,
): Record<string, string> {
  const copied = Object.entries(deployment.metadata.annotations ?? {}).filter(([name]) => !NOT_COPIED.has(name));
  const before = existing[REVISION];
  const isNewer = before === undefined || (Number(before) || 0) < revision;
  const history = [existing[HISTORY], before].filter((text) => text !== undefined).join(',');
  return {
    ...existing,
    ...Object.fromEntries(copied),
    ...(isNewer && { [REVISION]: String(revision) }),
    ...(isNewer && before !== undefined && { [HISTORY]: history.slice(-MAX_HISTORY) }),
    ...scaleAnnotations(deployment),
  };
}

/** What a replica set was scaled for. */
export function scaleAnnotations(deployment: Readonly<Deployment>): Record<string, string> {
  const replicas = deployment.spec.replicas ?? 1;
  return { [DESIRED]: String(replicas), [MAX]: String(replicas + surgeLimits(deployment).maxSurge) };
}
