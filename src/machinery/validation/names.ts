// The API's rules for names and other short texts. Each function answers why a value is wrong, empty when it is right;
// the texts carry the pattern, since people read them to mend their names.

export type NameRule = (name: string, prefix: boolean) => string[];

const DNS_LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const DNS_SUBDOMAIN = `${DNS_LABEL}(\\.${DNS_LABEL})*`;
const UNDERSCORE_LABEL = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const UNDERSCORE_SUBDOMAIN = `${UNDERSCORE_LABEL}(\\.${UNDERSCORE_LABEL})*`;
const DNS_1035_LABEL = '[a-z]([-a-z0-9]*[a-z0-9])?';
const WILDCARD_SUBDOMAIN = `\\*\\.${DNS_SUBDOMAIN}`;
const QUALIFIED_NAME = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const LABEL_VALUE = `(${QUALIFIED_NAME})?`;
const C_IDENTIFIER = '[A-Za-z_][A-Za-z0-9_]*';
const PERCENT = '[0-9]+%';
const HTTP_HEADER_NAME = '[-A-Za-z0-9]+';
const CONFIG_MAP_KEY = '[-._a-zA-Z0-9]+';
const ENV_VAR_NAME = '[-._a-zA-Z][-._a-zA-Z0-9]*';

const dnsLabel = new RegExp(`^${DNS_LABEL}$`);
const dnsSubdomain = new RegExp(`^${DNS_SUBDOMAIN}$`);
const underscoreSubdomain = new RegExp(`^${UNDERSCORE_SUBDOMAIN}$`);
const dns1035Label = new RegExp(`^${DNS_1035_LABEL}$`);
const wildcardSubdomain = new RegExp(`^${WILDCARD_SUBDOMAIN}$`);
const qualifiedName = new RegExp(`^${QUALIFIED_NAME}$`);
const labelValue = new RegExp(`^${LABEL_VALUE}$`);
const cIdentifier = new RegExp(`^${C_IDENTIFIER}$`);
const percent = new RegExp(`^${PERCENT}$`);
const httpHeaderName = new RegExp(`^${HTTP_HEADER_NAME}$`);
const envVarName = new RegExp(`^${ENV_VAR_NAME}$`);
const configMapKey = new RegExp(`^${CONFIG_MAP_KEY}$`);

export const LABEL_MAX_LENGTH = 63;
export const SUBDOMAIN_MAX_LENGTH = 253;
export const EMPTY = 'must be non-empty';

const maxLengthMessage = (length: number): string => `must be no more than ${length} characters`;
export const rangeMessage = (low: number, high: number): string => `must be between ${low} and ${high}, inclusive`;

/** A rule in words, with examples, and the pattern behind it. */
export function patternMessage(rule: string, pattern: string, ...examples: readonly string[]): string {
  if (examples.length === 0) return `${rule} (regex used for validation is '${pattern}')`;
  const shown = examples.map((example) => `'${example}', `).join(' or ');
  return `${rule} (e.g. ${shown}regex used for validation is '${pattern}')`;
}

const LABEL_MESSAGE = patternMessage(
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  DNS_LABEL,
  'my-name',
  '123-abc',
);
const SUBDOMAIN_MESSAGE = patternMessage(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  DNS_SUBDOMAIN,
  'example.com',
);
const UNDERSCORE_SUBDOMAIN_MESSAGE = patternMessage(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character",
  UNDERSCORE_SUBDOMAIN,
  'example.com',
);
const DNS_1035_MESSAGE = patternMessage(
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  DNS_1035_LABEL,
  'my-name',
  'abc-123',
);
const WILDCARD_MESSAGE = patternMessage(
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
  WILDCARD_SUBDOMAIN,
  '*.example.com',
);
const QUALIFIED_NAME_MESSAGE = patternMessage(
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  QUALIFIED_NAME,
  'MyName',
  'my.name',
  '123-abc',
);
const LABEL_VALUE_MESSAGE = patternMessage(
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  LABEL_VALUE,
  'MyValue',
  'my_value',
  '12345',
);
const C_IDENTIFIER_MESSAGE = patternMessage(
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
  C_IDENTIFIER,
  'my_name',
  'MY_NAME',
  'MyName',
);
const PERCENT_MESSAGE = patternMessage(
  "a valid percent string must be a numeric string followed by an ending '%'",
  PERCENT,
  '1%',
  '93%',
);
const HTTP_HEADER_MESSAGE = patternMessage(
  "a valid HTTP header must consist of alphanumeric characters or '-'",
  HTTP_HEADER_NAME,
  'X-Header-Name',
);
const RELAXED_ENV_VAR_MESSAGE =
  "a valid environment variable name must consist only of printable ASCII characters other than '='";
const ENV_VAR_MESSAGE = patternMessage(
  "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit",
  ENV_VAR_NAME,
  'my.env-name',
  'MY_ENV.NAME',
  'MyEnvName1',
);
const CONFIG_MAP_KEY_MESSAGE = patternMessage(
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  CONFIG_MAP_KEY,
  'key.name',
  'KEY_NAME',
  'key-name',
);

export function isDns1123Label(value: string): string[] {
  if (value.length <= LABEL_MAX_LENGTH && dnsLabel.test(value)) return [];
  const messages = noLongerThan(value, LABEL_MAX_LENGTH);
  if (!dnsLabel.test(value)) messages.push(dnsSubdomain.test(value) ? 'must not contain dots' : LABEL_MESSAGE);
  return messages;
}

export const isDns1123Subdomain = (value: string): string[] =>
  matching(value, SUBDOMAIN_MAX_LENGTH, dnsSubdomain, SUBDOMAIN_MESSAGE);
export const isDns1123SubdomainWithUnderscore = (value: string): string[] =>
  matching(value, SUBDOMAIN_MAX_LENGTH, underscoreSubdomain, UNDERSCORE_SUBDOMAIN_MESSAGE);
export const isDns1035Label = (value: string): string[] =>
  matching(value, LABEL_MAX_LENGTH, dns1035Label, DNS_1035_MESSAGE);
export const isWildcardDns1123Subdomain = (value: string): string[] =>
  matching(value, SUBDOMAIN_MAX_LENGTH, wildcardSubdomain, WILDCARD_MESSAGE);
export const isValidLabelValue = (value: string): string[] =>
  matching(value, LABEL_MAX_LENGTH, labelValue, LABEL_VALUE_MESSAGE);

/** `name` or `dns.prefix/name`. */
// hot: for each key of labels, annotations and resources.
export function isQualifiedName(value: string): string[] {
  if (value.length <= LABEL_MAX_LENGTH && qualifiedName.test(value)) return [];
  const slash = value.indexOf('/');
  const name = value.slice(slash + 1);
  if (name.includes('/')) {
    return [
      `a qualified name ${QUALIFIED_NAME_MESSAGE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const messages: string[] = [];
  if (slash === 0) messages.push(`prefix part ${EMPTY}`);
  if (slash > 0) for (const wrong of isDns1123Subdomain(value.slice(0, slash))) messages.push(`prefix part ${wrong}`);
  if (name.length <= LABEL_MAX_LENGTH && qualifiedName.test(name)) return messages;
  if (name === '') messages.push(`name part ${EMPTY}`);
  else if (Buffer.byteLength(name) > LABEL_MAX_LENGTH) messages.push(`name part ${maxLengthMessage(LABEL_MAX_LENGTH)}`);
  if (!qualifiedName.test(name)) messages.push(`name part ${QUALIFIED_NAME_MESSAGE}`);
  return messages;
}

export const isCIdentifier = (value: string): string[] => (cIdentifier.test(value) ? [] : [C_IDENTIFIER_MESSAGE]);
export const isValidPercent = (value: string): string[] => (percent.test(value) ? [] : [PERCENT_MESSAGE]);
export const isHttpHeaderName = (value: string): string[] => (httpHeaderName.test(value) ? [] : [HTTP_HEADER_MESSAGE]);

export const isEnvVarName = (value: string): string[] => [
  ...(envVarName.test(value) ? [] : [ENV_VAR_MESSAGE]),
  ...climbsDirectories(value),
];

export function isRelaxedEnvVarName(value: string): string[] {
  if (value === '') return [`environment variable name ${EMPTY}`];
  return /^[ -<>-~]*$/.test(value) ? [] : [RELAXED_ENV_VAR_MESSAGE];
}

export const isConfigMapKey = (value: string): string[] => [
  ...matching(value, SUBDOMAIN_MAX_LENGTH, configMapKey, CONFIG_MAP_KEY_MESSAGE),
  ...climbsDirectories(value),
];

const isInRange = (value: number | bigint, low: number, high: number): string[] =>
  value >= low && value <= high ? [] : [rangeMessage(low, high)];

const MAX_INT32 = 2 ** 31 - 1;
export const isValidPortNum = (port: number): string[] => isInRange(port, 1, 65535);
export const isValidUserId = (id: number | bigint): string[] => isInRange(id, 0, MAX_INT32);
export const isValidGroupId = (id: number | bigint): string[] => isInRange(id, 0, MAX_INT32);

export function isValidPortName(name: string): string[] {
  const messages = noLongerThan(name, 15);
  if (!/^[-a-z0-9]+$/.test(name)) {
    messages.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  }
  if (!/[a-z]/.test(name)) messages.push('must contain at least one letter (a-z)');
  if (name.includes('--')) messages.push('must not contain consecutive hyphens');
  if (name.startsWith('-') || name.endsWith('-')) messages.push('must not begin or end with a hyphen');
  return messages;
}

export const nameIsDnsSubdomain: NameRule = (name, prefix) => isDns1123Subdomain(prefix ? withSuffix(name) : name);
export const nameIsDnsLabel: NameRule = (name, prefix) => isDns1123Label(prefix ? withSuffix(name) : name);
export const nameIsDns1035Label: NameRule = (name, prefix) => isDns1035Label(prefix ? withSuffix(name) : name);

/** Any text that can stand as one segment of a URL path. */
export const pathSegmentName: NameRule = (name, prefix) => {
  if (!prefix && (name === '.' || name === '..')) return [`may not be '${name}'`];
  const messages: string[] = [];
  if (name.includes('/')) messages.push("may not contain '/'");
  if (name.includes('%')) messages.push("may not contain '%'");
  return messages;
};

/** A generateName may end in a dash, since random characters follow it; the rule then sees a letter in its place. */
function withSuffix(name: string): string {
  return name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name;
}

// hot: nearly every name is right. What a pattern passes is ASCII, with as many bytes as characters.
function matching(value: string, maxLength: number, pattern: RegExp, message: string): string[] {
  if (value.length <= maxLength && pattern.test(value)) return [];
  const messages = noLongerThan(value, maxLength);
  if (!pattern.test(value)) messages.push(message);
  return messages;
}

const noLongerThan = (value: string, maxLength: number): string[] =>
  Buffer.byteLength(value) > maxLength ? [maxLengthMessage(maxLength)] : [];

function climbsDirectories(value: string): string[] {
  if (value === '.' || value === '..') return [`must not be '${value}'`];
  return value.startsWith('..') ? ["must not start with '..'"] : [];
}
