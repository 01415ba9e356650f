// What a webhook's answer comes to: what is noted and warned of, and then a failure, a refusal or a patch. A long answer is
// read on a worker thread, and what comes back of it is what is used.
import { offload, task, type WorkerPool, workersForBytes } from '../../lib/async/worker-pool.js';
import { bufferOf } from '../../lib/values/buffer-of.js';
import { jsonText } from '../../lib/json/stringify.js';
import { runSync, runCooperatively, type StepGenerator } from '../../lib/scheduling/yield.js';
import type { RestAnswer } from '../../machinery/rest-call.js';
import type { StatusError } from '../../machinery/status.js';
import { isQualifiedName } from '../../machinery/validation/names.js';
import { deserializeStatus, type SerializedStatus, serializeStatus } from '../../registry/serialized-status.js';
import { DecodeError } from '../../schema/json/decode.js';
import { operationsIn, patchOf } from './apply-patch.js';
import { CallFailure, denialOf, UNAVAILABLE } from './refusals.js';
import { type HookAnswer, InvalidAnswer, readAnswer, type ReviewVersion } from './review.js';
import type { ParsedPatch } from './parsed-patch.js';

/** The part of the call that the response is checked against. */
export interface CalledHook {
  /** The hook's name. */
  readonly hook: string;
  readonly version: ReviewVersion;
  readonly uid: string;
  readonly mutating: boolean;
}

export interface ReviewResponse {
  /** For the audit log. */
  readonly notes: readonly (readonly [key: string, value: string])[];
  readonly warnings: readonly string[];
  /** The error of the response, whatever else it says: a CallFailure, or the client's error. */
  readonly failure?: Failure;
  readonly denial?: StatusError;
  /** Absent where nothing is to be changed. */
  readonly patch?: ParsedPatch;
}

interface Failure {
  readonly why: string;
  readonly code: number;
}

export async function parseReviewResponse(
  workers: WorkerPool | undefined,
  call: CalledHook,
  answered: RestAnswer,
): Promise<ReviewResponse> {
  return offload(
    workersForBytes(workers, answered.body.length),
    (pool) => parseOnWorker(pool, call, answered),
    () => runCooperatively(parseSteps(call, answered)),
  );
}

function* parseSteps(call: CalledHook, answered: RestAnswer): StepGenerator<ReviewResponse> {
  const { hook, version, uid, mutating } = call;
  let answer: HookAnswer;
  try {
    answer = readAnswer(version, uid, mutating, answered);
  } catch (error) {
    return { notes: [], warnings: [], failure: unreadable(error) };
  }
  const said = { notes: yield* notesOf(hook, answer.auditAnnotations), warnings: shownWarnings(answer.warnings) };
  if (!answer.allowed) return { ...said, denial: denialOf(hook, answer.status) };
  try {
    const operations = patchOf(hook, answer);
    if (operations.length === 0) return said;
    return { ...said, patch: { json: answer.patch, operations: () => operations, text: () => jsonText(operations) } };
  } catch (error) {
    if (!(error instanceof CallFailure)) throw error;
    return { ...said, failure: { why: error.why, code: error.code } };
  }
}

function unreadable(error: unknown): Failure {
  if (error instanceof DecodeError) return { why: `failed to call webhook: ${error.message}`, code: UNAVAILABLE };
  if (!(error instanceof InvalidAnswer)) throw error;
  return { why: `received invalid webhook response: ${error.message}`, code: UNAVAILABLE };
}

/** Entries between two yields to the event loop. */
const NOTES_A_STEP = 256;
const MAX_NOTES = 10_000;
const MAX_NOTE_CHARACTERS = 1024 * 1024;

function* notesOf(hook: string, annotations: HookAnswer['auditAnnotations']): StepGenerator<ReviewResponse['notes']> {
  const notes: (readonly [string, string])[] = [];
  let characters = 0;
  for (const [index, [key, value]] of Object.entries(annotations).entries()) {
    if (index % NOTES_A_STEP === NOTES_A_STEP - 1) yield;
    const whole = `${hook}/${key}`;
    if (key.includes('/') || isQualifiedName(whole).length > 0) continue;
    characters += key.length + value.length;
    if (notes.length >= MAX_NOTES || characters > MAX_NOTE_CHARACTERS) break;
    notes.push([whole, value]);
  }
  return notes;
}

/** Headers have room for a few thousand characters, and for a few hundred of each warning where there are more. */
const MAX_WARNING_CHARACTERS = 64 * 1024;
const MAX_WARNING_LENGTH = 16 * 1024;
const SHORTENED_WARNING = 256;

/** Those that have a chance to be shown. */
function shownWarnings(warnings: readonly string[]): readonly string[] {
  const shown = new Set<string>();
  let characters = 0;
  for (const text of warnings) {
    if (characters > MAX_WARNING_CHARACTERS) break;
    const some = text.slice(0, MAX_WARNING_LENGTH);
    if (!shown.has(some)) characters += Math.min(some.length, SHORTENED_WARNING);
    shown.add(some);
  }
  return [...shown];
}

interface ResponseWork extends CalledHook, Omit<RestAnswer, 'body'> {
  readonly body: Uint8Array;
}

interface SerializedResponse extends Pick<ReviewResponse, 'notes' | 'warnings' | 'failure'> {
  readonly denial?: SerializedStatus;
  /** Said by somebody else's server. */
  readonly resourceVersion?: string;
  readonly patch?: Uint8Array;
  readonly patchText?: Uint8Array;
}

export const PARSE_RESPONSE = task<ResponseWork, SerializedResponse>('take answer');

async function parseOnWorker(workers: WorkerPool, call: CalledHook, answered: RestAnswer): Promise<ReviewResponse> {
  const { denial, resourceVersion, patch, patchText, ...said } = await workers.run(PARSE_RESPONSE, {
    ...call,
    ...answered,
  });
  if (denial !== undefined) {
    const refusal = deserializeStatus(denial);
    refusal.resourceVersion = resourceVersion ?? '';
    return { ...said, denial: refusal };
  }
  if (patch === undefined || patchText === undefined) return said;
  const json = bufferOf(patch);
  return { ...said, patch: { json, operations: () => operationsIn(json), text: () => bufferOf(patchText).toString() } };
}

/** The worker's side. */
export function runParseResponse({ status, contentType, body, ...call }: ResponseWork): SerializedResponse {
  const { denial, patch, ...said } = runSync(parseSteps(call, { status, contentType, body: bufferOf(body) }));
  if (denial !== undefined) {
    return { ...said, denial: serializeStatus(denial), resourceVersion: denial.resourceVersion };
  }
  if (patch === undefined) return said;
  return { ...said, patch: new Uint8Array(patch.json), patchText: new TextEncoder().encode(patch.text()) };
}
