// Which rules bind a pod.

/**
 * What a pod's rules depend on beside the pod. Rules that came later than the field they check do not bind an object
 * that already broke them: those are the `allow` members, found in the old object.
 */
export interface PodRules {
  /** The object is a pod, not a template of one. */
  readonly isPod: boolean;
  readonly allowPrivileged: boolean;
  readonly strictAddresses: boolean;
  readonly podLevelResources: boolean;
  readonly mergeMatchLabelKeys: boolean;
  readonly spreadMatchLabelKeys: boolean;
  readonly oldBreaksMatchLabelKeys: boolean;
  readonly restartRules: boolean;
  readonly envFiles: boolean;
  readonly onlyRecursiveSELinux: boolean;
  /** All names, none, or all while one of these is among them: see `withEnvNameRule`. */
  readonly relaxedEnvNames: boolean | ReadonlySet<string>;
  readonly relaxedDnsSearches: boolean;
  readonly sleepMayBeZero: boolean;
  readonly sidecarResizePolicy: boolean;
  readonly allowInvalidDeletionCost: boolean;
  readonly allowInvalidAffinityLabelValue: boolean;
  readonly allowInvalidNodeAffinityValue: boolean;
  readonly allowInvalidSpreadSelector: boolean;
  readonly allowIndivisibleHugePages: boolean;
  readonly allowNonLocalTokenPath: boolean;
  readonly allowHostSysctls: boolean;
  readonly allowUserNamespaceDevices: boolean;
}

/** The rules of what a pod's status is updated with. */
export type PodStatusRules = Pick<PodRules, 'strictAddresses' | 'allowInvalidDeletionCost'>;
