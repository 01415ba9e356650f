// What is counted of one call of a webhook, and whether the request goes on after it.
import type { Logger } from '../../lib/telemetry/log.js';
import { isCancelled } from '../../lib/async/cancellation.js';
import { givenUp, tooLate } from '../../registry/deadline.js';
import type { AdmissionAttributes } from '../plugin.js';
import type { Hook } from './hook-index.js';
import type { HookType } from './match-hook.js';
import type { HookCall, HookRecorder } from './metrics.js';
import { CallFailure, Denial } from './refusals.js';

/** Timers may go off so much before their time: a request is over then, too. */
const EARLY_TIMER_MS = 5;

export interface OutcomeParts {
  readonly recorder?: HookRecorder;
  readonly log: Logger;
  readonly nowMs: () => number;
}

export interface GuardedCall<T> {
  readonly type: HookType;
  readonly hook: Hook;
  readonly attributes: AdmissionAttributes;
  readonly work: () => Promise<T>;
  readonly failedOpen: () => void;
}

/**
 * Runs a call and counts it. Answers its result, or undefined where the call failed and the hook's failure policy lets
 * that pass: then `failedOpen` is called. Otherwise throws the error for the client.
 */
export async function settleCall<T>(
  parts: OutcomeParts,
  { type, hook, attributes, work, failedOpen }: GuardedCall<T>,
): Promise<T | undefined> {
  const { recorder, log } = parts;
  const call: HookCall = { name: hook.name, type, operation: attributes.operation };
  const startedMs = performance.now();
  const called = (code: number, rejected: boolean): void => {
    const ms = performance.now() - startedMs;
    attributes.context.spent?.(type === 'admit' ? 'mutating-webhook' : 'validating-webhook', ms);
    recorder?.called(call, ms / 1000, code, rejected);
  };
  try {
    const result = await work();
    called(200, false);
    return result;
  } catch (error) {
    if (error instanceof CallFailure && hook.spec.failurePolicy === 'Ignore') {
      called(error.code, false);
      if (!error.canceled) {
        recorder?.failedOpen(call);
        failedOpen();
      }
      log.warning(`${error.message}: the request goes on without it`);
      checkWaited(parts, attributes);
      return undefined;
    }
    if (error instanceof CallFailure) {
      if (!error.canceled) recorder?.rejected(call, 'calling_webhook_error', error.code);
      called(error.code, true);
      log.warning(error.message);
      checkWaited(parts, attributes);
      throw error.status;
    }
    if (error instanceof Denial) {
      recorder?.rejected(call, 'no_error', error.status.code);
      called(error.status.code, true);
      throw error.status;
    }
    recorder?.rejected(call, 'apiserver_internal_error', 0);
    called(0, true);
    throw error;
  }
}

/** A call that ended because its request did says no more than that. */
function checkWaited({ nowMs }: OutcomeParts, { context }: AdmissionAttributes): void {
  const { deadlineMs = Infinity, waiting } = context;
  if (nowMs() + EARLY_TIMER_MS >= deadlineMs) throw tooLate();
  if (isCancelled(waiting)) throw givenUp(waiting);
}
