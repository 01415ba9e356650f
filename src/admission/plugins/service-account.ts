import { MIRROR_ANNOTATION, secretNames } from '../../authz/node/pod-references.js';
import type { Container, Pod, PodSpec, ServiceAccount, Volume } from '../../schema/generated/core.v1.js';
import { goQuote } from '../../lib/go/quote.js';
import { isTrueText } from '../../lib/go/strconv.js';
import { requestNameFault } from '../requested-name.js';
import { forbid, onlyWhere } from '../forbid.js';
import { type MaybePromise, whenReady } from '../../lib/async/maybe-promise.js';
import { runSync, eachStep, runCooperatively } from '../../lib/scheduling/yield.js';
import { addSizeHint } from '../../machinery/size-hint.js';
import { type GroupResource, StatusError } from '../../machinery/status.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../plugin.js';

const SERVICE_ACCOUNTS = { group: '', resource: 'serviceaccounts' };
const ENFORCE_MOUNTABLE_SECRETS = 'kubernetes.io/enforce-mountable-secrets';
/** About as many has the name of a secret in a pod. */
const SECRET_BYTES = 30;
/** The approximate encoded size of a mount. */
const MOUNT_BYTES = 100;
const DEFAULT_ACCOUNT = 'default';
const TOKEN_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';
const VOLUME_PREFIX = 'kube-api-access-';
/** Longer than an hour by so little that it differs from what users request. */
const TOKEN_SECONDS = 3607;
const VOLUME_MODE = 0o644;
/** A new namespace gets its default account a moment later, from a controller. */
const DEFAULT_ACCOUNT_TRIES = 10;
const DEFAULT_ACCOUNT_WAIT_MS = 150;
const MANY_CONTAINERS = 100;

export interface ServiceAccountOptions {
  readonly nameSuffix: () => string;
  readonly wait: (ms: number) => Promise<void>;
}

/** Gives every pod a service account that exists, and its token. */
export function serviceAccount(options: ServiceAccountOptions): AdmissionPlugin {
  return {
    name: 'ServiceAccount',
    handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
    admit: onlyWhere(areContainersOfPods, (attributes) => {
      const pod = attributes.object as Pod | undefined;
      if (pod?.spec === undefined || attributes.operation !== 'CREATE') return undefined;
      return admitPod(options, attributes, pod);
    }),
    validate: onlyWhere(areContainersOfPods, (attributes) => {
      const pod = attributes.object as Pod | undefined;
      return pod === undefined ? undefined : check(options, attributes, pod);
    }),
  };
}

// hot: every pod; its account is mostly at hand.
function admitPod(options: ServiceAccountOptions, attributes: AdmissionAttributes, pod: Pod): MaybePromise<void> {
  const completing = isMirror(pod) ? undefined : complete(options, attributes, pod.spec);
  return whenReady(completing, () => check(options, attributes, pod));
}

function areContainersOfPods({ group, resource }: GroupResource, subresource: string): boolean {
  const isPod = group === '' && resource === 'pods';
  return isPod && (subresource === '' || subresource === 'ephemeralcontainers');
}

const isMirror = ({ metadata }: Pod): boolean => metadata?.annotations?.[MIRROR_ANNOTATION] !== undefined;

function complete(options: ServiceAccountOptions, attributes: AdmissionAttributes, spec: PodSpec): MaybePromise<void> {
  spec.serviceAccountName ||= DEFAULT_ACCOUNT;
  spec.serviceAccount = spec.serviceAccountName;
  return whenReady(accountOf(options, attributes, spec.serviceAccountName), (account) => {
    const automount = spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true;
    return whenReady(automount ? mountToken(options, spec) : 0, (mounts) => {
      if (mounts > 0) addSizeHint(attributes.object as Pod, MOUNT_BYTES * mounts);
      takePullSecrets(attributes.object as Pod, spec, account);
    });
  });
}

function takePullSecrets(pod: Pod, spec: PodSpec, { imagePullSecrets = [] }: Readonly<ServiceAccount>): void {
  if (imagePullSecrets.length === 0 || (spec.imagePullSecrets ?? []).length > 0) return;
  spec.imagePullSecrets = imagePullSecrets.map(({ name }) => (name ? { name } : {}));
  addSizeHint(pod, SECRET_BYTES * imagePullSecrets.length);
}

function accountOf(
  options: ServiceAccountOptions,
  attributes: AdmissionAttributes,
  name: string,
): MaybePromise<Readonly<ServiceAccount>> {
  const finding = attributes.context.lookup.get(SERVICE_ACCOUNTS, attributes.namespace, name);
  return whenReady(finding, (found) => found ?? accountLater(options, attributes, name));
}

async function accountLater(
  { wait }: ServiceAccountOptions,
  attributes: AdmissionAttributes,
  name: string,
): Promise<Readonly<ServiceAccount>> {
  const { namespace, context } = attributes;
  const tries = name === DEFAULT_ACCOUNT ? DEFAULT_ACCOUNT_TRIES : 1;
  for (let i = 1; i < tries; i++) {
    await wait(DEFAULT_ACCOUNT_WAIT_MS);
    const found = await context.lookup.get(SERVICE_ACCOUNTS, namespace, name);
    if (found !== undefined) return found;
  }
  const why = requestNameFault(name) ?? `serviceaccount ${goQuote(name)} not found`;
  throw forbid(attributes, `error looking up service account ${namespace}/${name}: ${why}`);
}

/** Answers how many have it now. */
function mountToken({ nameSuffix }: ServiceAccountOptions, spec: PodSpec): MaybePromise<number> {
  const volumes = spec.volumes ?? [];
  const existing = volumes.find(({ name }) => name.startsWith(VOLUME_PREFIX))?.name;
  const name = existing ?? VOLUME_PREFIX + nameSuffix();
  let count = 0;
  const mount = <C extends Container>(container: C): C => {
    const mounts = container.volumeMounts ?? [];
    // Whoever mounts something else there does not want the token.
    if (mounts.some(({ mountPath }) => mountPath === TOKEN_PATH)) return container;
    count++;
    return { ...container, volumeMounts: [...mounts, { name, readOnly: true, mountPath: TOKEN_PATH }] };
  };
  const { initContainers, containers } = spec;
  const initial = initContainers === undefined ? undefined : each(initContainers, mount);
  return whenReady(initial, (mountedFirst) => {
    if (mountedFirst !== undefined) spec.initContainers = mountedFirst;
    return whenReady(containers === null ? undefined : each(containers, mount), (mounted) => {
      if (mounted !== undefined) spec.containers = mounted;
      if (count > 0 && existing === undefined) spec.volumes = [...volumes, tokenVolume(name)];
      return count;
    });
  });
}

/** Many cooperatively: there may be a million containers. */
function each<T>(items: readonly T[], make: (item: T) => T): MaybePromise<T[]> {
  const made: T[] = [];
  const steps = eachStep(items, (item) => made.push(make(item)));
  return whenReady(items.length > MANY_CONTAINERS ? runCooperatively(steps) : runSync(steps), () => made);
}

const tokenVolume = (name: string): Volume => ({
  name,
  projected: {
    sources: [
      { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: 'token' } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      {
        downwardAPI: {
          items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
        },
      },
    ],
    defaultMode: VOLUME_MODE,
  },
});

function check(options: ServiceAccountOptions, attributes: AdmissionAttributes, pod: Pod): MaybePromise<void> {
  const { operation, subresource } = attributes;
  const ephemeral = operation === 'UPDATE' && subresource === 'ephemeralcontainers';
  if (operation !== 'CREATE' && !ephemeral) return undefined;
  if (operation === 'CREATE' && isMirror(pod)) return checkMirror(attributes, pod);
  const name = pod.spec?.serviceAccountName ?? '';
  if (name === '') {
    throw forbid(
      attributes,
      `no service account specified for pod ${attributes.namespace}/${pod.metadata?.name ?? ''}`,
    );
  }
  return whenReady(accountOf(options, attributes, name), (account) => {
    const enforced = account.metadata?.annotations?.[ENFORCE_MOUNTABLE_SECRETS];
    if (enforced === undefined || !isTrueText(enforced)) return;
    const wrong = secretNotAllowed(pod.spec, account, ephemeral);
    if (wrong === undefined) return;
    // kube-apiserver forgets to say that this is a refusal.
    throw ephemeral ? new StatusError(500, '', wrong) : forbid(attributes, wrong);
  });
}

function checkMirror(attributes: AdmissionAttributes, { spec }: Pod): void {
  if (spec?.serviceAccountName) throw forbid(attributes, 'a mirror pod may not reference service accounts');
  if (spec !== undefined && secretNames(spec).length > 0)
    throw forbid(attributes, 'a mirror pod may not reference secrets');
  const projects = (spec?.volumes ?? []).some(({ projected }) =>
    (projected?.sources ?? []).some((source) => source.serviceAccountToken !== undefined),
  );
  if (projects) throw forbid(attributes, 'a mirror pod may not use ServiceAccountToken volume projections');
}

interface SecretUse {
  /** `envVar X` or `envFrom`. */
  readonly where: string;
  readonly secret: string;
}

function secretsOf(container: Container): SecretUse[] {
  const variables = (container.env ?? []).flatMap(({ name, valueFrom }) =>
    valueFrom?.secretKeyRef ? [{ where: `envVar ${name}`, secret: valueFrom.secretKeyRef.name ?? '' }] : [],
  );
  const sources = (container.envFrom ?? []).flatMap(({ secretRef }) =>
    secretRef ? [{ where: 'envFrom', secret: secretRef.name ?? '' }] : [],
  );
  return [...variables, ...sources];
}

/** The first secret the pod uses that its account does not list, in words. */
function secretNotAllowed(
  spec: PodSpec | undefined,
  account: Readonly<ServiceAccount>,
  ephemeral: boolean,
): string | undefined {
  const allowed = new Set((account.secrets ?? []).map(({ name }) => name));
  const owner = account.metadata?.name ?? '';
  const because = `is not allowed because service account ${owner} does not reference that secret`;
  const inContainers = (kind: string, containers: readonly Container[]): string | undefined => {
    for (const container of containers) {
      const use = secretsOf(container).find(({ secret }) => !allowed.has(secret));
      if (use !== undefined) {
        return `${kind} ${container.name} with ${use.where} referencing secret.secretName="${use.secret}" ${because}`;
      }
    }
    return undefined;
  };
  if (ephemeral) return inContainers('ephemeral container', spec?.ephemeralContainers ?? []);
  const volume = (spec?.volumes ?? []).find(({ secret }) => secret && !allowed.has(secret.secretName));
  if (volume !== undefined) return `volume with secret.secretName="${volume.secret?.secretName ?? ''}" ${because}`;
  const used =
    inContainers('init container', spec?.initContainers ?? []) ?? inContainers('container', spec?.containers ?? []);
  if (used !== undefined) return used;
  const pullable = new Set((account.imagePullSecrets ?? []).map(({ name }) => name));
  const at = (spec?.imagePullSecrets ?? []).findIndex(({ name }) => !pullable.has(name));
  if (at < 0) return undefined;
  const name = spec?.imagePullSecrets?.[at]?.name ?? '';
  return `imagePullSecrets[${at}].name="${name}" is not allowed because service account ${owner} does not reference that imagePullSecret`;
}
