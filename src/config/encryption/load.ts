// Reads an EncryptionConfiguration file: what is wrong with it is said in kube-apiserver's words.
import crypto from 'node:crypto';
import { errorText } from '../../lib/text/error-text.js';
import { readTextFile } from '../../lib/go/file-error.js';
import { goQuote } from '../../lib/go/quote.js';
import { aggregateText, fieldErrorText } from '../../machinery/field-error.js';
import type { EncryptionSettings } from '../../encryption/configuration.js';
import { maskedRule } from '../../encryption/resource-rules.js';
import type { EncryptionConfiguration } from '../../schema/generated/apiserverconfig.v1.js';
import { ConfigError } from '../config-error.js';
import { decodeConfig, type DecodedConfig } from '../decode-config.js';
import { serverKinds } from '../server-kinds.js';
import { entriesOf, withDefaults } from './settings.js';
import { validateEncryptionConfiguration } from './validate.js';

export interface EncryptionLoadOptions {
  readonly file: string;
  /** The file is read again when it changes. */
  readonly reload: boolean;
  /** The feature of that name is on. */
  readonly kmsV1: boolean;
}

/** Throws a ConfigError. */
export function readEncryptionFile(file: string): string {
  const read = readTextFile(file);
  const name = `encryption provider configuration file ${goQuote(file)}`;
  if (!read.ok) throw new ConfigError(`${PARSING}: error while loading file: error reading ${name}: ${read.error}`);
  if (read.text === '') throw new ConfigError(`${PARSING}: error while loading file: ${name} is empty`);
  return read.text;
}

/** Throws a ConfigError. */
export function loadEncryption(text: string, options: EncryptionLoadOptions): EncryptionSettings {
  const entries = entriesOf(parse(text, options));
  const wrong = unbuildable(entries, options.kmsV1);
  if (wrong !== undefined) throw new ConfigError(`error while building transformers: ${wrong}`);
  return { hash: `sha256:${crypto.createHash('sha256').update(text).digest('hex')}`, entries };
}

const PARSING = 'error while parsing file';
const SCHEME = 'k8s.io/apiserver/pkg/server/options/encryptionconfig/config.go:142';
const KINDS = serverKinds('v1');

function parse(text: string, { file, reload }: EncryptionLoadOptions): EncryptionConfiguration {
  const { kind, apiVersion, object } = decode(text, file);
  if (kind !== 'EncryptionConfiguration') {
    throw new ConfigError(`${PARSING}: got unexpected config type: ${apiVersion}, Kind=${kind}`);
  }
  const config = withDefaults(object as unknown as EncryptionConfiguration);
  const errors = validateEncryptionConfiguration(config, reload);
  if (errors.length > 0) throw new ConfigError(`${PARSING}: ${aggregateText(errors.map(fieldErrorText))}`);
  return config;
}

function decode(text: string, file: string): DecodedConfig {
  try {
    return decodeConfig(text, { kinds: KINDS, scheme: SCHEME });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const about = `error decoding encryption provider configuration file ${goQuote(file)}`;
    throw new ConfigError(`${PARSING}: ${about}: ${errorText(error)}`);
  }
}

const KMS_V1_OFF =
  'KMSv1 is deprecated and will only receive security updates going forward. Use KMSv2 instead.  ' +
  'Set --feature-gates=KMSv1=true to use the deprecated KMSv1 feature.';

/** Entry by entry: its providers are met before its resources. */
function unbuildable(entries: EncryptionSettings['entries'], kmsV1: boolean): string | undefined {
  for (const [i, { providers }] of entries.entries()) {
    const usesV1 = providers.some((provider) => provider.kind === 'kms' && provider.version === 'v1');
    if (usesV1 && !kmsV1) return KMS_V1_OFF;
    const masked = maskedRule(entries.slice(0, i + 1));
    if (masked !== undefined) return masked;
  }
  return undefined;
}
