/** What a request's method and path say it wants. */
export interface RequestInfo {
  /** True for paths under /api/ and /apis/ that name a resource. */
  readonly isResourceRequest: boolean;
  readonly path: string;
  /** get, list, watch, create, update, patch, delete, deletecollection; the lower-case method for other paths. */
  readonly verb: string;
  /** `api` or `apis`. */
  readonly apiPrefix: string;
  readonly apiGroup: string;
  readonly apiVersion: string;
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  /** The path's segments from the resource on. */
  readonly parts: readonly string[];
  readonly fieldSelector: string;
  readonly labelSelector: string;
}
