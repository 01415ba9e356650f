// What a webhook's answer comes to: what is noted and warned of, and then a failure, a refusal or a patch. A long answer is
// read in another thread, and what comes back of it is what is used.
import { type Aside, asideOr, task } from '../../lib/aside.js';
import { bufferOf } from '../../lib/buffer-of.js';
import { jsonText } from '../../lib/json-text.js';
import { atOnce, inTurns, type Steps } from '../../lib/turns.js';
import type { RestAnswer } from '../../machinery/rest-call.js';
import type { StatusError } from '../../machinery/status.js';
import { isQualifiedName } from '../../machinery/validation/names.js';
import { refusalOf, type Refused, refusedBy } from '../../registry/refused-aside.js';
import { DecodeError } from '../../schema/json/decode.js';
import { operationsIn, patchOf } from './apply-patch.js';
import { CallFailure, denialOf, UNAVAILABLE } from './refusals.js';
import { type HookAnswer, InvalidAnswer, readAnswer, type ReviewVersion } from './review.js';

/** What was asked, as far as its answer has to be judged by it. */
export interface AskedHook {
  /** The hook's name. */
  readonly hook: string;
  readonly version: ReviewVersion;
  readonly uid: string;
  readonly mutating: boolean;
}

export interface TakenAnswer {
  /** For the audit log. */
  readonly notes: readonly (readonly [key: string, value: string])[];
  readonly warnings: readonly string[];
  /** What the answer fails with, whatever else it says: a CallFailure, or what the client is told. */
  readonly failure?: Failure;
  readonly denial?: StatusError;
  /** Absent where nothing is to be changed. */
  readonly patch?: TakenPatch;
}

interface Failure {
  readonly why: string;
  readonly code: number;
}

export interface TakenPatch {
  /** As it came. */
  readonly json: Buffer;
  readonly operations: () => readonly unknown[];
  /** The operations, printed for the record. */
  readonly text: () => string;
}

export async function takeAnswer(
  aside: Aside | undefined,
  asked: AskedHook,
  answered: RestAnswer,
): Promise<TakenAnswer> {
  const here = (): Promise<TakenAnswer> => inTurns(takeSteps(asked, answered));
  if (aside === undefined || answered.body.length < aside.fromBytes) return here();
  return asideOr(takeThere(aside, asked, answered), here);
}

function* takeSteps(asked: AskedHook, answered: RestAnswer): Steps<TakenAnswer> {
  const { hook, version, uid, mutating } = asked;
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

/** So many are looked at before others may have a turn. */
const NOTES_A_STEP = 256;
const MOST_NOTES = 10_000;
const MOST_NOTE_LETTERS = 1024 * 1024;

function* notesOf(hook: string, annotations: HookAnswer['auditAnnotations']): Steps<TakenAnswer['notes']> {
  const notes: (readonly [string, string])[] = [];
  let letters = 0;
  for (const [index, [key, value]] of Object.entries(annotations).entries()) {
    if (index % NOTES_A_STEP === NOTES_A_STEP - 1) yield;
    const whole = `${hook}/${key}`;
    if (key.includes('/') || isQualifiedName(whole).length > 0) continue;
    letters += key.length + value.length;
    if (notes.length >= MOST_NOTES || letters > MOST_NOTE_LETTERS) break;
    notes.push([whole, value]);
  }
  return notes;
}

/** Headers have room for a few thousand letters, and for a few hundred of each warning where there are more. */
const MOST_WARNING_LETTERS = 64 * 1024;
const LONGEST_WARNING = 16 * 1024;
const SHORTENED_WARNING = 256;

/** Those that have a chance to be shown. */
function shownWarnings(warnings: readonly string[]): readonly string[] {
  const shown = new Set<string>();
  let letters = 0;
  for (const text of warnings) {
    if (letters > MOST_WARNING_LETTERS) break;
    const some = text.slice(0, LONGEST_WARNING);
    if (!shown.has(some)) letters += Math.min(some.length, SHORTENED_WARNING);
    shown.add(some);
  }
  return [...shown];
}

interface AnswerWork extends AskedHook, Omit<RestAnswer, 'body'> {
  readonly body: Uint8Array;
}

interface AnswerTaken extends Pick<TakenAnswer, 'notes' | 'warnings' | 'failure'> {
  readonly denial?: Refused;
  /** Said by somebody else's server. */
  readonly resourceVersion?: string;
  readonly patch?: Uint8Array;
  readonly patchText?: Uint8Array;
}

export const TAKE_ANSWER = task<AnswerWork, AnswerTaken>('take answer');

async function takeThere(aside: Aside, asked: AskedHook, answered: RestAnswer): Promise<TakenAnswer> {
  const { denial, resourceVersion, patch, patchText, ...said } = await aside.do(TAKE_ANSWER, { ...asked, ...answered });
  if (denial !== undefined) {
    const refusal = refusalOf(denial);
    refusal.resourceVersion = resourceVersion ?? '';
    return { ...said, denial: refusal };
  }
  if (patch === undefined || patchText === undefined) return said;
  const json = bufferOf(patch);
  return { ...said, patch: { json, operations: () => operationsIn(json), text: () => bufferOf(patchText).toString() } };
}

/** The other side. */
export function takeAnswerHere({ status, contentType, body, ...asked }: AnswerWork): AnswerTaken {
  const { denial, patch, ...said } = atOnce(takeSteps(asked, { status, contentType, body: bufferOf(body) }));
  if (denial !== undefined) {
    return { ...said, denial: refusedBy(denial), resourceVersion: denial.resourceVersion };
  }
  if (patch === undefined) return said;
  return { ...said, patch: new Uint8Array(patch.json), patchText: new TextEncoder().encode(patch.text()) };
}
