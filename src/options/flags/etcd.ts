import { PROTOBUF_MEDIA_TYPE } from '../../machinery/names.js';
import { defineTopic, MINUTE_MS, SECOND_MS } from '../flag-table.js';

export const etcd = defineTopic({
  key: 'etcd',
  title: 'etcd',
  flags: {
    'default-watch-cache-size': {
      type: 'int',
      default: 100,
      help: 'The size of a watch cache without a setting of its own; 0 for none.',
      deprecated: 'watch caches are sized automatically and this flag will be removed in a future version',
      hidden: true,
    },
    'delete-collection-workers': {
      type: 'int',
      default: 1,
      help: 'How many objects a collection delete removes at a time. More of them empty a namespace sooner.',
    },
    'enable-garbage-collector': {
      type: 'bool',
      default: true,
      help: 'Support garbage collection of dependent objects. The controller manager needs the same setting.',
    },
    'encryption-provider-config': {
      type: 'string',
      help: 'The file (EncryptionConfiguration) that says which resources are encrypted in the store, and how.',
    },
    'encryption-provider-config-automatic-reload': {
      type: 'bool',
      help: 'Read that file again when it changes. The health endpoints then show one check for all KMS plugins.',
    },
    'etcd-cafile': { type: 'string', help: "The CA bundle that etcd's certificate is verified with." },
    'etcd-certfile': { type: 'string', help: 'The file with the client certificate for etcd.' },
    'etcd-compaction-interval': {
      type: 'duration',
      default: 5 * MINUTE_MS,
      help: 'How often the store compacts old revisions; 0 for never.',
    },
    'etcd-count-metric-poll-period': {
      type: 'duration',
      default: MINUTE_MS,
      help: 'How often the objects of each resource are counted for metrics; 0 for never.',
    },
    'etcd-db-metric-poll-interval': {
      type: 'duration',
      default: 30 * SECOND_MS,
      help: "How often the store's size is read for metrics; 0 for never.",
    },
    'etcd-healthcheck-timeout': {
      type: 'duration',
      default: 2 * SECOND_MS,
      help: 'How long the store may take to answer a health check.',
    },
    'etcd-keyfile': { type: 'string', help: 'The file with the key of --etcd-certfile.' },
    'etcd-prefix': { type: 'string', default: '/registry', help: 'What every key in the store begins with.' },
    'etcd-readycheck-timeout': {
      type: 'duration',
      default: 2 * SECOND_MS,
      help: 'How long the store may take to answer a readiness check.',
    },
    'etcd-servers': {
      type: 'strings',
      help: 'The etcd servers to keep objects in, as scheme://ip:port. Without any, they are kept in the embedded store in --data-dir.',
    },
    'etcd-servers-overrides': {
      type: 'strings',
      help: "Other servers for single built-in resources: 'group/resource#server;server', as in '/events#http://10.0.0.9:2379'.",
    },
    'lease-reuse-duration-seconds': {
      type: 'int',
      default: 60,
      help: 'For how many seconds one etcd lease is reused for further objects. Small values mean many leases, which slow etcd down.',
    },
    'storage-backend': { type: 'string', help: "The kind of store: 'etcd3', the default, is the only one." },
    'storage-media-type': {
      type: 'string',
      default: PROTOBUF_MEDIA_TYPE,
      help: `The encoding of objects in etcd: application/json, application/yaml or ${PROTOBUF_MEDIA_TYPE}. Some resources know one only.`,
    },
    'watch-cache': { type: 'bool', default: true, help: 'Serve reads and watches from memory.' },
    'watch-cache-sizes': {
      type: 'strings',
      help: "Settings for built-in resources: 'resource[.group]#size'. Size 0 turns the cache off for that resource; any other number leaves it on.",
    },
  },
});
