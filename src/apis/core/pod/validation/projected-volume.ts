import { append } from '../../../../lib/values/append.js';
import { internalValue, selectorValue } from '../../internal-form/internal-value.js';
import {
  type FieldErrors,
  type FieldPath,
  forbidden,
  invalid,
  required,
  plainNotSupported,
} from '../../../../machinery/field-error.js';
import { validateLabelSelector } from '../../../../machinery/validation/label-selector.js';
import type {
  ClusterTrustBundleProjection,
  KeyToPath,
  PodCertificateProjection,
  PodSpec,
  ProjectedVolumeSource,
  ServiceAccountTokenProjection,
  VolumeProjection,
} from '../../../../schema/generated/core.v1.js';
import { validateDownwardFile } from './downward-volume.js';
import { validateKeyToPath } from './key-to-path.js';
import type { PodRules } from './pod-rules.js';
import { validateFileMode, validateLocalNonReservedPath } from './paths.js';
import { isKubernetesSigner, trustBundleNameMessages, validateSignerName } from './signer-names.js';

const TOO_MANY = 'may not specify more than 1 volume type per source';
const CONFLICT = 'conflicting duplicate paths';
const MIN_TOKEN_SECONDS = 10 * 60;
const MAX_TOKEN_SECONDS = 2 ** 32;
const KEY_TYPES = ['RSA3072', 'RSA4096', 'ECDSAP256', 'ECDSAP384', 'ECDSAP521', 'ED25519'];
const MIN_CERTIFICATE_SECONDS = 3600;
const MAX_CERTIFICATE_SECONDS = 91 * 86400;
const MAX_KUBERNETES_CERTIFICATE_SECONDS = 86400;

export function validateProjectedVolume(
  projected: Readonly<ProjectedVolumeSource>,
  path: FieldPath,
  rules: PodRules,
): FieldErrors {
  const errors = validateFileMode(projected.defaultMode, path.child('defaultMode'));
  const files = new ProjectedFiles(path);
  for (const [position, projection] of (projected.sources ?? []).entries()) {
    const at = path.child('sources').index(position);
    append(errors, validateProjection(projection, { path: at, volumePath: path, files, rules }));
    if (sourceCount(projection) > 1) errors.push(forbidden(at, TOO_MANY));
  }
  return errors;
}

/** A token written outside its volume's folder, which was possible before paths were checked. */
export const climbsOutOfTokenVolume = (spec: Readonly<PodSpec>): boolean =>
  (spec.volumes ?? []).some((volume) =>
    (volume.projected?.sources ?? []).some(
      ({ serviceAccountToken: token }) =>
        token !== undefined && (/^(\/|\.\.)/.test(token.path) || token.path.split('/').includes('..')),
    ),
  );

const sourceCount = (projection: Readonly<VolumeProjection>): number =>
  Object.values(projection).filter((value) => value !== undefined).length;

/** The files of all sources of one volume, each to be written once. */
class ProjectedFiles {
  private readonly known = new Set<string>();
  constructor(private readonly volumePath: FieldPath) {}

  /** `shown` is the value in the error; sources differ in that. */
  add(file: string, shown: string): FieldErrors {
    if (this.known.has(file)) return [invalid(this.volumePath, shown, CONFLICT)];
    this.known.add(file);
    return [];
  }
}

interface ProjectionCheck {
  readonly path: FieldPath;
  readonly volumePath: FieldPath;
  readonly files: ProjectedFiles;
  readonly rules: PodRules;
}

function validateProjection(
  projection: Readonly<VolumeProjection>,
  { path, volumePath, files, rules }: ProjectionCheck,
): FieldErrors {
  const { secret, configMap, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = projection;
  const errors: FieldErrors = [];
  if (secret) append(errors, validateKeys(secret, path.child('secret'), files));
  if (configMap) append(errors, validateKeys(configMap, path.child('configMap'), files));
  for (const file of downwardAPI?.items ?? []) {
    append(errors, validateDownwardFile(file, path.child('downwardAPI')));
    if (file.path !== '') append(errors, files.add(file.path, file.path));
  }
  if (serviceAccountToken) {
    append(errors, validateToken(serviceAccountToken, path.child('serviceAccountToken'), volumePath, rules));
  }
  if (clusterTrustBundle) {
    append(errors, validateTrustBundle(clusterTrustBundle, path.child('clusterTrustBundle')));
    append(errors, files.add(clusterTrustBundle.path, clusterTrustBundle.path));
  }
  if (podCertificate) append(errors, validatePodCertificate(podCertificate, path.child('podCertificate'), files));
  return errors;
}

function validateKeys(
  { name = '', items }: { name?: string; items?: readonly KeyToPath[] },
  path: FieldPath,
  files: ProjectedFiles,
): FieldErrors {
  const errors: FieldErrors = [];
  if (name === '') errors.push(required(path.child('name')));
  for (const [position, item] of (items ?? []).entries()) {
    append(errors, validateKeyToPath(item, path.child('items').index(position)));
    if (item.path !== '') append(errors, files.add(item.path, name));
  }
  return errors;
}

function validateToken(
  { expirationSeconds = 0, path: file }: Readonly<ServiceAccountTokenProjection>,
  path: FieldPath,
  volumePath: FieldPath,
  rules: PodRules,
): FieldErrors {
  const errors: FieldErrors = [];
  const at = path.child('expirationSeconds');
  if (expirationSeconds < MIN_TOKEN_SECONDS) {
    errors.push(invalid(at, expirationSeconds, 'may not specify a duration less than 10 minutes'));
  }
  if (expirationSeconds > MAX_TOKEN_SECONDS) {
    errors.push(invalid(at, expirationSeconds, 'may not specify a duration larger than 2^32 seconds'));
  }
  if (file === '') errors.push(required(volumePath.child('path')));
  else if (!rules.allowNonLocalTokenPath) append(errors, validateLocalNonReservedPath(file, volumePath.child('path')));
  return errors;
}

function validateTrustBundle(bundle: Readonly<ClusterTrustBundleProjection>, path: FieldPath): FieldErrors {
  const { name, signerName, labelSelector } = bundle;
  const errors: FieldErrors = [];
  if (name !== undefined && signerName !== undefined) {
    const shown = internalValue('ClusterTrustBundleProjection', bundle);
    errors.push(invalid(path, shown, 'only one of name and signerName may be used'));
  } else if (name !== undefined) {
    if (name === '') errors.push(required(path.child('name'), 'must be a valid object name'));
    for (const message of trustBundleNameMessages(name)) {
      errors.push(invalid(path.child('name'), name, `not a valid clustertrustbundlename: ${message}`));
    }
    if (labelSelector) {
      const why = 'labelSelector must be unset if name is specified';
      errors.push(invalid(path.child('labelSelector'), selectorValue(labelSelector), why));
    }
  } else if (signerName !== undefined) {
    if (signerName === '') errors.push(required(path.child('signerName'), 'must be a valid signer name'));
    append(
      errors,
      validateSignerName(signerName, path.child('signerName')),
      validateLabelSelector(labelSelector, {}, path.child('labelSelector')),
    );
  } else errors.push(required(path, 'either name or signerName must be specified'));
  if (bundle.path === '') errors.push(required(path.child('path')));
  append(errors, validateLocalNonReservedPath(bundle.path, path.child('path')));
  return errors;
}

function validatePodCertificate(
  certificate: Readonly<PodCertificateProjection>,
  path: FieldPath,
  files: ProjectedFiles,
): FieldErrors {
  const { signerName = '', keyType = '', maxExpirationSeconds: seconds } = certificate;
  const errors = validateSignerName(signerName, path.child('signerName'));
  if (!KEY_TYPES.includes(keyType)) errors.push(plainNotSupported(path.child('keyType'), keyType, KEY_TYPES));
  if (seconds !== undefined) {
    const max = isKubernetesSigner(signerName) ? MAX_KUBERNETES_CERTIFICATE_SECONDS : MAX_CERTIFICATE_SECONDS;
    const at = path.child('maxExpirationSeconds');
    const must = 'if provided, maxExpirationSeconds must be';
    if (seconds < MIN_CERTIFICATE_SECONDS) errors.push(invalid(at, seconds, `${must} >= ${MIN_CERTIFICATE_SECONDS}`));
    if (seconds > max) errors.push(invalid(at, seconds, `${must} <= ${max}`));
  }
  let count = 0;
  for (const member of ['credentialBundlePath', 'keyPath', 'certificateChainPath'] as const) {
    const file = certificate[member];
    if (!file) continue;
    count++;
    append(errors, validateLocalNonReservedPath(file, path.child(member)), files.add(file, file));
  }
  if (count === 0) {
    const why = 'specify at least one of credentialBundlePath, keyPath, and certificateChainPath';
    errors.push(required(path, why));
  }
  return errors;
}
