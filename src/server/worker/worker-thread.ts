// The other end of worker-pool.ts: the thread.
import { parentPort, workerData } from 'node:worker_threads';
import { isPlainObject } from '../../lib/values/plain-object.js';
import { Interrupted } from '../../cel/interrupted.js';
import { RunInline } from '../../lib/async/worker-pool.js';
import { errorText } from '../../lib/text/error-text.js';
import type { WorkerRequest, WorkerResponse } from './protocol.js';
import { WorkerContext } from './worker-context.js';
import type { WorkerSettings } from './worker-settings.js';

const world = new WorkerContext(workerData as WorkerSettings);
const UP: WorkerResponse = { id: 0 };
parentPort?.postMessage(UP);
parentPort?.on('message', (question: WorkerRequest) => {
  const answer = { ...answerTo(question), ...world.drainTimes() };
  parentPort?.postMessage(answer, transferred(answer.answer ?? {}));
});

function answerTo({ id, task, work, deadlineMs, needs }: WorkerRequest): WorkerResponse {
  if (deadlineMs !== undefined && Date.now() > deadlineMs) return { id, without: 'late' };
  if (needs !== undefined && !world.knows(needs)) return { id, without: 'unknown' };
  try {
    return { id, answer: world.do(task, work) };
  } catch (error) {
    if (error instanceof RunInline) return { id, without: 'here', failed: error.message };
    if (error instanceof Interrupted) return { id, without: 'late' };
    return { id, failed: errorText(error) };
  }
}

/** Memory that holds nothing but bytes of the answer goes over without a copy. */
function transferred(answer: object): ArrayBuffer[] {
  return Object.values(answer).flatMap((value: unknown) => {
    if (value instanceof Uint8Array) {
      return value.buffer.byteLength === value.byteLength ? [value.buffer as ArrayBuffer] : [];
    }
    return isPlainObject(value) ? transferred(value) : [];
  });
}
