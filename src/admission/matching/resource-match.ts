// What the rules of a policy matched.
import type { GroupVersionKind, GroupVersionResource } from '../../machinery/object.js';

/** The resource the rules matched, and the kind that expressions see its objects as. */
export interface ResourceMatch {
  readonly resource: GroupVersionResource;
  readonly kind: GroupVersionKind;
}
