// The egress selector configuration: which proxy outgoing connections use.
import { readTextFile } from '../../lib/go/file-error.js';
import { goQuote } from '../../lib/go/quote.js';
import { aggregateText, fieldErrorText } from '../../machinery/field-error.js';
import type { EgressSelectorConfiguration } from '../../schema/generated/apiserver.v1beta1.js';
import { ConfigError } from '../config-error.js';
import { decodeConfig } from '../decode-config.js';
import { SERVER_KINDS } from '../server-kinds.js';
import { validateEgress } from './validate.js';

const KINDS = {
  kinds: SERVER_KINDS,
  scheme: 'k8s.io/apiserver/pkg/server/egressselector/config.go:33',
};

/** Throws a ConfigError. Names of selections are in lower case, each there once, and of today. */
export function loadEgress(file: string): EgressSelectorConfiguration {
  const read = readTextFile(file);
  if (!read.ok) {
    const why = `unable to read egress selector configuration from ${goQuote(file)} [${read.error}]`;
    throw new ConfigError(`failed to read egress selector config: ${why}`);
  }
  const config = withTodaysNames(decode(read.text));
  const errors = validateEgress(config);
  if (errors.length > 0) {
    const why = aggregateText(errors.map(fieldErrorText));
    throw new ConfigError(`failed to validate egress selector configuration: ${why}`);
  }
  return config;
}

function decode(text: string): EgressSelectorConfiguration {
  try {
    const { kind, apiVersion, object } = decodeConfig(text, KINDS);
    if (kind !== 'EgressSelectorConfiguration') {
      throw new ConfigError(`unexpected config type: ${apiVersion}, Kind=${kind}`);
    }
    return object as unknown as EgressSelectorConfiguration;
  } catch (error) {
    if (error instanceof ConfigError) throw new ConfigError(`failed to read egress selector config: ${error.message}`);
    throw error;
  }
}

/** The old name of a selection, accepted in lower case only, or its name in the spec. */
const TODAYS: Readonly<Record<string, string>> = { master: 'controlplane', kvstore: 'etcd' };

const withTodaysNames = (config: EgressSelectorConfiguration): EgressSelectorConfiguration => ({
  ...config,
  egressSelections: (config.egressSelections ?? []).map((selection) => {
    const { name } = selection;
    return { ...selection, name: (Object.hasOwn(TODAYS, name) ? TODAYS[name] : undefined) ?? name.toLowerCase() };
  }),
});
