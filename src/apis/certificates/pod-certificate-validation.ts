import { append } from '../../lib/values/append.js';
import { type KeyObject, constants, createPublicKey, verify } from 'node:crypto';
import { type Certificate, parseCertificate } from '../../lib/x509/certificate.js';
import { deepEqual } from '../../lib/values/deep-equal.js';
import { decodePem, type PemBlock } from '../../lib/x509/pem.js';
import {
  type FieldError,
  type FieldErrors,
  FieldPath,
  invalid,
  notSupported,
  required,
  tooLong,
  plainNotSupported,
} from '../../machinery/field-error.js';
import { validateConditions } from '../../machinery/validation/conditions.js';
import { invalidEach } from '../../machinery/validation/fields.js';
import { nameIsDnsSubdomain } from '../../machinery/validation/names.js';
import type {
  PodCertificateRequest,
  PodCertificateRequestStatus,
} from '../../schema/generated/certificates.v1alpha1.js';
import { isKubernetesSigner, validateSignerName } from '../core/pod/validation/signer-names.js';

type Request = Readonly<PodCertificateRequest>;

const SPEC = FieldPath.of('spec');
const STATUS = FieldPath.of('status');
const MAX_UID_BYTES = 128;
const MAX_KEY_BYTES = 10 * 1024;
const MAX_PROOF_BYTES = 10 * 1024;
const MAX_CHAIN_BYTES = 100 * 1024;
const MIN_EXPIRATION_SECONDS = 3600;
const MAX_EXPIRATION_SECONDS = 91 * 24 * 3600;
const MAX_KUBERNETES_EXPIRATION_SECONDS = 24 * 3600;
const MINUTE_MS = 60_000;

export function validatePodCertificateRequest({ spec }: Request): FieldErrors {
  const errors = validateSignerName(spec.signerName, SPEC.child('signerName'));
  for (const [name, uid] of [
    ['podName', 'podUID'],
    ['serviceAccountName', 'serviceAccountUID'],
    ['nodeName', 'nodeUID'],
  ] as const) {
    append(errors, invalidEach(SPEC.child(name), spec[name], nameIsDnsSubdomain(spec[name], false)));
    if (spec[uid] === '') errors.push(invalid(SPEC.child(uid), spec[uid], 'must not be empty'));
    if (Buffer.byteLength(spec[uid]) > MAX_UID_BYTES) errors.push(tooLong(SPEC.child(uid), MAX_UID_BYTES));
  }
  const { maxExpirationSeconds } = spec;
  const expirationPath = SPEC.child('maxExpirationSeconds');
  if (maxExpirationSeconds === undefined) return [...errors, required(expirationPath, 'must be set')];
  const max = isKubernetesSigner(spec.signerName) ? MAX_KUBERNETES_EXPIRATION_SECONDS : MAX_EXPIRATION_SECONDS;
  if (maxExpirationSeconds < MIN_EXPIRATION_SECONDS || maxExpirationSeconds > max) {
    const text = `must be in the range [${MIN_EXPIRATION_SECONDS}, ${max}]`;
    errors.push(invalid(expirationPath, maxExpirationSeconds, text));
  }
  const problem = keyProblem(spec);
  return problem === undefined ? errors : [...errors, problem];
}

/** The public key must be of a kind signers accept, and the pod's UID signed with its private half. */
function keyProblem(spec: Request['spec']): FieldError | undefined {
  const keyPath = SPEC.child('pkixPublicKey');
  const proofPath = SPEC.child('proofOfPossession');
  const key = Buffer.from(spec.pkixPublicKey ?? '', 'base64');
  const proof = Buffer.from(spec.proofOfPossession ?? '', 'base64');
  if (key.length > MAX_KEY_BYTES) return tooLong(keyPath, MAX_KEY_BYTES);
  if (proof.length > MAX_PROOF_BYTES) return tooLong(proofPath, MAX_PROOF_BYTES);
  let publicKey: KeyObject;
  try {
    publicKey = createPublicKey({ key, format: 'der', type: 'spki' });
  } catch {
    return invalid(keyPath, spec.pkixPublicKey, 'must be a valid PKIX-serialized public key');
  }
  const signed = Buffer.from(spec.podUID);
  const { asymmetricKeyType, asymmetricKeyDetails } = publicKey;
  let good: boolean;
  switch (asymmetricKeyType) {
    case 'ed25519':
      good = verify(null, signed, publicKey, proof);
      break;
    case 'ec': {
      const curve = asymmetricKeyDetails?.namedCurve ?? '';
      if (!CURVES.has(curve)) {
        return invalid(keyPath, `curve ${curve}`, 'elliptic public keys must use curve P256 or P384');
      }
      good = verify('sha256', signed, publicKey, proof);
      break;
    }
    case 'rsa': {
      const bits = Math.ceil((asymmetricKeyDetails?.modulusLength ?? 0) / 8) * 8;
      if (bits !== 3072 && bits !== 4096) {
        return invalid(keyPath, `${bits}-bit modulus`, 'RSA keys must have modulus size 3072 or 4096');
      }
      good = verify('sha256', signed, { key: publicKey, padding: constants.RSA_PKCS1_PSS_PADDING }, proof);
      break;
    }
    default: {
      const text = 'unknown public key type; supported types are Ed25519, ECDSA, and RSA';
      return invalid(keyPath, spec.pkixPublicKey, text);
    }
  }
  return good ? undefined : invalidUnshown(proofPath, 'could not verify proof-of-possession signature');
}

const CURVES = new Set(['prime256v1', 'secp384r1', 'secp521r1']);
const OUTCOMES = ['Issued', 'Denied', 'Failed'];

export function validatePodCertificateStatus(request: Request, old: Request, now: Date): FieldErrors {
  const conditions = request.status.conditions ?? [];
  const errors: FieldErrors = [];
  let outcomes = 0;
  for (const [position, { type, status }] of conditions.entries()) {
    const at = FieldPath.of('status', 'conditions', `[${position}]`);
    if (!OUTCOMES.includes(type)) {
      errors.push(plainNotSupported(at.child('type'), type, OUTCOMES));
      continue;
    }
    if (++outcomes > 1) {
      const text = 'There may be at most one condition with type "Issued", "Denied", or "Failed"';
      errors.push(invalid(at.child('type'), type, text));
    }
    if (status !== 'True') errors.push(notSupported(at.child('status'), status, ['True']));
  }
  append(errors, validateConditions(conditions, STATUS.child('conditions')));
  if (errors.length > 0) return errors;
  if (OUTCOMES.some((type) => ended(old.status, type))) {
    return same(request.status, old.status, 'immutable after PodCertificateRequest is issued, denied, or failed');
  }
  if (ended(request.status, 'Denied') || ended(request.status, 'Failed')) {
    const text = 'non-condition status fields must be empty when denying or failing the PodCertificateRequest';
    return same(request.status, { conditions }, text);
  }
  if (ended(request.status, 'Issued')) return validateIssued(request, old, now);
  return same(
    request.status,
    old.status,
    'status is immutable unless transitioning to "Issued", "Denied", or "Failed"',
  );
}

/** The first problem ends the look: what follows builds on it. */
function validateIssued(request: Request, old: Request, now: Date): FieldErrors {
  const chainPath = STATUS.child('certificateChain');
  const chain = request.status.certificateChain ?? '';
  if (Buffer.byteLength(chain) > MAX_CHAIN_BYTES) return [tooLong(chainPath, MAX_CHAIN_BYTES)];
  const refuse = (why: string): FieldErrors => [invalid(chainPath, chain, why)];
  const [leafBlock, ...rest] = decodePem(chain);
  if (leafBlock === undefined) return refuse('issued certificate chain must contain at least one certificate');
  if (leafBlock.type !== 'CERTIFICATE') {
    return refuse('issued certificate chain must consist entirely of CERTIFICATE PEM blocks');
  }
  const leaf = tryParse(leafBlock);
  if (leaf === undefined) return refuse('leaf certificate does not parse as valid X.509');
  const wanted = Buffer.from(old.spec.pkixPublicKey ?? '', 'base64');
  if (!leaf.x509.publicKey.export({ format: 'der', type: 'spki' }).equals(wanted)) {
    return refuse('leaf certificate was not issued to the requested public key');
  }
  const times = validateTimes(request, leaf, now);
  if (times.length > 0) return times;
  for (const block of rest) {
    if (block.type !== 'CERTIFICATE') {
      return refuse('issued certificate chain must consist entirely of CERTFICATE PEM blocks');
    }
    if (tryParse(block) === undefined) return refuse('intermediate certificate does not parse as valid X.509');
  }
  return [];
}

function validateTimes({ spec, status }: Request, leaf: Certificate, now: Date): FieldErrors {
  const { notBefore, notAfter, beginRefreshAt } = status;
  const errors: FieldErrors = [];
  const consistent = 'must be present and consistent with the issued certificate';
  if (!notBefore) errors.push(required(STATUS.child('notBefore'), consistent));
  if (!notAfter) errors.push(required(STATUS.child('notAfter'), consistent));
  if (!beginRefreshAt) {
    const text = 'must be present and in the range [notbefore+10min, notafter-10min]';
    errors.push(required(STATUS.child('beginRefreshAt'), text));
  }
  if (!notBefore || !notAfter || !beginRefreshAt) return errors;
  const refuse = (field: string, value: unknown, why: string) => [invalid(STATUS.child(field), value, why)];
  if (Date.parse(notBefore) !== leaf.notBeforeMs) {
    return refuse('notBefore', notBefore, 'must be set to the NotBefore time encoded in the leaf certificate');
  }
  if (Math.abs(leaf.notBeforeMs - now.getTime()) >= 5 * MINUTE_MS) {
    return refuse('notBefore', notBefore, "must be set to within 5 minutes of kube-apiserver's current time");
  }
  if (Date.parse(notAfter) !== leaf.notAfterMs) {
    return refuse('notAfter', notAfter, 'must be set to the NotAfter time encoded in the leaf certificate');
  }
  const lifetimeMs = leaf.notAfterMs - leaf.notBeforeMs;
  // A duration is shown in nanoseconds.
  const shown = BigInt(lifetimeMs) * 1_000_000n;
  if (lifetimeMs < 60 * MINUTE_MS) {
    return refuse('certificateChain', shown, 'leaf certificate lifetime must be >= 1 hour');
  }
  const max = spec.maxExpirationSeconds ?? 0;
  if (lifetimeMs > max * 1000) {
    const text = `leaf certificate lifetime must be <= spec.maxExpirationSeconds (${max})`;
    return refuse('certificateChain', shown, text);
  }
  const refreshMs = Date.parse(beginRefreshAt);
  if (refreshMs < leaf.notBeforeMs + 10 * MINUTE_MS) {
    return refuse('beginRefreshAt', beginRefreshAt, 'must be at least 10 minutes after status.notBefore');
  }
  if (refreshMs > leaf.notAfterMs - 10 * MINUTE_MS) {
    return refuse('beginRefreshAt', beginRefreshAt, 'must be at least 10 minutes before status.notAfter');
  }
  return [];
}

const ended = (status: PodCertificateRequestStatus, type: string): boolean =>
  (status.conditions ?? []).some((condition) => condition.type === type && condition.status === 'True');

const same = (left: object, right: object, why: string): FieldErrors =>
  deepEqual(left, right) ? [] : [invalidUnshown(STATUS, why)];

function tryParse(block: PemBlock): Certificate | undefined {
  try {
    return parseCertificate(block.bytes);
  } catch {
    return undefined;
  }
}

/** An invalid value that is too long, or too secret, to repeat. */
const invalidUnshown = (path: FieldPath, why: string): FieldError => ({
  type: 'FieldValueInvalid',
  field: path.toString(),
  body: `Invalid value: ${why}`,
});
