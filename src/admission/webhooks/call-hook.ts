// Asks one webhook about a request.
import { errorText } from '../../lib/error-text.js';
import { Turns } from '../../lib/turns.js';
import { isQualifiedName } from '../../machinery/validation/names.js';
import type { CertificateNotes } from '../../machinery/certificate-notes.js';
import { restCall, RestCallError } from '../../machinery/rest-call.js';
import { StatusError } from '../../machinery/status.js';
import { DecodeError } from '../../schema/json/decode.js';
import type { Span, Trace } from '../../tracing/trace.js';
import type { AdmissionAttributes } from '../plugin.js';
import type { ResourceMatch } from '../matching/match.js';
import type { SeenRequest } from '../matching/seen-request.js';
import type { HookClient, HookClients } from './hook-clients.js';
import type { Hook } from './hook-index.js';
import { CallFailure, denialOf, dryRunUnsupported } from './refusals.js';
import { type HookAnswer, InvalidAnswer, readAnswer, reviewBody, reviewVersion } from './review.js';

export interface CallParts {
  readonly clients: Pick<HookClients, 'of'>;
  readonly certificates: CertificateNotes;
  readonly newUid: () => string;
  readonly nowMs: () => number;
  readonly wait: (ms: number) => Promise<void>;
}

const UNAVAILABLE = 503;
/** For a hook that was stored without one. */
const DEFAULT_TIMEOUT_SECONDS = 10;

/** Applies the answer of a hook that mutates; answers whether it had a patch. */
export type ApplyAnswer = (answer: HookAnswer) => Promise<boolean>;

/** A hook is one that mutates where there is something to apply its answer. Throws CallFailure, Denial or StatusError. */
export async function callHook(
  parts: CallParts,
  hook: Hook,
  request: SeenRequest,
  matched: ResourceMatch,
  apply?: ApplyAnswer,
): Promise<void> {
  const { attributes } = request;
  const { name, spec } = hook;
  if (attributes.context.dryRun) checkSideEffects(hook);
  const version = reviewVersion(spec.admissionReviewVersions);
  if (version === undefined) {
    const why = 'webhook does not accept known AdmissionReview versions (v1, v1beta1)';
    throw new CallFailure(name, `could not create admission objects: ${why}`, 400);
  }
  const uid = parts.newUid();
  const body = await reviewBody(version, uid, request, matched);
  const mutating = apply !== undefined;
  const span = recordCall(hook, attributes, uid, mutating);
  try {
    const answered = await send(parts, hook, attributes, body, span ?? attributes.context.trace);
    span?.event('Request completed');
    const answer = inWords(name, () => readAnswer(version, uid, mutating, answered));
    await takeAnswer(name, answer, attributes);
    if (await apply?.(answer)) span?.event('Patch applied');
  } finally {
    span?.end();
  }
}

function recordCall(hook: Hook, attributes: AdmissionAttributes, uid: string, mutating: boolean): Span | undefined {
  const { group, version, resource } = attributes.resource;
  return attributes.context.trace?.span?.child(mutating ? 'Call mutating webhook' : 'Call validating webhook', {
    configuration: hook.configuration,
    webhook: hook.name,
    resource: `${group}/${version}, Resource=${resource}`,
    subresource: attributes.subresource,
    operation: attributes.operation,
    UID: uid,
  });
}

/** So many annotations are looked at before others may have a turn. */
const ANNOTATIONS_A_STEP = 256;

async function takeAnswer(name: string, answer: HookAnswer, attributes: AdmissionAttributes): Promise<void> {
  const turns = new Turns();
  for (const [index, [key, value]] of Object.entries(answer.auditAnnotations).entries()) {
    if (index % ANNOTATIONS_A_STEP === ANNOTATIONS_A_STEP - 1) await turns.breathe();
    const whole = `${name}/${key}`;
    if (!key.includes('/') && isQualifiedName(whole).length === 0) attributes.annotate(whole, value);
  }
  for (const text of answer.warnings) attributes.context.warn(text);
  if (!answer.allowed) throw denialOf(name, answer.status);
}

function checkSideEffects({ name, spec }: Hook): void {
  const { sideEffects } = spec;
  if (sideEffects === null || sideEffects === undefined) throw new CallFailure(name, 'Webhook SideEffects is nil', 400);
  if (sideEffects !== 'None' && sideEffects !== 'NoneOnDryRun') throw dryRunUnsupported(name);
}

async function send(
  { clients, certificates, nowMs, wait }: CallParts,
  { name, spec }: Hook,
  { context, annotate }: AdmissionAttributes,
  body: string | Buffer,
  trace: Trace | undefined,
): Promise<Awaited<ReturnType<typeof restCall>>> {
  const { client, url, address, headers } = clientOf(clients, name, spec.clientConfig);
  const { timeoutSeconds = DEFAULT_TIMEOUT_SECONDS } = spec;
  const timeoutMs = Math.max(0, Math.min((context.deadlineMs ?? Infinity) - nowMs(), timeoutSeconds * 1000));
  const query = `?timeout=${Math.max(1, Math.ceil(timeoutMs / 1000))}s`;
  const [shown, target] = [url + query, address.pathname + query];
  try {
    const certificateFault = certificates(annotate);
    return await restCall({
      client,
      url: address,
      target,
      shown,
      headers,
      body,
      timeoutMs,
      trace,
      certificateFault,
      wait,
    });
  } catch (error) {
    if (error instanceof StatusError)
      throw new CallFailure(name, `failed to call webhook: ${error.message}`, error.code);
    if (!(error instanceof RestCallError)) throw error;
    throw new CallFailure(name, `failed to call webhook: ${error.message}`, UNAVAILABLE, error.canceled);
  }
}

function clientOf(clients: CallParts['clients'], name: string, config: Hook['spec']['clientConfig']): HookClient {
  try {
    return clients.of(config);
  } catch (error) {
    throw new CallFailure(name, `could not get REST client: ${errorText(error)}`, 500);
  }
}

function inWords(name: string, read: () => HookAnswer): HookAnswer {
  try {
    return read();
  } catch (error) {
    if (error instanceof DecodeError)
      throw new CallFailure(name, `failed to call webhook: ${error.message}`, UNAVAILABLE);
    if (!(error instanceof InvalidAnswer)) throw error;
    throw new CallFailure(name, `received invalid webhook response: ${error.message}`, UNAVAILABLE);
  }
}
