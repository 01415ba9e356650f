// Asks one webhook about a request.
import type { WorkerPool } from '../../lib/async/worker-pool.js';
import { errorText } from '../../lib/text/error-text.js';
import type { CertificateNotes } from '../../machinery/certificate-notes.js';
import { restCall, RestCallError, type RestObserver } from '../../machinery/rest-call.js';
import { StatusError } from '../../machinery/status.js';
import type { Span, Trace } from '../../tracing/trace.js';
import type { AdmissionAttributes } from '../plugin.js';
import type { ResourceMatch } from '../matching/resource-match.js';
import type { SeenRequest } from '../matching/seen-request.js';
import type { HookClient, HookClients } from './hook-clients.js';
import type { Hook } from './hook-index.js';
import { CallFailure, Denial, dryRunUnsupported, UNAVAILABLE } from './refusals.js';
import { reviewBody, reviewVersion } from './review.js';
import { parseReviewResponse, type ReviewResponse } from './review-response.js';
import type { ParsedPatch } from './parsed-patch.js';

export interface CallParts {
  readonly clients: Pick<HookClients, 'of'>;
  readonly certificates: CertificateNotes;
  readonly newUid: () => string;
  readonly nowMs: () => number;
  readonly wait: (ms: number) => Promise<void>;
  /** Where long answers are read. */
  readonly workers?: WorkerPool;
  readonly observe?: RestObserver | undefined;
}

/** For a hook that was stored without one. */
const DEFAULT_TIMEOUT_SECONDS = 10;

/** Applies the patch of a hook that mutates; answers whether it was. */
export type ApplyPatch = (patch: ParsedPatch) => Promise<boolean>;

export interface HookCall {
  readonly hook: Hook;
  readonly request: SeenRequest;
  readonly matched: ResourceMatch;
  readonly apply?: ApplyPatch | undefined;
}

/** A hook is one that mutates where there is something to apply its answer. Throws CallFailure, Denial or StatusError. */
export async function callHook(parts: CallParts, { hook, request, matched, apply }: HookCall): Promise<void> {
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
    const answered = await send(parts, { hook, attributes, body, trace: span ?? attributes.context.trace });
    span?.event('Request completed');
    const answer = await parseReviewResponse(parts.workers, { hook: name, version, uid, mutating }, answered);
    note(answer, attributes);
    if (answer.failure !== undefined) throw new CallFailure(name, answer.failure.why, answer.failure.code);
    if (answer.denial !== undefined) throw new Denial(answer.denial);
    if (answer.patch !== undefined && (await apply?.(answer.patch))) span?.event('Patch applied');
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

function note({ notes, warnings }: ReviewResponse, attributes: AdmissionAttributes): void {
  for (const [key, value] of notes) attributes.annotate(key, value);
  for (const text of warnings) attributes.context.warn(text);
}

function checkSideEffects({ name, spec }: Hook): void {
  const { sideEffects } = spec;
  if (sideEffects === null || sideEffects === undefined) throw new CallFailure(name, 'Webhook SideEffects is nil', 400);
  if (sideEffects !== 'None' && sideEffects !== 'NoneOnDryRun') throw dryRunUnsupported(name);
}

interface ReviewToSend {
  readonly hook: Hook;
  readonly attributes: AdmissionAttributes;
  readonly body: string | Buffer;
  readonly trace: Trace | undefined;
}

async function send(
  { clients, certificates, nowMs, wait, observe }: CallParts,
  { hook: { name, spec }, attributes: { context, annotate }, body, trace }: ReviewToSend,
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
      observe,
      ...(context.waiting && { signal: context.waiting.signal }),
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
