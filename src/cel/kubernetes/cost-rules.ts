// The numbers that estimates and run-time costs of Kubernetes' functions share.

/** Leaves room for two checks in one expression. */
export const AUTHORIZATION_CHECK_COST = 350_000;
/** Making a list. */
export const SELECTOR_BASE_COST = 10;
/** A list and an object for each requirement; each has two characters at least. */
export const SELECTOR_REQUIREMENT_COST = 50;

/** Functions that only hand out what is there. */
export const ACCESSORS: ReadonlySet<string> = new Set(
  (
    'serviceAccount path group resource subresource namespace name allowed reason error errored ' +
    'masked prefixLength family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast ' +
    'format.named sign asInteger isInteger asApproximateFloat isGreaterThan isLessThan compareTo add sub ' +
    'major minor patch getScheme getHostname getHost getPort getEscapedPath getQuery'
  ).split(' '),
);

/** Functions that go once through their list, or the string they are called on. */
export const LIST_FUNCTIONS: ReadonlySet<string> = new Set('isSorted sum max min indexOf lastIndexOf'.split(' '));

/** Functions that read their string once. */
export const PARSERS: ReadonlySet<string> = new Set(
  'url lowerAscii upperAscii substring trim jsonpatch.escapeKey cidr isIP isCIDR ip quantity isQuantity semver isSemver'.split(
    ' ',
  ),
);

/** Types whose values are compared at once. */
export const KUBERNETES_TYPES: ReadonlySet<string> = new Set([
  'net.IP',
  'net.CIDR',
  'kubernetes.NamedFormat',
  'kubernetes.Quantity',
  'kubernetes.Semver',
  'kubernetes.URL',
  'kubernetes.authorization.Authorizer',
  'kubernetes.authorization.PathCheck',
  'kubernetes.authorization.GroupCheck',
  'kubernetes.authorization.ResourceCheck',
  'kubernetes.authorization.Decision',
]);
