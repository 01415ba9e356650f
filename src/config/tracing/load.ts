// The file that says where traces go and how many are sampled.
import { readTextFile } from '../../lib/go/file-error.js';
import { parseGoUrl } from '../../lib/go/url.js';
import { goQuote } from '../../lib/go/quote.js';
import { aggregateText, type FieldErrors, fieldErrorText, FieldPath, invalid } from '../../machinery/field-error.js';
import { parseApiVersion } from '../../machinery/object.js';
import type { TracingConfiguration } from '../../schema/generated/apiserverconfig.v1.js';
import { ConfigError } from '../config-error.js';
import { decodeConfig } from '../decode-config.js';
import { CONFIG_GROUP, SERVER_KINDS } from '../server-kinds.js';

const KIND = 'TracingConfiguration';
const KINDS = {
  kinds: SERVER_KINDS,
  scheme: 'k8s.io/apiserver/pkg/server/options/tracing.go:49',
  assumed: { kind: KIND, apiVersion: `${CONFIG_GROUP}/v1` },
};

/** Throws a ConfigError. */
export function loadTracing(file: string): TracingConfiguration {
  const read = readTextFile(file);
  if (!read.ok) throw unread(`unable to read tracing configuration from ${goQuote(file)}: ${read.error}`);
  const config = decode(read.text);
  const errors = validateTracing(config);
  if (errors.length === 0) return config;
  throw new ConfigError(`failed to validate tracing configuration: ${aggregateText(errors.map(fieldErrorText))}`);
}

const unread = (why: string): ConfigError => new ConfigError(`failed to read tracing config: ${why}`);

function decode(text: string): TracingConfiguration {
  try {
    const { kind, apiVersion, object } = decodeConfig(text, KINDS);
    if (kind !== KIND) {
      const { version } = parseApiVersion(apiVersion);
      throw new ConfigError(`converting (${version}.${kind}) to (apiserver.${KIND}): unknown conversion`);
    }
    return object as unknown as TracingConfiguration;
  } catch (error) {
    if (error instanceof ConfigError) throw unread(`unable to decode tracing configuration data: ${error.message}`);
    throw error;
  }
}

const MAX_RATE = 1_000_000;
const SCHEMES = new Set(['dns', 'unix', 'unix-abstract']);

function validateTracing({ endpoint, samplingRatePerMillion: rate }: TracingConfiguration): FieldErrors {
  const errors: FieldErrors = [];
  const ratePath = FieldPath.of('samplingRatePerMillion');
  if (rate != null && rate < 0) errors.push(invalid(ratePath, rate, 'sampling rate must be positive'));
  if (rate != null && rate > MAX_RATE) {
    errors.push(invalid(ratePath, rate, 'sampling rate per million must be less than or equal to one million'));
  }
  if (endpoint == null) return errors;
  // Without a scheme it is a name that is looked up.
  const full = endpoint.includes('//') ? endpoint : `dns://${endpoint}`;
  const url = parseGoUrl(full);
  if ('error' in url) errors.push(invalid(FieldPath.of('endpoint'), full, url.error));
  else if (!SCHEMES.has(url.scheme)) {
    const why = `unsupported scheme: ${url.scheme}.  Options are none, dns, unix, or unix-abstract.  See https://github.com/grpc/grpc/blob/master/doc/naming.md`;
    errors.push(invalid(FieldPath.of('endpoint'), full, why));
  }
  return errors;
}
