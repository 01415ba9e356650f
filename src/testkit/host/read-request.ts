// Bodies of control requests, read strictly: a misspelt field is a mistake that a test should hear of.
import { AUDIT_LEVELS, type AuditLevel, type SnapshotRequest, type StartRequest } from '../protocol/control.js';
import { ControlError } from './control-error.js';

export function readStartRequest(body: unknown): StartRequest {
  const { flags = [], auditLevel = 'Metadata' } = fieldsOf(body, ['flags', 'auditLevel']);
  if (!isTexts(flags)) throw new ControlError(400, 'flags must be an array of strings');
  if (!isAuditLevel(auditLevel)) throw new ControlError(400, `auditLevel must be one of ${AUDIT_LEVELS.join(', ')}`);
  return { flags, auditLevel };
}

export function readSnapshotRequest(body: unknown): SnapshotRequest {
  const { snapshot } = fieldsOf(body, ['snapshot']);
  if (snapshot === undefined) return {};
  if (typeof snapshot !== 'string') throw new ControlError(400, 'snapshot must be a string');
  return { snapshot };
}

/** `what`: how it is called where it is wrong. */
export function fieldsOf(
  body: unknown,
  known: readonly string[],
  what = 'the body',
): Readonly<Record<string, unknown>> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new ControlError(400, `${what} must be an object`);
  }
  const unknown = Object.keys(body).find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new ControlError(400, `${what}: unknown field ${JSON.stringify(unknown.slice(0, 100))}`);
  return body as Readonly<Record<string, unknown>>;
}

export const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');

const isAuditLevel = (value: unknown): value is AuditLevel => AUDIT_LEVELS.some((level) => level === value);
