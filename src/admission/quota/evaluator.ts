// How the objects of a resource count against a quota.
import type { KubeObject } from '../../machinery/object.js';
import type { GroupResource } from '../../machinery/status.js';
import type { LifeContext } from '../../registry/kind.js';
import type { ResourceList, ScopedResourceSelectorRequirement } from '../../schema/generated/core.v1.js';
import type { AdmissionAttributes } from '../plugin.js';

/** How the objects of one resource count. */
export interface QuotaEvaluator {
  readonly resource: GroupResource;
  /** Whether a write can change what is used. */
  handles(attributes: AdmissionAttributes): boolean;
  /** Whether this is the name of something these objects use. */
  counts(name: string): boolean;
  /** Absent where no scope applies. */
  matchesScope?(scope: ScopedResourceSelectorRequirement, object: Readonly<KubeObject>, context: LifeContext): boolean;
  /** What an object has to state for these to be counted, and does not, in words. */
  missing?(names: readonly string[], object: Readonly<KubeObject>, context: LifeContext): string | undefined;
  usage(object: Readonly<KubeObject>, context: LifeContext): ResourceList;
  /** What each of them uses, where that is the same for all: they need not be looked at to be counted. */
  readonly each?: ResourceList;
}
