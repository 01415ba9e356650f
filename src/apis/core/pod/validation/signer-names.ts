// Names of certificate signers and of the trust bundles that belong to them.
import { append } from '../../../../lib/values/append.js';
import { type FieldErrors, type FieldPath, invalid, required, tooLong } from '../../../../machinery/field-error.js';
import {
  isDns1123Label,
  isDns1123Subdomain,
  LABEL_MAX_LENGTH,
  SUBDOMAIN_MAX_LENGTH,
} from '../../../../machinery/validation/names.js';
import { goQuote } from '../../../../lib/go/quote.js';

const MAX_LENGTH = 2 * SUBDOMAIN_MAX_LENGTH + LABEL_MAX_LENGTH + 2;

export function isKubernetesSigner(signerName: string): boolean {
  const host = signerName.split('/')[0] ?? '';
  return host === 'kubernetes.io' || host.endsWith('.kubernetes.io');
}

/** `example.com/signer-name` */
export function validateSignerName(signerName: string, path: FieldPath): FieldErrors {
  if (signerName === '') return [required(path)];
  const [domain = '', rest = '', ...more] = signerName.split('/');
  if (!signerName.includes('/') || more.length > 0) {
    const why = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
    return [invalid(path, signerName, why)];
  }
  const errors: FieldErrors = [];
  if (domain.length > SUBDOMAIN_MAX_LENGTH) errors.push(tooLong(path, SUBDOMAIN_MAX_LENGTH));
  append(errors, validateParts(domain, isDns1123Label, path));
  if (!domain.includes('.')) {
    errors.push(invalid(path, domain, 'should be a domain with at least two segments separated by dots'));
  }
  append(errors, validateParts(rest, isDns1123Subdomain, path));
  if (signerName.length > MAX_LENGTH) errors.push(tooLong(path, MAX_LENGTH));
  return errors;
}

/** A bundle of a signer is named after it, with colons for slashes: `example.com:signer-name:bundle`. */
export function trustBundleNameMessages(name: string): string[] {
  return isDns1123Subdomain(name.slice(name.lastIndexOf(':') + 1));
}

/** Reports only the first wrong part; the others would mostly repeat it. */
function validateParts(text: string, rule: (part: string) => string[], path: FieldPath): FieldErrors {
  for (const part of text.split('.')) {
    const messages = rule(part);
    if (messages.length > 0) {
      return messages.map((message) => invalid(path, text, `validating label ${goQuote(part)}: ${message}`));
    }
  }
  return [];
}
