// Every rule about the options together. All errors come at once, in the order of the topics below.
import { append } from '../lib/values/append.js';
import { goQuote } from '../lib/go/quote.js';
import { intText } from './int-text.js';
import { bitsOf, cidrText, parseIp, type Cidr } from '../lib/values/ip-address.js';
import { portRangeText } from './flag-kinds.js';
import { RELEASE } from '../machinery/names.js';
import { CONTROLLERS, type Options } from './options.js';
import { runtimeConfigErrors } from './runtime-config.js';
import { admissionErrors } from './validate/admission.js';
import { auditErrors } from './validate/audit.js';
import { authenticationErrors } from './validate/authentication.js';
import { authorizationErrors } from './validate/authorization.js';
import { etcdErrors } from './validate/etcd.js';
import { genericErrors } from './validate/generic.js';
import { storeErrors } from './validate/store.js';

export interface ValidationHooks {
  /** Reads and validates the file of --authorization-config; its error stands among the others. */
  authorizationConfig?(options: Options): string | undefined;
}

export function validateOptions(options: Options, hooks: ValidationHooks = {}): string[] {
  return [
    ...genericErrors(options),
    ...etcdErrors(options),
    ...priorityAndFairnessErrors(options),
    ...portErrors(options),
    ...authenticationErrors(options),
    ...authorizationErrors(options, () => hooks.authorizationConfig?.(options)),
    ...auditErrors(options),
    ...admissionErrors(options),
    ...runtimeConfigErrors(options.apiEnablement.runtimeConfig),
    ...tokenRequestErrors(options),
    ...metricsErrors(options),
    ...peerErrors(options),
    ...featureDependencyErrors(options),
    ...externalSignerErrors(options),
    ...leadershipErrors(options),
    ...serviceRangeErrors(options),
    ...nodePortErrors(options),
    ...addressFamilyErrors(options),
    ...serverCountErrors(options),
    ...controllerErrors(options),
    ...workerErrors(options),
    ...storeErrors(options),
  ];
}

/** Queueing needs its own API; the most particular setting that speaks of it decides. */
function priorityAndFairnessErrors({ features, apiEnablement }: Options): string[] {
  if (!features.enablePriorityAndFairness) return [];
  for (const key of ['flowcontrol.apiserver.k8s.io/v1', 'api/ga', 'api/all']) {
    // What only begins with the word counts as well: that it is no value is met later.
    const value = apiEnablement.runtimeConfig[key];
    if (value?.startsWith('false')) {
      return [`--runtime-config=${key}=false conflicts with --enable-priority-and-fairness=true`];
    }
    if (value?.startsWith('true')) return [];
  }
  return [];
}

function portErrors({ secureServing: { securePort } }: Options): string[] {
  if (securePort >= 1 && securePort <= 65535) return [];
  return [
    `--secure-port ${intText(securePort)} must be between 1 and 65535, inclusive. It cannot be turned off with 0`,
  ];
}

function tokenRequestErrors({ authentication, misc, generate }: Options): string[] {
  if (generate.serviceAccountKeys) return [];
  const issuer = authentication.serviceAccountIssuer[0] ?? '';
  const canSign = misc.serviceAccountSigningKeyFile !== '' || misc.serviceAccountSigningEndpoint !== '';
  const attempted = misc.serviceAccountSigningKeyFile !== '' || issuer !== '' || authentication.apiAudiences.length > 0;
  if (!attempted) return ['--service-account-signing-key-file and --service-account-issuer are required flags'];
  if (issuer !== '' && canSign) return [];
  return [
    '--service-account-signing-key-file, --service-account-issuer, and --api-audiences should be specified together',
  ];
}

function metricsErrors({ metrics }: Options): string[] {
  const errors: string[] = [];
  const previous = `${RELEASE.major}.${RELEASE.minor - 1}`;
  if (metrics.showHiddenMetricsForVersion !== '' && metrics.showHiddenMetricsForVersion !== previous) {
    errors.push(
      `--show-hidden-metrics-for-version must be omitted or have the value '${previous}'. Only the previous minor version is allowed`,
    );
  }
  const isMetricAndLabel = (key: string) => /^[a-zA-Z_:][a-zA-Z0-9_:]*,[a-zA-Z_][a-zA-Z0-9_]*$/.test(key);
  if (!Object.keys(metrics.allowMetricLabels).every(isMetricAndLabel)) {
    errors.push(
      '--allow-metric-labels must have a list of kv pair with format `metricName,labelName=labelValue, labelValue,...`',
    );
  }
  return errors;
}

function peerErrors({ misc, featureGates }: Options): string[] {
  const gate = 'UnknownVersionInteroperabilityProxy';
  if (featureGates.enabled(gate)) return [];
  return [
    ['peer-ca-file', misc.peerCaFile],
    ['peer-advertise-ip', misc.peerAdvertiseIp],
    ['peer-advertise-port', misc.peerAdvertisePort],
  ].flatMap(([flag, value]) => (value === '' ? [] : [`--${flag} requires ${gate} feature to be turned on`]));
}

function featureDependencyErrors({ featureGates }: Options): string[] {
  return (
    [
      ['AuthorizeNodeWithSelectors', 'AuthorizeWithSelectors'],
      ['PodCertificateRequest', 'AuthorizeNodeWithSelectors'],
    ] as const
  ).flatMap(([feature, needed]) =>
    featureGates.enabled(feature) && !featureGates.enabled(needed)
      ? [`${feature} feature requires ${needed} feature to be enabled`]
      : [],
  );
}

const ABSTRACT_SOCKET = /^@([a-zA-Z0-9_-]+\.)*[a-zA-Z0-9_-]+$/;

function externalSignerErrors({ misc, authentication, featureGates }: Options): string[] {
  const endpoint = misc.serviceAccountSigningEndpoint;
  if (endpoint === '') return [];
  const errors: string[] = [];
  if (misc.serviceAccountSigningKeyFile !== '' || authentication.serviceAccountKeyFile.length > 0) {
    errors.push(
      "can't set `--service-account-signing-key-file` and/or `--service-account-key-file` with `--service-account-signing-endpoint` (They are mutually exclusive)",
    );
  }
  if (!featureGates.enabled('ExternalServiceAccountTokenSigner')) {
    errors.push(
      'setting `--service-account-signing-endpoint` requires enabling ExternalServiceAccountTokenSigner feature gate',
    );
  }
  if (endpoint.startsWith('@') && !ABSTRACT_SOCKET.test(endpoint)) {
    errors.push(
      `invalid value ${goQuote(endpoint)} passed for \`--service-account-signing-endpoint\`, when prefixed with @ must be a valid abstract socket name`,
    );
  }
  return errors;
}

function leadershipErrors({ misc }: Options): string[] {
  const errors: string[] = [];
  if (misc.coordinatedLeadershipLeaseDurationMs <= misc.coordinatedLeadershipRenewDeadlineMs) {
    errors.push('--coordinated-leadership-lease-duration must be greater than --coordinated-leadership-renew-deadline');
  }
  if (misc.coordinatedLeadershipRenewDeadlineMs <= misc.coordinatedLeadershipRetryPeriodMs) {
    errors.push('--coordinated-leadership-renew-deadline must be greater than --coordinated-leadership-retry-period');
  }
  return errors;
}

/** Addresses of a range without address objects are kept in one bitmap, which must not grow too large. */
const MAX_BITMAP_BITS = 20;

function serviceRangeErrors({ serviceRanges, featureGates }: Options): string[] {
  const { primary, secondary, count } = serviceRanges;
  const flag = '--service-cluster-ip-range';
  const anySize =
    featureGates.enabled('MultiCIDRServiceAllocator') && featureGates.enabled('DisableAllocatorDualWrite');
  const sizeErrors = (range: Cidr, name: string) => {
    const bits = bitsOf(range.family);
    if (anySize || bits - range.prefixLength <= MAX_BITMAP_BITS) return [];
    return [`specified ${name} is too large; for ${bits}-bit addresses, the mask must be >= ${bits - MAX_BITMAP_BITS}`];
  };
  const errors = count > 2 ? [`${flag} must not contain more than two entries`] : [];
  append(errors, sizeErrors(primary, flag));
  if (secondary === undefined) return errors;
  if (primary.family === secondary.family) errors.push(`${flag}[0] and ${flag}[1] must be of different IP family`);
  return [...errors, ...sizeErrors(secondary, `${flag}[1]`)];
}

function nodePortErrors({ misc }: Options): string[] {
  const errors: string[] = [];
  const { kubernetesServiceNodePort: port, serviceNodePortRange: range } = misc;
  if (port < 0 || port > 65535) {
    errors.push(
      `--kubernetes-service-node-port ${intText(port)} must be between 0 and 65535, inclusive. If 0, the Kubernetes master service will be of type ClusterIP`,
    );
  }
  if (port > 0 && (port < range.base || port >= range.base + range.size)) {
    errors.push(`kubernetes service node port range ${portRangeText(range)} doesn't contain ${intText(port)}`);
  }
  return errors;
}

/** This API's own service has one family, and so must its endpoint. */
function addressFamilyErrors({ misc, generic, serviceRanges }: Options): string[] {
  if (misc.endpointReconcilerType === 'none') return [];
  if (parseIp(generic.advertiseAddress)?.family === serviceRanges.primary.family) return [];
  const range = goQuote(cidrText(serviceRanges.primary));
  return [`service IP family ${range} must match public address family ${goQuote(generic.advertiseAddress)}`];
}

function serverCountErrors({ misc: { apiserverCount } }: Options): string[] {
  return apiserverCount > 0
    ? []
    : [`--apiserver-count should be a positive number, but value '${intText(apiserverCount)}' provided`];
}

function controllerErrors({ binnacle }: Options): string[] {
  return binnacle.controllers
    .filter((name) => name !== '*' && !CONTROLLERS.some((known) => known === name))
    .map((name) => `--controllers ${goQuote(name)} is unknown, allowed values: ${CONTROLLERS.join(', ')}, *`);
}

const MAX_WORKERS = 64;

function workerErrors({ binnacle, workers }: Options): string[] {
  const isNumber = binnacle.workers === 'auto' || /^[1-9]\d?$/.test(binnacle.workers);
  if (isNumber && workers <= MAX_WORKERS) return [];
  return [`--workers ${goQuote(binnacle.workers)} must be between 1 and ${MAX_WORKERS}, inclusive, or auto`];
}
