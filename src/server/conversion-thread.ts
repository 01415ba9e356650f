// The other end of conversion-worker.ts: a thread that converts bytes.
import { parentPort } from 'node:worker_threads';
import { type Conversion, convertBytes } from '../rest/convert-bytes.js';
import { errorText } from '../lib/error-text.js';
import type { ThreadAnswer } from './conversion-worker.js';

const UP: ThreadAnswer = { id: 0 };
parentPort?.postMessage(UP);
parentPort?.on('message', ({ id, conversion }: { id: number; conversion: Conversion }) => {
  const answer = answerTo(id, conversion);
  parentPort?.postMessage(answer, transferred(answer));
});

function answerTo(id: number, conversion: Conversion): ThreadAnswer {
  try {
    return { id, converted: convertBytes(conversion) };
  } catch (error) {
    return { id, failed: errorText(error) };
  }
}

/** Memory that holds nothing but the answer goes over without a copy. */
function transferred(answer: ThreadAnswer): ArrayBuffer[] {
  const { converted } = answer;
  if (converted === undefined || 'unreadable' in converted) return [];
  const bytes = 'printed' in converted ? converted.printed : converted.json;
  return bytes !== undefined && bytes.buffer.byteLength === bytes.byteLength ? [bytes.buffer as ArrayBuffer] : [];
}
