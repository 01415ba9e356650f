import type { FieldRequirement } from './field-selector.js';
import type { LabelRequirement } from './label-requirement.js';
import type { UserInfo } from './user.js';

/** What someone wants to do. */
export interface AuthorizationAttributes {
  readonly user: UserInfo;
  readonly verb: string;
  readonly resourceRequest: boolean;
  readonly apiGroup: string;
  readonly apiVersion: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** For requests that are not for a resource. */
  readonly path: string;
  /** What narrows a list, as far as it could be read: leaving some of it out only makes the question wider. */
  readonly fieldSelector?: readonly FieldRequirement[];
  readonly labelSelector?: readonly LabelRequirement[];
}
