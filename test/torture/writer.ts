import type { TestAnswer } from '../support/server.js';
import type { Outcome, Version, Write } from './history.js';
import type { Random } from './random.js';
import { type ConfigMap, type Session, versionOf } from './session.js';

/** As often as they stand here. */
const VERBS = [
  ['create', 'create', 'create', 'update', 'update', 'update', 'patch', 'patch', 'apply', 'apply'] as const,
  ['delete', 'delete', 'get', 'get', 'get'] as const,
].flat();
const MERGE = 'application/merge-patch+json';
const APPLY = 'application/apply-patch+yaml';
const MAX_REFUSAL_LENGTH = 200;

/** Writes and reads single objects until the session ends, some of them under the condition of a resourceVersion. */
export async function runWriter(
  session: Session,
  { name, keys, random }: { name: string; keys: readonly string[]; random: Random },
): Promise<void> {
  const known = new Map<string, Version>();
  for (let n = 0; !session.ending.aborted; n++) {
    const key = random.pick(keys);
    const verb = random.pick(VERBS);
    const isConditional = random.next() < 0.5;
    if (verb === 'get') {
      const version = await readOne(session, random, key);
      if (version === undefined) known.delete(key);
      else known.set(key, version);
      continue;
    }
    const expected = isConditional && verb !== 'create' && verb !== 'apply' ? known.get(key)?.revision : undefined;
    const value = verb === 'delete' ? '' : `${name}-${n}`;
    const { version, outcome } = await writeOne(session, random, { verb, key, value, expected });
    if (version !== undefined) known.set(key, version);
    else if (outcome !== 'ok' && expected !== undefined) known.delete(key);
  }
}

async function readOne(session: Session, random: Random, key: string): Promise<Version | undefined> {
  const { recorder } = session;
  const beganAt = recorder.tick();
  const answer = await session.call(random, { method: 'GET', path: `${session.path}/${key}` });
  recorder.called();
  if (answer?.status !== 200 && answer?.status !== 404) return undefined;
  const version = answer.status === 200 ? versionOf(JSON.parse(answer.body) as ConfigMap) : undefined;
  recorder.gets.push({ key, beganAt, endedAt: recorder.tick(), version });
  return version;
}

export async function writeOne(
  session: Session,
  random: Random,
  write: Pick<Write, 'verb' | 'key' | 'value' | 'expected'>,
): Promise<Write> {
  const { recorder } = session;
  const record: Write = { ...write, beganAt: recorder.tick(), endedAt: Infinity, outcome: 'unknown' };
  recorder.writes.push(record);
  const answer = await session.call(random, requestOf(session.path, write));
  recorder.called();
  record.endedAt = recorder.tick();
  record.outcome = outcomeOf(answer);
  if (answer === undefined) return record;
  if (record.outcome !== 'ok') {
    record.refusal = `${answer.status} ${refusalOf(answer.body)}`;
    return record;
  }
  const object = JSON.parse(answer.body) as ConfigMap & { details?: { uid?: string } };
  if (write.verb === 'delete') record.deletedUid = object.details?.uid ?? '';
  else record.version = versionOf(object);
  return record;
}

function requestOf(
  path: string,
  { verb, key, value, expected }: Pick<Write, 'verb' | 'key' | 'value' | 'expected'>,
): { method: string; path: string; body?: unknown; contentType?: string } {
  const resourceVersion = expected === undefined ? undefined : String(expected);
  const metadata = { name: key, ...(resourceVersion !== undefined && { resourceVersion }) };
  const whole = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { value, base: value } };
  switch (verb) {
    case 'create':
      return { method: 'POST', path, body: whole };
    case 'update':
      return { method: 'PUT', path: `${path}/${key}`, body: whole };
    case 'patch':
      return { method: 'PATCH', path: `${path}/${key}`, body: { metadata, data: { value } }, contentType: MERGE };
    case 'apply': {
      const body = { ...whole, data: { value } };
      return { method: 'PATCH', path: `${path}/${key}?fieldManager=torture&force=true`, body, contentType: APPLY };
    }
    case 'delete':
      return {
        method: 'DELETE',
        path: `${path}/${key}`,
        body: {
          apiVersion: 'v1',
          kind: 'DeleteOptions',
          ...(resourceVersion !== undefined && { preconditions: { resourceVersion } }),
        },
      };
  }
}

function refusalOf(body: string): string {
  try {
    return (JSON.parse(body) as { message?: string }).message ?? '';
  } catch {
    return body.slice(0, MAX_REFUSAL_LENGTH);
  }
}

/** After an error of the server a write may have happened. */
function outcomeOf(answer: TestAnswer | undefined): Outcome {
  if (answer === undefined || answer.status >= 500) return 'unknown';
  return answer.status < 300 ? 'ok' : 'failed';
}
