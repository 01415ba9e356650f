// Where a webhook is called: the rules admission and conversion webhooks share.
import { append } from '../../lib/values/append.js';
import { parseGoUrl } from '../../lib/go/url.js';
import { type FieldErrors, type FieldPath, invalid, required } from '../field-error.js';
import { isDns1123Subdomain, isValidPortNum } from './names.js';

export interface WebhookService {
  readonly namespace: string;
  readonly name: string;
  readonly path?: string;
  readonly port?: number;
}

const FORM = '; desired format: https://host[/path]';

export function validateWebhookUrl(text: string, path: FieldPath): FieldErrors {
  const url = parseGoUrl(text);
  if ('error' in url) return [required(path, `url must be a valid URL: ${url.error}${FORM}`)];
  const errors: FieldErrors = [];
  if (url.scheme !== 'https') {
    errors.push(invalid(path, url.scheme, `'https' is the only allowed URL scheme${FORM}`));
  }
  if (url.host === '') errors.push(invalid(path, url.host, `host must be specified${FORM}`));
  if (url.user !== undefined) {
    errors.push(invalid(path, url.user, 'user information is not permitted in the URL'));
  }
  if (url.fragment !== '') errors.push(invalid(path, url.fragment, 'fragments are not permitted in the URL'));
  if (url.rawQuery !== '') errors.push(invalid(path, url.rawQuery, 'query parameters are not permitted in the URL'));
  return errors;
}

/** An empty namespace is reported as a missing name and the other way round, as kube-apiserver does. */
export function validateWebhookService(service: Readonly<WebhookService>, path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  if (service.namespace === '') errors.push(required(path.child('name')));
  if (service.name === '') errors.push(required(path.child('namespace')));
  const port = service.port ?? 0;
  const wrong = isValidPortNum(port);
  if (wrong.length > 0) errors.push(invalid(path.child('port'), port, `port is not valid: ${wrong.join(', ')}`));
  append(errors, validateServicePath(service.path ?? '', path.child('path')));
  return errors;
}

function validateServicePath(text: string, path: FieldPath): FieldErrors {
  if (text === '' || text === '/') return [];
  if (text === '//') return [invalid(path, text, 'segment[0] may not be empty')];
  const errors: FieldErrors = [];
  if (!text.startsWith('/')) errors.push(invalid(path, text, "must start with a '/'"));
  // kube-apiserver leaves out the first byte, whatever it is part of.
  const steps = Buffer.from(text).toString('latin1').slice(1).replace(/\/$/, '').split('/');
  for (const [i, step] of steps.entries()) {
    if (step === '') errors.push(invalid(path, text, `segment[${i}] may not be empty`));
    else for (const why of isDns1123Subdomain(step)) errors.push(invalid(path, text, `segment[${i}]: ${why}`));
  }
  return errors;
}
