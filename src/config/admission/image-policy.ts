import type { ImagePolicySettings } from '../../admission/plugins/image-policy-webhook.js';
import { cannotUnmarshal } from '../../lib/go/json-kind.js';
import { isPlainObject } from '../../lib/values/plain-object.js';
import { formatDurationMs } from '../../machinery/time.js';
import { type ClientConfig, clientConfigOf } from '../client-config.js';
import { ConfigError } from '../config-error.js';
import { loadKubeconfig } from '../kubeconfig.js';
import { memberOf, readTree } from './read-plugin.js';

export interface ImagePolicyConfig extends Omit<ImagePolicySettings, 'client' | 'server'> {
  readonly server: ClientConfig;
}

const SECOND_MS = 1000;
const MINUTE_MS = 60_000;
const NANOSECONDS_PER_MS = 1e6;
const ONE_NANOSECOND_MS = 1 / NANOSECONDS_PER_MS;

/** Throws a ConfigError. */
export function imagePolicy(text: string | undefined): ImagePolicyConfig {
  if (text === undefined) throw new ConfigError('no config specified');
  if (text === '') throw new ConfigError('EOF');
  const given = memberOf(readTree(text, 'imagepolicy.AdmissionConfig'), 'imagePolicy') ?? {};
  if (!isPlainObject(given))
    throw wrongType(given, 'AdmissionConfig.imagePolicy', 'imagepolicy.imagePolicyWebhookConfig');
  const retryBackoffMs = duration(given, {
    name: 'retryBackoff',
    unitMs: 1,
    range: [ONE_NANOSECOND_MS, 5 * MINUTE_MS],
    defaultMs: 500,
  });
  const allowTtlMs = duration(given, {
    name: 'allowTTL',
    unitMs: SECOND_MS,
    range: [SECOND_MS, 30 * MINUTE_MS],
    defaultMs: 5 * MINUTE_MS,
  });
  const denyTtlMs = duration(given, {
    name: 'denyTTL',
    unitMs: SECOND_MS,
    range: [SECOND_MS, 30 * MINUTE_MS],
    defaultMs: 30 * SECOND_MS,
  });
  const file = textOf(memberOf(given, 'kubeConfigFile') ?? '');
  if (file === undefined) throw wrongMember(given, 'kubeConfigFile', 'string');
  const defaultAllow = memberOf(given, 'defaultAllow') ?? false;
  if (typeof defaultAllow !== 'boolean') throw wrongMember(given, 'defaultAllow', 'bool');
  const server = clientConfigOf(file === '' ? NOTHING : loadKubeconfig(file));
  return { retryBackoffMs, allowTtlMs, denyTtlMs, defaultAllow, server };
}

const NOTHING = { clusters: new Map(), users: new Map(), contexts: new Map(), currentContext: '' };

interface DurationSetting {
  readonly name: string;
  readonly unitMs: number;
  readonly range: readonly [number, number];
  readonly defaultMs: number;
}

/** -1 switches it off, 0 means the default. */
function duration(
  given: Readonly<Record<string, unknown>>,
  { name, unitMs, range: [least, most], defaultMs }: DurationSetting,
): number {
  const value = memberOf(given, name) ?? 0;
  if (typeof value !== 'number' || !Number.isInteger(value)) throw wrongMember(given, name, 'time.Duration');
  if (value === -1) return 0;
  if (value === 0) return defaultMs;
  const ms = value * unitMs;
  if (ms >= least && ms <= most) return ms;
  const [from, to, got] = [least, most, ms].map((each) => formatDurationMs(each));
  throw new ConfigError(`valid value is between ${from} and ${to}, got ${got}`);
}

/** Numbers and the like stand for their text, as in all YAML here. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

const wrongMember = (given: Readonly<Record<string, unknown>>, name: string, type: string): ConfigError =>
  wrongType(memberOf(given, name), `imagePolicyWebhookConfig.imagePolicy.${name}`, type);

const wrongType = (value: unknown, path: string, type: string): ConfigError =>
  new ConfigError(cannotUnmarshal(value, `Go struct field ${path} of type ${type}`));
