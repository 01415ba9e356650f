import { AUDIT_GROUP_VERSION } from '../../machinery/names.js';
import { defineTopic, SECOND_MS } from '../flag-table.js';

const MODES =
  'batch (buffered, written in the background), blocking (the response waits) or blocking-strict (and a failed write fails the request)';
const BATCH_ONLY = 'In batch mode only.';

export const audit = defineTopic({
  key: 'audit',
  title: 'auditing',
  flags: {
    'audit-log-batch-buffer-size': {
      type: 'int',
      default: 10000,
      help: `How many events may wait to be written. ${BATCH_ONLY}`,
    },
    'audit-log-batch-max-size': {
      type: 'int',
      default: 1,
      help: `How many events are written together. ${BATCH_ONLY}`,
    },
    'audit-log-batch-max-wait': { type: 'duration', help: `How long a batch may wait to fill. ${BATCH_ONLY}` },
    'audit-log-batch-throttle-burst': {
      type: 'int',
      help: `How many batches may go at once after a quiet time. ${BATCH_ONLY}`,
    },
    'audit-log-batch-throttle-enable': { type: 'bool', help: `Limit the rate of batches. ${BATCH_ONLY}` },
    'audit-log-batch-throttle-qps': { type: 'float32', help: `How many batches a second, on average. ${BATCH_ONLY}` },
    'audit-log-compress': { type: 'bool', help: 'Compress rotated files with gzip.' },
    'audit-log-format': { type: 'string', default: 'json', help: "'json', or 'legacy' for one line of text an event." },
    'audit-log-maxage': { type: 'int', help: 'How many days rotated files are kept, by the time in their names.' },
    'audit-log-maxbackup': { type: 'int', help: 'How many rotated files are kept; 0 for all.' },
    'audit-log-maxsize': { type: 'int', help: 'How many megabytes a file may have before it is rotated.' },
    'audit-log-mode': { type: 'string', default: 'blocking', help: `How events are written: ${MODES}.` },
    'audit-log-path': {
      type: 'string',
      help: "The file audit events go to; '-' for standard output. Without it there is no audit log.",
    },
    'audit-log-truncate-enabled': { type: 'bool', help: 'Shorten events and split batches that are too large.' },
    'audit-log-truncate-max-batch-size': {
      type: 'int',
      default: 10485760,
      help: 'Bytes of a batch before it is split; it may end up some hundred bytes larger.',
    },
    'audit-log-truncate-max-event-size': {
      type: 'int',
      default: 102400,
      help: 'Bytes of an event before its request and response are left out; if it is still larger it is dropped.',
    },
    'audit-log-version': {
      type: 'string',
      default: AUDIT_GROUP_VERSION,
      help: 'The API version of events in the log.',
    },
    'audit-policy-file': {
      type: 'string',
      help: 'The file with the audit policy: which requests are recorded, and how much of them.',
    },
    'audit-webhook-batch-buffer-size': {
      type: 'int',
      default: 10000,
      help: `How many events may wait to be sent. ${BATCH_ONLY}`,
    },
    'audit-webhook-batch-initial-backoff': {
      type: 'duration',
      default: 10 * SECOND_MS,
      help: 'The older name of --audit-webhook-initial-backoff.',
      deprecated: 'Deprecated, use --audit-webhook-initial-backoff instead.',
      hidden: true,
    },
    'audit-webhook-batch-max-size': {
      type: 'int',
      default: 400,
      help: `How many events are sent together. ${BATCH_ONLY}`,
    },
    'audit-webhook-batch-max-wait': {
      type: 'duration',
      default: 30 * SECOND_MS,
      help: `How long a batch may wait to fill. ${BATCH_ONLY}`,
    },
    'audit-webhook-batch-throttle-burst': {
      type: 'int',
      default: 15,
      help: `How many batches may go at once after a quiet time. ${BATCH_ONLY}`,
    },
    'audit-webhook-batch-throttle-enable': {
      type: 'bool',
      default: true,
      help: `Limit the rate of batches. ${BATCH_ONLY}`,
    },
    'audit-webhook-batch-throttle-qps': {
      type: 'float32',
      default: 10,
      help: `How many batches a second, on average. ${BATCH_ONLY}`,
    },
    'audit-webhook-config-file': {
      type: 'string',
      help: 'The kubeconfig file of the webhook that audit events are sent to.',
    },
    'audit-webhook-initial-backoff': {
      type: 'duration',
      default: 10 * SECOND_MS,
      help: 'How long to wait before the first retry of a failed call.',
    },
    'audit-webhook-mode': { type: 'string', default: 'batch', help: `How events are sent: ${MODES}.` },
    'audit-webhook-truncate-enabled': {
      type: 'bool',
      help: 'Shorten events and split batches that are too large.',
    },
    'audit-webhook-truncate-max-batch-size': {
      type: 'int',
      default: 10485760,
      help: 'Bytes of a batch before it is split; it may end up some hundred bytes larger.',
    },
    'audit-webhook-truncate-max-event-size': {
      type: 'int',
      default: 102400,
      help: 'Bytes of an event before its request and response are left out; if it is still larger it is dropped.',
    },
    'audit-webhook-version': {
      type: 'string',
      default: AUDIT_GROUP_VERSION,
      help: 'The API version of events sent to the webhook.',
    },
  },
});
