// The families that requests are counted and timed in: names, labels and bounds, as dashboards know them.
import { exponentialBuckets, type MetricRegistry } from '../lib/telemetry/metrics.js';

const SECONDS = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60];
const FILTER_SECONDS = [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 5, 10, 15, 30];
const WHERE = ['group', 'version', 'resource', 'subresource', 'scope', 'component'];

export type RequestMetricFamilies = ReturnType<typeof requestMetricFamilies>;

export const requestMetricFamilies = (registry: MetricRegistry) => ({
  ...answerFamilies(registry),
  ...cutOffFamilies(registry),
  ...concurrencyFamilies(registry),
  ...requestKindFamilies(registry),
  ...accessFamilies(registry),
});

/** Of the answers: how many, how long, how large. */
const answerFamilies = (registry: MetricRegistry) => ({
  total: registry.counter({
    name: 'apiserver_request_total',
    help: 'Requests answered, by verb, dry run, resource, scope, component and status code.',
    labels: ['verb', 'dry_run', ...WHERE, 'code'],
    stability: 'STABLE',
  }),
  duration: registry.histogram({
    name: 'apiserver_request_duration_seconds',
    help: 'Seconds from arrival to the end of the answer.',
    labels: ['verb', 'dry_run', ...WHERE],
    buckets: SECONDS,
    stability: 'STABLE',
  }),
  slo: registry.histogram({
    name: 'apiserver_request_slo_duration_seconds',
    help: 'Seconds of a request without the time spent in webhooks and queues.',
    labels: ['verb', ...WHERE],
    buckets: SECONDS.slice(2),
    stability: 'ALPHA',
    deprecatedVersion: '1.27',
  }),
  sli: registry.histogram({
    name: 'apiserver_request_sli_duration_seconds',
    help: 'Seconds of a request without the time spent in webhooks and queues.',
    labels: ['verb', ...WHERE],
    buckets: SECONDS.slice(2),
    stability: 'ALPHA',
  }),
  size: registry.histogram({
    name: 'apiserver_response_sizes',
    help: 'Bytes of the answers to reads.',
    labels: ['verb', ...WHERE],
    buckets: exponentialBuckets(1000, 10, 7),
    stability: 'STABLE',
  }),
  longRunning: registry.gauge({
    name: 'apiserver_longrunning_requests',
    help: 'Watches and connections now open.',
    labels: ['verb', ...WHERE],
    stability: 'STABLE',
  }),
});

/** Of requests that did not come to their own end. */
const cutOffFamilies = (registry: MetricRegistry) => ({
  terminations: registry.counter({
    name: 'apiserver_request_terminations_total',
    help: 'Requests the server ended to protect itself.',
    labels: ['verb', ...WHERE, 'code'],
    stability: 'ALPHA',
  }),
  aborts: registry.counter({
    name: 'apiserver_request_aborts_total',
    help: 'Requests whose answer was cut off after it had begun.',
    labels: ['verb', 'group', 'version', 'resource', 'subresource', 'scope'],
    stability: 'ALPHA',
  }),
  postTimeout: registry.counter({
    name: 'apiserver_request_post_timeout_total',
    help: 'Results of request handlers that finished after their request had timed out.',
    labels: ['source', 'status'],
    stability: 'ALPHA',
  }),
});

/** Of how many requests there are at a time. */
const concurrencyFamilies = (registry: MetricRegistry) => ({
  inFlight: registry.gauge({
    name: 'apiserver_current_inflight_requests',
    help: 'The most requests that ran at once in the last second, of each class with a limit.',
    labels: ['request_kind'],
    stability: 'STABLE',
  }),
  inQueue: registry.gauge({
    name: 'apiserver_current_inqueue_requests',
    help: 'The most requests that waited for seats at once in the last second, of each class with a limit.',
    labels: ['request_kind'],
    stability: 'ALPHA',
  }),
});

/** Of requests that are something special. */
const requestKindFamilies = (registry: MetricRegistry) => ({
  own: registry.counter({
    name: 'apiserver_selfrequest_total',
    help: 'Requests of the server to itself.',
    labels: ['verb', 'group', 'resource', 'subresource'],
    stability: 'ALPHA',
  }),
  fieldValidation: registry.histogram({
    name: 'field_validation_request_duration_seconds',
    help: 'Requests by their fieldValidation; durations are not observed.',
    labels: ['field_validation'],
    buckets: SECONDS.slice(2),
    stability: 'ALPHA',
  }),
  deprecated: registry.gauge({
    name: 'apiserver_requested_deprecated_apis',
    across: 'max',
    help: 'Deprecated APIs that were requested, and the release that removes them.',
    labels: ['group', 'version', 'resource', 'subresource', 'removed_release'],
    stability: 'STABLE',
  }),
});

/** Of who may do what, and of the filters that find it out. */
const accessFamilies = (registry: MetricRegistry) => ({
  authenticationAttempts: registry.counter({
    name: 'authentication_attempts',
    help: 'Authentications, by their result.',
    labels: ['result'],
    stability: 'ALPHA',
  }),
  authenticationSeconds: registry.histogram({
    name: 'authentication_duration_seconds',
    help: 'Seconds an authentication took.',
    labels: ['result'],
    buckets: exponentialBuckets(0.001, 2, 15),
    stability: 'ALPHA',
  }),
  filterSeconds: registry.histogram({
    name: 'apiserver_request_filter_duration_seconds',
    help: 'Seconds a request spent in a filter before it went on to the next.',
    labels: ['filter'],
    buckets: FILTER_SECONDS,
    stability: 'ALPHA',
  }),
  userRequests: registry.counter({
    name: 'authenticated_user_requests',
    help: 'Authenticated requests; user names stand for themselves only where they are few.',
    labels: ['username'],
    stability: 'ALPHA',
  }),
  authorizationAttempts: registry.counter({
    name: 'authorization_attempts_total',
    help: 'Authorizations, by their result.',
    labels: ['result'],
    stability: 'ALPHA',
  }),
  authorizationSeconds: registry.histogram({
    name: 'authorization_duration_seconds',
    help: 'Seconds an authorization took.',
    labels: ['result'],
    buckets: exponentialBuckets(0.001, 2, 15),
    stability: 'ALPHA',
  }),
});
