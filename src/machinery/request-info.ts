/**
 * What a request wants, read from it once. Authorization and execution both use this and
 * nowhere else: whoever carries a request out does not look at its method, path or `watch` again.
 */
export interface RequestInfo {
  /** True for paths under /api/ and /apis/ that name a resource. */
  readonly isResourceRequest: boolean;
  /** The path with its escapes read. */
  readonly path: string;
  /** get, list, watch, create, update, patch, delete, deletecollection; the lower-case method for other paths. */
  readonly verb: string;
  /** The verb is named by the path, as in /api/v1/watch/pods. */
  readonly verbInPath: boolean;
  /**
   * The method is the verb's own: false for a HEAD, and for anything but a GET where the path names the verb. It may
   * be a reason to refuse, and never one to do something else.
   */
  readonly usualMethod: boolean;
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

const READ_ONLY_VERBS: ReadonlySet<string> = new Set(['get', 'list', 'watch']);

/** Limits of requests in flight count these apart. */
export const isReadOnly = ({ verb }: Pick<RequestInfo, 'verb'>): boolean => READ_ONLY_VERBS.has(verb);
