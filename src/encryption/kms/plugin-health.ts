// The health of KMS plugins: checked by health checks, and for KMS v2 also by a timer.
import type { Logger } from '../../lib/telemetry/log.js';
import type { Clock } from '../../lib/async/clock.js';
import { errorText } from '../../lib/text/error-text.js';
import type { KmsSettings } from '../configuration.js';
import type { KmsPluginV1 } from './kms-plugin-v1.js';
import type { WriteKeySource } from './write-key.js';

export interface WatchedService {
  readonly settings: KmsSettings;
  /** What is wrong, if anything. */
  check(): Promise<string | undefined>;
  close(): void;
}

const POLL_MS = 60_000;
/** Sooner while it is not well, so that the write key does not expire over a short outage. */
const POLL_UNWELL_MS = 10_000;

export interface PolledService extends WatchedService {
  /** Checks for the first time and then polls. */
  begin(): Promise<void>;
}

export function polledService(options: {
  readonly settings: KmsSettings;
  readonly writeKey: WriteKeySource;
  readonly clock: Clock;
  readonly log: Logger;
  readonly close: () => void;
}): PolledService {
  const { settings, writeKey, clock, log } = options;
  let cancel = (): void => undefined;
  let closed = false;
  const check = async (): Promise<void> => {
    const wrong = await writeKey.check();
    if (wrong !== undefined) log.v(2)?.warning(`KMS plugin ${settings.name} is not healthy: ${wrong}`);
    if (!closed) cancel = clock.after(wrong === undefined ? POLL_MS : POLL_UNWELL_MS, () => void check());
  };
  return {
    settings,
    begin: check,
    check: () => writeKey.check(),
    close() {
      closed = true;
      cancel();
      options.close();
    },
  };
}

const PING = Buffer.from('ping');
const GOOD_ANSWER_MS = 20_000;
const BAD_ANSWER_MS = 3_000;

/** KMS v1 has no status: something is wrapped and unwrapped. */
export function pingedService(options: {
  readonly settings: KmsSettings;
  readonly service: KmsPluginV1;
  readonly clock: Clock;
  readonly close: () => void;
}): WatchedService {
  const { settings, service, clock, close } = options;
  let last: { readonly error: string | undefined; readonly atMs: number } | undefined;
  let checking: Promise<string | undefined> | undefined;
  const check = async (): Promise<string | undefined> => {
    let section = 'encrypt';
    try {
      const wrapped = await service.encrypt(PING);
      section = 'decrypt';
      await service.decrypt(wrapped);
      last = { error: undefined, atMs: clock.now() };
      return undefined;
    } catch (error) {
      last = { error: errorText(error), atMs: clock.now() };
      const about = `failed to perform ${section} section of the healthz check for KMS Provider ${settings.name}`;
      return `${about}, error: ${errorText(error)}`;
    }
  };
  return {
    settings,
    close,
    check() {
      const goodForMs = last?.error === undefined ? GOOD_ANSWER_MS : BAD_ANSWER_MS;
      if (last !== undefined && clock.now() - last.atMs < goodForMs) return Promise.resolve(last.error);
      checking ??= check().finally(() => (checking = undefined));
      return checking;
    },
  };
}
