import { defineTopic, HOUR_MS, SECOND_MS } from '../flag-table.js';

const PEERS = 'Needs the UnknownVersionInteroperabilityProxy feature gate, and several servers.';

export const misc = defineTopic({
  key: 'misc',
  title: 'misc',
  flags: {
    'aggregator-reject-forwarding-redirect': {
      type: 'bool',
      default: true,
      help: 'Refuse redirects from extension API servers, instead of passing them to the client.',
    },
    'allow-privileged': { type: 'bool', help: 'Allow privileged containers.' },
    'apiserver-count': {
      type: 'int',
      default: 1,
      help: 'How many servers the cluster has, for --endpoint-reconciler-type=master-count.',
      deprecated: 'apiserver-count is deprecated and will be removed in a future version.',
      hidden: true,
    },
    'coordinated-leadership-lease-duration': {
      type: 'duration',
      default: 15 * SECOND_MS,
      help: 'The duration of the lease by which one of several servers elects leaders (CoordinatedLeaderElection): others take it over when it is not renewed for so long.',
    },
    'coordinated-leadership-renew-deadline': {
      type: 'duration',
      default: 10 * SECOND_MS,
      help: 'How long renewing that lease may fail until its holder stops electing.',
    },
    'coordinated-leadership-retry-period': {
      type: 'duration',
      default: 2 * SECOND_MS,
      help: 'How long to wait between attempts to get or renew it.',
    },
    'enable-aggregator-routing': {
      type: 'bool',
      help: "Reach extension API servers at their endpoints' addresses, not at the service's cluster IP.",
    },
    'enable-logs-handler': {
      type: 'bool',
      help: "Serve this machine's log files under /logs.",
      deprecated: 'Log handler functionality is deprecated',
    },
    'endpoint-reconciler-type': {
      type: 'string',
      default: 'lease',
      help: 'How the servers keep the endpoints of their own service: lease, each keeps a lease that its address follows; master-count (deprecated), each adds its address up to --apiserver-count of them; none, others keep them.',
    },
    'event-ttl': { type: 'duration', default: HOUR_MS, help: 'How long events are kept.' },
    'kubelet-certificate-authority': {
      type: 'string',
      help: "The file with the certificate authority (CA) bundle of kubelets' serving certificates.",
    },
    'kubelet-client-certificate': {
      type: 'string',
      help: 'The file with the client certificate for kubelets.',
    },
    'kubelet-client-key': {
      type: 'string',
      help: 'The file with the key of --kubelet-client-certificate.',
    },
    'kubelet-port': {
      type: 'uint',
      default: 10250,
      help: 'The port of kubelets.',
      deprecated: 'kubelet-port is deprecated and will be removed.',
      hidden: true,
    },
    'kubelet-preferred-address-types': {
      type: 'strings',
      default: ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'],
      help: "Which of a node's addresses to use, the first there is.",
    },
    'kubelet-read-only-port': {
      type: 'uint',
      default: 10255,
      help: 'The read-only port of kubelets; it is not used any more.',
      deprecated: 'kubelet-read-only-port is deprecated and will be removed.',
      hidden: true,
    },
    'kubelet-timeout': {
      type: 'duration',
      default: 5 * SECOND_MS,
      help: 'Has no effect: requests to kubelets have no time limit of their own.',
    },
    'kubernetes-service-node-port': {
      type: 'int',
      help: "The node port of this API's own service; 0 leaves it of type ClusterIP.",
    },
    'max-connection-bytes-per-sec': {
      type: 'int',
      help: 'Bytes a second for each connection of a user, for long-running requests only; 0 for no limit.',
    },
    'peer-advertise-ip': {
      type: 'string',
      help: `The address other servers send requests to that only this one can serve. ${PEERS}`,
    },
    'peer-advertise-port': { type: 'string', help: `The port for the same. ${PEERS}` },
    'peer-ca-file': {
      type: 'string',
      help: `The file with the authority of the other servers' certificates. ${PEERS}`,
    },
    'proxy-client-cert-file': {
      type: 'string',
      help: 'The file with the client certificate for extension API servers and admission webhooks. Its CA is the one of --requestheader-client-ca-file.',
    },
    'proxy-client-key-file': {
      type: 'string',
      help: 'The file with the key of --proxy-client-cert-file.',
    },
    'service-account-signing-endpoint': {
      type: 'string',
      help: 'The unix socket of an external signer of service-account tokens, in place of both key-file flags.',
    },
    'service-account-signing-key-file': {
      type: 'string',
      help: 'The file with the private key that new service-account tokens are signed with.',
    },
    'service-cluster-ip-range': {
      type: 'string',
      help: 'The CIDR that service cluster IPs are allocated from, or one IPv4 and one IPv6 range. Nodes and pods must not use it.',
    },
    'service-node-port-range': {
      type: 'portRange',
      default: { base: 30000, size: 2768 },
      help: 'The ports for services of type NodePort, first and last. Nodes must not use them for themselves.',
    },
  },
});
