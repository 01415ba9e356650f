import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FieldPath, fieldErrorText } from '../field-error.js';
import { validateWebhookService, validateWebhookUrl } from './webhook.js';

const urlErrors = (url: string): string[] => validateWebhookUrl(url, FieldPath.of('url')).map(fieldErrorText);

test('a webhook is called by https, at a host, and by nothing else of a URL', () => {
  const form = '; desired format: https://host[/path]';
  assert.deepEqual(urlErrors('https://example.com:443/a'), []);
  assert.deepEqual(urlErrors('http://u:p@h/?a=1#f'), [
    `url: Invalid value: "http": 'https' is the only allowed URL scheme${form}`,
    'url: Invalid value: "u:p": user information is not permitted in the URL',
    'url: Invalid value: "f": fragments are not permitted in the URL',
    'url: Invalid value: "a=1": query parameters are not permitted in the URL',
  ]);
  for (const [url, why] of [
    [':x', 'parse ":x": missing protocol scheme'],
    ['https://[::1', 'parse "https://[::1": missing \']\' in host'],
    ['https://h:x/', 'parse "https://h:x/": invalid port ":x" after host'],
    ['https://a b/', 'parse "https://a b/": invalid character " " in host name'],
    ['https://h/%zz', 'parse "https://h/%zz": invalid URL escape "%zz"'],
  ] as const) {
    assert.deepEqual(urlErrors(url), [`url: Required value: url must be a valid URL: ${why}${form}`]);
  }
});

test('a service without a namespace lacks its name, as clients know it', () => {
  const errors = validateWebhookService({ namespace: '', name: 'x', port: 0, path: '//' }, FieldPath.of('service'));
  assert.deepEqual(errors.map(fieldErrorText), [
    'service.name: Required value',
    'service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive',
    'service.path: Invalid value: "//": segment[0] may not be empty',
  ]);
});
