import { append } from '../../lib/values/append.js';
import { parseCertificate } from '../../lib/x509/certificate.js';
import { decodePem } from '../../lib/x509/pem.js';
import {
  type FieldErrors,
  type FieldPath,
  forbidden,
  invalid,
  required,
  plainNotSupported,
} from '../../machinery/field-error.js';
import { invalidEach } from '../../machinery/validation/fields.js';
import { isDns1035Label } from '../../machinery/validation/names.js';
import { validateWebhookService, validateWebhookUrl } from '../../machinery/validation/webhook.js';
import type { CustomResourceConversion, WebhookClientConfig } from '../../schema/generated/apiextensions.v1.js';

export interface ConversionRules {
  /** One of the review versions must be one this server speaks. */
  readonly knownReviewVersion: boolean;
  readonly allowInvalidCaBundle: boolean;
}

const STRATEGIES = ['None', 'Webhook'];
const REVIEW_VERSIONS = ['v1', 'v1beta1'];
const NOT_FOR_NONE = 'should not be set when strategy is not set to Webhook';

export function validateConversion(
  conversion: Readonly<CustomResourceConversion> | undefined,
  rules: ConversionRules,
  path: FieldPath,
): FieldErrors {
  if (conversion === undefined) return [];
  const { strategy, webhook } = conversion;
  const errors: FieldErrors = [];
  if (strategy === '') errors.push(required(path.child('strategy')));
  else if (!STRATEGIES.includes(strategy)) errors.push(plainNotSupported(path.child('strategy'), strategy, STRATEGIES));
  const clientPath = path.child('webhookClientConfig');
  const versionsPath = path.child('conversionReviewVersions');
  const versions = webhook?.conversionReviewVersions ?? [];
  if (strategy !== 'Webhook') {
    if (webhook?.clientConfig !== undefined) errors.push(forbidden(clientPath, NOT_FOR_NONE));
    if (versions.length > 0) errors.push(forbidden(versionsPath, NOT_FOR_NONE));
    return errors;
  }
  if (webhook?.clientConfig === undefined) {
    errors.push(required(clientPath, 'required when strategy is set to Webhook'));
  } else append(errors, validateClientConfig(webhook.clientConfig, rules, clientPath));
  append(errors, validateReviewVersions(versions, rules, versionsPath));
  return errors;
}

function validateClientConfig(
  { url, service, caBundle = '' }: Readonly<WebhookClientConfig>,
  rules: ConversionRules,
  path: FieldPath,
): FieldErrors {
  const errors: FieldErrors = [];
  if ((url === undefined) === (service === undefined)) {
    errors.push(required(path, 'exactly one of url or service is required'));
  } else if (url !== undefined) append(errors, validateWebhookUrl(url, path.child('url')));
  else if (service !== undefined) append(errors, validateWebhookService(service, path.child('service')));
  if (caBundle !== '' && !rules.allowInvalidCaBundle && !isCaBundle(caBundle)) {
    const why = 'unable to load root certificates: unable to parse bytes as PEM block';
    errors.push(invalid(path.child('caBundle'), caBundle, why));
  }
  return errors;
}

/** At least one certificate in PEM, and nothing in it that is broken. */
export function isCaBundle(base64: string): boolean {
  const certificates = decodePem(Buffer.from(base64, 'base64').toString()).filter(({ type }) => type === 'CERTIFICATE');
  try {
    for (const { bytes } of certificates) parseCertificate(bytes);
  } catch {
    return false;
  }
  return certificates.length > 0;
}

function validateReviewVersions(versions: readonly string[], rules: ConversionRules, path: FieldPath): FieldErrors {
  if (versions.length === 0) return [required(path)];
  const errors: FieldErrors = [];
  for (const [i, version] of versions.entries()) {
    if (versions.indexOf(version) < i) errors.push(invalid(path.index(i), version, 'duplicate version'));
    else append(errors, invalidEach(path.index(i), version, isDns1035Label(version)));
  }
  if (rules.knownReviewVersion && !hasKnownReviewVersion(versions)) {
    errors.push(invalid(path, versions, `must include at least one of ${REVIEW_VERSIONS.join(', ')}`));
  }
  return errors;
}

export const hasKnownReviewVersion = (versions: readonly string[]): boolean =>
  versions.some((version) => REVIEW_VERSIONS.includes(version));
