// The closed sets webhooks and policies share, in the order errors name them.
export const GROUP = 'admissionregistration.k8s.io';
export const FAILURE_POLICIES = ['Fail', 'Ignore'];
export const MATCH_POLICIES = ['Equivalent', 'Exact'];
export const REINVOCATION_POLICIES = ['IfNeeded', 'Never'];
