// One thread serves everybody: each reader of text gets what is worst for one reader or another, over and over again,
// and a megabyte of its own worst. What backtracks, or looks again at what it has seen, would take minutes to days.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { meansLatestImage } from '../../src/apis/core/pod/image-name.js';
import { overlappingPathWarnings } from '../../src/apis/core/pod/volume-path-overlap.js';
import { validateFieldReference } from '../../src/apis/core/pod/validation/env.js';
import { validateInitiator } from '../../src/apis/core/pod/validation/iscsi.js';
import { tlsWarnings } from '../../src/apis/core/secret/warnings.js';
import { countIndexes } from '../../src/apis/batch/job/indexes.js';
import { scheduleError } from '../../src/apis/batch/cronjob/schedule.js';
import { compilePattern } from '../../src/apis/apiextensions/values/pattern.js';
import { parseSemanticVersion } from '../../src/apis/coordination/semantic-version.js';
import { splitServiceAccountUserName } from '../../src/authn/service-account/identity.js';
import { ruleAllows } from '../../src/authz/rule-match.js';
import { parse as parseExpression } from '../../src/cel/syntax/parser.js';
import { tokenize } from '../../src/cel/syntax/lexer.js';
import { parseJsonPath as parseColumnPath } from '../../src/crd/json-path.js';
import { parseCertificateBundle } from '../../src/lib/x509/certificate.js';
import { parseCsv } from '../../src/lib/text/csv.js';
import { goQuote } from '../../src/lib/go/quote.js';
import { parseFloat64, parseInteger } from '../../src/lib/go/strconv.js';
import { parseGoUrl } from '../../src/lib/go/url.js';
import { parseCidr, parseIp } from '../../src/lib/values/ip-address.js';
import { parseAddress } from '../../src/cel/kubernetes/netip.js';
import { decodePem } from '../../src/lib/x509/pem.js';
import { percentDecode } from '../../src/lib/http/percent-decode.js';
import { unifiedDiff } from '../../src/apis/core/internal-form/unified-diff.js';
import { FieldPath } from '../../src/machinery/field-error.js';
import { parseFieldSelector } from '../../src/machinery/field-selector.js';
import { jsonPathError } from '../../src/machinery/json-path.js';
import { parseLabelSelector } from '../../src/machinery/label-selector.js';
import { canonicalQuantity, compareQuantities } from '../../src/machinery/quantity.js';
import { parseDuration, parseTime } from '../../src/machinery/time.js';
import { parseLooseDuration } from '../../src/machinery/validation/loose-duration.js';
import * as names from '../../src/machinery/validation/names.js';
import { matchesFormat } from '../../src/machinery/validation/string-formats.js';
import { validateWebhookUrl } from '../../src/machinery/validation/webhook.js';
import { parseJsonTree } from '../../src/schema/json/decode.js';
import { parseYaml } from '../../src/schema/yaml/parse.js';

/** The squares of these take half a second and half an hour. */
const BOMB_BYTES = 20_000;
const BIG_BOMB_BYTES = 1_000_000;
const MAX_MS = 400;
const TRIES = 8;
const MAX_BIG_MS = 3_000;

/** Characters that mean something to one parser or another, repeated, and then a character that fits nothing. */
const CHARACTERS = [
  '0',
  '9',
  'a',
  'A',
  '-',
  '.',
  '/',
  ':',
  '*',
  ' ',
  '\n',
  '\t',
  '(',
  '[',
  '{',
  '"',
  "'",
  '\\',
  '%',
  '=',
  ',',
  '_',
  '@',
  '&',
  '!',
  '+',
  '#',
  '?',
  '|',
  '<',
  'é',
  '\u0085',
];
/** What readers look for, over and over again. */
const PIECES = [
  'a.',
  'a-',
  '-a',
  '0.',
  '.0',
  '1h',
  '1 ',
  '1e',
  'a/',
  '/.',
  '//',
  '/..',
  '[?(',
  "['",
  "']",
  '[0]',
  '..*',
  '@.a==',
  '\\"',
  '""',
  '"""',
  "'''",
  '\\u',
  '%41',
  '%',
  '{}',
  '[],',
  '{"a":',
  '[',
  'a:\n',
  '- ',
  '- - ',
  '&a ',
  '*a ',
  '? ',
  '!',
  'a,',
  'a=b,',
  'a in (',
  'a!=b,',
  '&&',
  'a?',
  'a.b(',
  '!!',
  '--',
  '::',
  'f:',
  '1.2.3.4.',
  'a@',
  'a:a@',
  '-----BEGIN A-----\n',
  '-----BEGIN A-----\n-----END B-----\n',
  '-----BEGIN CERTIFICATE-----\n',
  'A: b\n',
  'iqn.2000-01.',
  'iqn.2000-01.a:',
  '*/1,',
  '1-',
  '1,',
  '@every ',
  'TZ=',
  '| ',
  '>\n',
  '# ',
  '\r\n',
];
const bombs = [
  ...CHARACTERS.map((character) => character.repeat(BOMB_BYTES)),
  ...PIECES.map((piece) => piece.repeat(Math.floor(BOMB_BYTES / piece.length))),
].map((bomb) => `${bomb}!`);

/** A reader, and what it wants to see before it begins to read. */
type Reader = readonly [name: string, read: (text: string) => unknown, ...prefixes: string[]];

const FIELD = FieldPath.of('field');
const tlsSecret = (pem: string): Parameters<typeof tlsWarnings>[0] => ({
  metadata: { name: 's' },
  type: 'kubernetes.io/tls',
  data: { 'tls.crt': Buffer.from(pem).toString('base64'), 'tls.key': Buffer.from(pem).toString('base64') },
});
const FORMATS = [
  'bsonobjectid',
  'uri',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'cidr',
  'mac',
  'uuid',
  'isbn',
  'creditcard',
  'ssn',
  'hexcolor',
  'rgbcolor',
  'byte',
  'date',
  'duration',
  'datetime',
];

const READERS: readonly Reader[] = [
  ['quantity', canonicalQuantity, '', '0', '1.'],
  ['quantities compared', (text) => compareQuantities(text, '1'), ''],
  ['duration', parseDuration, '', '1', '1h'],
  ['loose duration', parseLooseDuration, '', '1 '],
  ['time', parseTime, '', '2024-01-01T00:00:00.'],
  ['JSON path', (text) => jsonPathError(`{${text}}`), '', '.spec', '.spec[?('],
  ['column path', parseColumnPath, '', '.spec', '.spec[?(', "['"],
  ['label selector', parseLabelSelector, '', 'a in (', 'a'],
  ['field selector', parseFieldSelector, '', 'a='],
  ['PEM', decodePem, '', '-----BEGIN A-----\n'],
  ['certificates', parseCertificateBundle, ''],
  ['TLS secret', (text) => tlsWarnings(tlsSecret(text)), ''],
  ['image', meansLatestImage, '', 'a/', 'a:'],
  ['iscsi name', (text) => validateInitiator(text, FIELD, ''), 'iqn.', 'iqn.2000-01.', 'iqn.2000-01.a:'],
  ['field reference', (text) => validateFieldReference({ apiVersion: 'v1', fieldPath: text }, [], FIELD), '', "a['"],
  ['schedule', scheduleError, '', '@every ', '* * * * ', 'TZ='],
  ['indexes', (text) => countIndexes(text, 10), '', '0-'],
  ['semantic version', parseSemanticVersion, '', '1.2.3-', '1.2.'],
  ['user name', splitServiceAccountUserName, '', 'system:serviceaccount:a:'],
  [
    'rule for paths',
    (url) =>
      ruleAllows({ verbs: ['get'], nonResourceURLs: [url] }, {
        verb: 'get',
        path: '/x',
        resourceRequest: false,
      } as never),
    '',
    '/',
  ],
  ['CEL tokens', tokenize, '', '"', 'r"""', 'b'],
  [
    'CEL',
    (text) => parseExpression(text, { macros: new Map(), optionalSyntax: true, escapedIdentifiers: true }),
    '',
    'a',
    '(',
  ],
  ['pattern', compilePattern, '', '('],
  ['CSV', parseCsv, '', '"'],
  ['Go quote', goQuote, ''],
  ['float', parseFloat64, '', '1.'],
  ['integer', (text) => parseInteger(text, { as: 'ParseInt', bits: 64, signed: true, base: 10 }), ''],
  ['integer of any base', (text) => parseInteger(text, { as: 'ParseInt', bits: 64, signed: true, base: 0 }), '', '0x'],
  ['URL', parseGoUrl, '', 'http://', 'http://a/'],
  ['webhook URL', (text) => validateWebhookUrl(text, FIELD), '', 'https://'],
  ['address', parseIp, '', '::'],
  ['CIDR', parseCidr, '', '1.2.3.4/'],
  ['strict address', parseAddress, '', '::'],
  ['escapes', percentDecode, ''],
  ['JSON', parseJsonTree, '', '"', '{"a":', '1', '['],
  ['YAML', parseYaml, '', 'a: ', '"', '- ', '{', '['],
  ...FORMATS.map((format): Reader => [`format ${format}`, (text) => matchesFormat(format, text), '']),
  ...Object.entries(names)
    .filter(([name, rule]) => name.startsWith('is') && typeof rule === 'function')
    .map(([name, rule]): Reader => [name, (text) => (rule as (text: string) => unknown)(text), '', 'a/']),
  ['diff', (text) => unifiedDiff(text.split(text[1] ?? ''), text.slice(7).split(text[0] ?? '')), ''],
];

for (const [name, read, ...prefixes] of READERS) {
  test(`no text takes ${name} longer than its length`, () => {
    for (const prefix of prefixes) for (const bomb of bombs) within(MAX_MS, name, read, prefix + bomb);
  });
}

/** One character each, so that other bombs would be the same paths over again. */
test('no paths in volumes take longer than their number', () => {
  for (const piece of ['a', '/', 'a/', '/.', '.0']) {
    const paths = piece.repeat(BOMB_BYTES / piece.length).split('');
    const configMap = { name: 'c', items: paths.map((path) => ({ key: 'k', path })) };
    within(MAX_MS, 'volume paths', () => overlappingPathWarnings([{ name: 'v', configMap }]), piece);
  }
});

const times = (piece: string): string => piece.repeat(Math.floor(BIG_BOMB_BYTES / piece.length));

/** What hung the server once, or would have. */
const HELD: readonly (readonly [reader: string, text: string])[] = [
  ['quantity', `${times('0')}!`],
  ['quantity', `1${times('0')}`],
  ['column path', `.spec[?(${times(' ')}`],
  ['column path', `.spec[?(${times('a')}`],
  ['PEM', times('-----BEGIN A-----\n')],
  ['PEM', `${times('-----BEGIN A-----\n')}-----END A-----\n`],
  ['certificates', times('-----BEGIN CERTIFICATE-----\n')],
  ['TLS secret', times('-----BEGIN A-----\n')],
  ['format duration', `${times('1')}!`],
  ['loose duration', times('1 ')],
  ['duration', times('9')],
  ['iscsi name', `iqn.${times('iqn.2000-01.')}`],
  ['schedule', `@every ${times('1')}`],
  ['rule for paths', `/${times('*')}x`],
  ['field reference', times("a['")],
  ['float', `${times('1')}!`],
  ['CEL', '😀'.repeat(90_000)],
  ['CEL', '-'.repeat(90_000)],
  ['pattern', '1.2.3.4.'.repeat(4_000)],
  ['YAML', `{${Array.from({ length: 80_000 }, (_, i) => `"k${i}":"v"`).join()}}`],
  ['diff', times('a\nb\n')],
];

for (const [name, text] of HELD) {
  test(`${name} is done with a megabyte of ${shown(text)}`, () => {
    const read = READERS.find(([each]) => each === name)?.[1];
    assert.ok(read !== undefined);
    within(MAX_BIG_MS, name, read, text);
  });
}

/** A reader that takes too long does so each time; the collector and the compiler, which count as well, do not. */
function within(longestMs: number, name: string, read: (text: string) => unknown, text: string): void {
  let ms = processorMs(read, text);
  for (let tried = 1; ms >= longestMs && tried < TRIES; tried++) ms = processorMs(read, text);
  assert.ok(ms < longestMs, `${name} took ${Math.round(ms)} ms for ${shown(text)}`);
}

/** In processor time, since others may have the machine. */
function processorMs(read: (text: string) => unknown, text: string): number {
  const start = process.cpuUsage();
  try {
    read(text);
  } catch (error) {
    assert.ok(error instanceof Error);
    assert.ok(!(error instanceof TypeError) && !(error instanceof RangeError), `${shown(text)}: ${error.stack}`);
  }
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

function shown(text: string): string {
  return JSON.stringify(text.length < 30 ? text : `${text.slice(0, 20)}…${text.slice(-5)}`);
}
