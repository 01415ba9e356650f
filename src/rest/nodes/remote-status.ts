// How a command in a container ended, as its kubelet reports it, and as clients receive it.
import { goQuote } from '../../lib/go/quote.js';
import { isPlainObject } from '../../lib/values/plain-object.js';
import { internalError, type StatusError } from '../../machinery/status.js';
import { parseExactJson } from '../../schema/json/parse.js';

/** A Status without kind and version, as it goes over a stream. */
export type RemoteStatus = Readonly<Record<string, unknown>>;

const SUCCESS: RemoteStatus = { metadata: {}, status: 'Success' };

/** `message`: all that the kubelet sent on its error stream. */
export function statusOfEnd(message: string, speaksJson: boolean): RemoteStatus {
  if (message === '') return SUCCESS;
  if (!speaksJson) return failure(`error executing remote command: ${message}`);
  let status: unknown;
  try {
    status = parseExactJson(message).value;
  } catch (error) {
    return failure(`error stream protocol error: ${(error as Error).message} in ${goQuote(message)}`);
  }
  if (!isPlainObject(status)) return failure(`error stream protocol error: no object in ${goQuote(message)}`);
  if (status['status'] === 'Success') return SUCCESS;
  if (status['status'] !== 'Failure') return failure('error stream protocol error: unknown error');
  if (status['reason'] !== NON_ZERO) return failure(textOf(status['message']));
  return statusOfExit(status['details']);
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const NON_ZERO = 'NonZeroExitCode';
const EXIT_CODE = 'ExitCode';
const MAX_EXIT_CODE = 255;

function statusOfExit(details: unknown): RemoteStatus {
  if (!isPlainObject(details)) return failure('error stream protocol error: details must be set');
  const causes: readonly unknown[] = Array.isArray(details['causes']) ? details['causes'] : [];
  const cause = causes.filter(isPlainObject).find(({ reason }) => reason === EXIT_CODE);
  if (cause === undefined) return failure(`error stream protocol error: no ${EXIT_CODE} cause given`);
  const text = textOf(cause['message']);
  if (!/^\d{1,3}$/.test(text) || Number(text) > MAX_EXIT_CODE) {
    return failure(`error stream protocol error: invalid exit code value ${goQuote(text)}`);
  }
  const code = Number(text);
  return {
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: command terminated with exit code ${code}`,
    reason: NON_ZERO,
    details: { causes: [{ reason: EXIT_CODE, message: String(code) }] },
  };
}

export const failure = (message: string): RemoteStatus => withoutKind(internalError(message));

function withoutKind(error: StatusError): RemoteStatus {
  const { kind: _kind, apiVersion: _version, ...rest } = error.status;
  return rest;
}

/** The answer of a kubelet that refuses the upgrade: a Status, or any text. */
export function statusOfRefusal(body: string): RemoteStatus {
  try {
    const answer: unknown = JSON.parse(body);
    if (isPlainObject(answer) && answer['kind'] === 'Status') {
      const { metadata = {}, status, message, reason, details, code } = answer;
      return { metadata, status, message, reason, details, code };
    }
  } catch {
    // Text, then.
  }
  return failure(`unable to upgrade connection: ${body.trim()}`);
}
