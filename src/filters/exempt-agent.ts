/** The user agent of what sets a test up: faults do not hit it. */
export const EXEMPT_AGENT = 'binnacle-testing';
