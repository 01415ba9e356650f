// The errors of webhooks as clients see them.
import { goQuote } from '../../lib/go/quote.js';
import { badRequest, internalError, StatusError } from '../../machinery/status.js';
import { statusErrorOf } from '../../machinery/rest-status.js';
import type { Status } from '../../schema/generated/meta.v1.js';

/** The code of a failure that is the webhook's, as metrics count it. */
export const UNAVAILABLE = 503;

/** A webhook could not be called, or its response is invalid: its failure policy decides the outcome. */
export class CallFailure extends Error {
  constructor(
    hook: string,
    readonly why: string,
    /** As metrics count it. */
    readonly code: number,
    /** The client went away meanwhile. */
    readonly canceled = false,
  ) {
    super(`failed calling webhook ${goQuote(hook)}: ${why}`);
  }

  get status(): StatusError {
    return internalError(this.message);
  }
}

/** A webhook said no. */
export class Denial extends Error {
  constructor(readonly status: StatusError) {
    super(status.message);
  }
}

const BAD_REQUEST = 400;

/** What a webhook answers with its no; a code below 400 would not be one. */
export function denialOf(hook: string, status: Status | undefined): StatusError {
  const said = statusErrorOf({ ...status });
  const denied = `admission webhook ${goQuote(hook)} denied the request`;
  const why = said.message || said.reason;
  const message = why === '' ? `${denied} without explanation` : `${denied}: ${why}`;
  const code = said.code < BAD_REQUEST ? BAD_REQUEST : said.code;
  const refusal = new StatusError(code, said.reason, message, said.details);
  refusal.resourceVersion = status?.metadata?.resourceVersion ?? '';
  return refusal;
}

export const dryRunUnsupported = (hook: string): StatusError =>
  badRequest(`admission webhook ${goQuote(hook)} does not support dry run`);
