import { allContainers, type AnyContainer } from '../../apis/core/pod/containers.js';
import type { FeatureGates } from '../../registry/kind.js';
import type { Pod } from '../../schema/generated/core.v1.js';

/** What a check looks at: a pod, or the template of one. */
export type CheckedPod = Readonly<Pick<Pod, 'metadata' | 'spec'>>;

export interface Violation {
  /** What is not allowed, in a few words. */
  readonly reason: string;
  /** Where it is; empty when the reason says it all. */
  readonly detail: string;
}

export type PodCheck = (pod: CheckedPod, features: FeatureGates) => Violation | undefined;

/** A check changes over the releases: each rule holds from its minor version until the next one's. */
export interface VersionedCheck {
  readonly id: string;
  readonly rules: readonly { readonly sinceMinor: number; readonly check: PodCheck; readonly replaces?: string }[];
}

export const quoted = (items: readonly string[]): string => `"${items.join('", "')}"`;

export const sortedSet = (items: Iterable<string>): string[] => [...new Set(items)].sort();

export const plural = (word: string, count: number): string => (count === 1 ? word : `${word}s`);

/** `container "a"` or `containers "a", "b"`. */
export const containersText = (names: readonly string[]): string =>
  `${plural('container', names.length)} ${quoted(names)}`;

/** Those who set something they must not: the pod itself, some of its containers. */
export const settersText = (pod: boolean, containers: readonly string[]): string =>
  [...(pod ? ['pod'] : []), ...(containers.length > 0 ? [containersText(containers)] : [])].join(' and ');

export const namesOfContainers = (
  { spec }: CheckedPod,
  wrong: (container: Readonly<AnyContainer>) => boolean,
): string[] =>
  allContainers(spec)
    .filter(wrong)
    .map(({ name }) => name);

const isWindows = ({ spec }: CheckedPod): boolean => spec.os?.name === 'windows';

/** In a user namespace of its own a pod's root is nobody outside. */
export const isInUserNamespace = ({ spec }: CheckedPod, features: FeatureGates): boolean =>
  spec.hostUsers === false && features.enabled('UserNamespacesPodSecurityStandards');

/** The check, for pods that do not run on Windows. */
export const unlessWindows =
  (check: PodCheck): PodCheck =>
  (pod, features) =>
    isWindows(pod) ? undefined : check(pod, features);
