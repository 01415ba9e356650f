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
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
}
