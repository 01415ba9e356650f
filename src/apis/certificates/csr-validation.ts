import { append } from '../../lib/values/append.js';
import { parseCertificate } from '../../lib/x509/certificate.js';
import { parseCertificateRequestPem } from '../../lib/x509/certificate-request.js';
import { deepEqual } from '../../lib/values/deep-equal.js';
import { errorText } from '../../lib/text/error-text.js';
import { goQuote } from '../../lib/go/quote.js';
import { decodePem } from '../../lib/x509/pem.js';
import {
  type FieldErrors,
  FieldPath,
  duplicate,
  forbidden,
  invalid,
  notSupported,
  required,
  named,
} from '../../machinery/field-error.js';
import type {
  CertificateSigningRequest,
  CertificateSigningRequestCondition,
} from '../../schema/generated/certificates.v1.js';
import { validateSignerName } from '../core/pod/validation/signer-names.js';

type Request = Readonly<CertificateSigningRequest>;

/** What one of the three ways to update may change. */
export interface CsrUpdate {
  readonly maySetCertificate: boolean;
  readonly mayApprove: boolean;
}

export const validateCsr = (request: Request): FieldErrors => validate(request, undefined);

export function validateCsrUpdate(request: Request, old: Request, update: CsrUpdate): FieldErrors {
  const errors = validate(request, old);
  const path = FieldPath.of('status', 'conditions');
  for (const type of ['Approved', 'Denied', 'Failed']) {
    if (conditionsOf(request, type).length < conditionsOf(old, type).length) {
      errors.push(forbidden(path, `updates may not remove a condition of type ${goQuote(type)}`));
    }
  }
  if (!update.mayApprove)
    for (const type of ['Approved', 'Denied']) append(errors, keepsConditions(request, old, type));
  const [now = '', before = ''] = [request.status.certificate, old.status.certificate];
  if (now !== before) {
    const at = FieldPath.of('status', 'certificate');
    if (!update.maySetCertificate) errors.push(forbidden(at, 'updates may not set certificate content'));
    else if (before !== '') errors.push(forbidden(at, 'updates may not modify existing certificate content'));
  }
  return errors;
}

const LEGACY_SIGNER = 'kubernetes.io/legacy-unknown';
const MIN_EXPIRATION_SECONDS = 600;
const USAGES: readonly string[] = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
];

/** What an old object already had wrong is left alone. */
function validate(request: Request, old: Request | undefined): FieldErrors {
  const { spec, status } = request;
  const path = FieldPath.of('spec');
  const errors: FieldErrors = [];
  const why = requestProblem(spec.request);
  if (why !== undefined) errors.push(invalid(path.child('request'), spec.request, why));
  append(errors, validateUsages(spec.usages ?? [], old?.spec.usages ?? []));
  const signerPath = path.child('signerName');
  if (spec.signerName === LEGACY_SIGNER && old?.spec.signerName !== LEGACY_SIGNER) {
    const text = 'the legacy signerName is not allowed via this API version';
    errors.push(invalid(signerPath, spec.signerName, text));
  } else {
    append(errors, validateSignerName(spec.signerName, signerPath));
  }
  if (spec.expirationSeconds !== undefined && spec.expirationSeconds < MIN_EXPIRATION_SECONDS) {
    const text = 'may not specify a duration less than 600 seconds (10 minutes)';
    errors.push(invalid(path.child('expirationSeconds'), spec.expirationSeconds, text));
  }
  append(errors, validateConditions(status.conditions ?? [], old?.status.conditions ?? []));
  const certificate = status.certificate ?? '';
  const before = old?.status.certificate ?? '';
  if (old === undefined || (certificate !== before && certificateProblem(before) === undefined)) {
    const problem = certificateProblem(certificate);
    if (problem !== undefined) {
      errors.push(invalid(FieldPath.of('status', 'certificate'), '<certificate data>', problem));
    }
  }
  return errors;
}

function requestProblem(base64: string | null): string | undefined {
  try {
    parseCertificateRequestPem(Buffer.from(base64 ?? '', 'base64').toString('latin1')).checkSignature();
    return undefined;
  } catch (error) {
    return errorText(error);
  }
}

function certificateProblem(base64: string): string | undefined {
  if (base64 === '') return undefined;
  const blocks = decodePem(Buffer.from(base64, 'base64').toString('latin1'));
  if (blocks.length === 0) return 'must contain at least one CERTIFICATE PEM block';
  for (const { type, hasHeaders, bytes } of blocks) {
    if (type !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${goQuote(type)}`;
    if (hasHeaders) return 'no PEM block headers are permitted';
    if (bytes.length === 0) return 'found CERTIFICATE PEM block containing 0 certificates';
    try {
      parseCertificate(bytes);
    } catch {
      return 'x509: malformed certificate';
    }
  }
  return undefined;
}

function validateUsages(usages: readonly string[], old: readonly string[]): FieldErrors {
  const path = FieldPath.of('spec', 'usages');
  const errors: FieldErrors = usages.length === 0 ? [required(path)] : [];
  if (old.every((usage) => USAGES.includes(usage))) {
    for (const [position, usage] of usages.entries()) {
      if (!USAGES.includes(usage)) errors.push(notSupported(path.index(position), usage, USAGES));
    }
  }
  if (new Set(old).size === old.length) {
    const seen = new Set<string>();
    for (const [position, usage] of usages.entries()) {
      if (seen.has(usage)) errors.push(duplicate(path.index(position), named(usage)));
      seen.add(usage);
    }
  }
  return errors;
}

const TRUE_ONLY = new Set(['Approved', 'Denied', 'Failed']);

function validateConditions(
  conditions: readonly CertificateSigningRequestCondition[],
  old: readonly CertificateSigningRequestCondition[],
): FieldErrors {
  const path = FieldPath.of('status', 'conditions');
  const oldTypes = old.map((condition) => condition.type);
  const mayBeEmpty = oldTypes.includes('');
  const mayRepeat = new Set(oldTypes).size < oldTypes.length;
  const mayContradict = oldTypes.includes('Approved') && oldTypes.includes('Denied');
  const seen = new Set<string>();
  const errors: FieldErrors = [];
  for (const [position, { type, status }] of conditions.entries()) {
    const at = path.index(position);
    if (type === '' && !mayBeEmpty) errors.push(required(at.child('type')));
    const allowed = TRUE_ONLY.has(type) ? ['True'] : ['False', 'True', 'Unknown'];
    if (status === '') errors.push(required(at.child('status')));
    else if (!allowed.includes(status)) errors.push(notSupported(at.child('status'), status, allowed));
    const opposite = type === 'Approved' ? 'Denied' : type === 'Denied' ? 'Approved' : undefined;
    if (!mayContradict && opposite !== undefined && seen.has(opposite)) {
      errors.push(invalid(path, type, 'Approved and Denied conditions are mutually exclusive'));
    }
    if (seen.has(type) && !mayRepeat) errors.push(duplicate(at.child('type'), named(type)));
    seen.add(type);
  }
  return errors;
}

export const conditionsOf = (request: Request, type: string): CertificateSigningRequestCondition[] =>
  (request.status.conditions ?? []).filter((condition) => condition.type === type);

function keepsConditions(request: Request, old: Request, type: string): FieldErrors {
  const now = conditionsOf(request, type);
  const before = conditionsOf(old, type);
  const path = FieldPath.of('status', 'conditions');
  if (now.length > before.length) return [forbidden(path, `updates may not add a condition of type ${goQuote(type)}`)];
  if (now.length < before.length || deepEqual(now, before)) return [];
  return [forbidden(path, `updates may not modify a condition of type ${goQuote(type)}`)];
}
