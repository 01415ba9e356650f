import type { List, Version } from './history.js';
import type { Random } from './random.js';
import { type ConfigMap, type Session, versionOf } from './session.js';

const MATCHES: readonly List['match'][] = ['newest', 'newest', 'any', 'notOlderThan', 'exact'];
const MAX_PAGE = 5;

/** Lists all objects until the session ends, at several resourceVersions, whole or by pages. */
export async function runLister(session: Session, random: Random): Promise<void> {
  let known = session.recorder.from;
  while (!session.ending.aborted) {
    const match = random.pick(MATCHES);
    const wanted = match === 'notOlderThan' || match === 'exact' ? known : 0;
    const limit = random.next() < 0.5 ? random.between(1, MAX_PAGE) : 0;
    const list = await listOnce(session, random, { match, wanted, limit });
    known = Math.max(known, list?.pages[0]?.revision ?? 0);
  }
}

/** Undefined when a page was refused or had no answer. */
export async function listOnce(
  session: Session,
  random: Random,
  { match, wanted, limit }: { match: List['match']; wanted: number; limit: number },
): Promise<List | undefined> {
  const { recorder } = session;
  const beganAt = recorder.tick();
  const pages: { revision: number; items: Version[] }[] = [];
  for (let next: string | undefined = ''; next !== undefined;) {
    const query: URLSearchParams = next === '' ? firstQuery(match, wanted) : new URLSearchParams({ continue: next });
    if (limit > 0) query.set('limit', String(limit));
    const answer = await session.call(random, { method: 'GET', path: `${session.path}?${query.toString()}` });
    recorder.called();
    if (answer?.status !== 200) return undefined;
    const { metadata, items } = JSON.parse(answer.body) as ConfigMapList;
    pages.push({ revision: Number(metadata.resourceVersion), items: items.map(versionOf) });
    next = metadata.continue === '' ? undefined : metadata.continue;
  }
  const list: List = { match, wanted, beganAt, endedAt: recorder.tick(), pages };
  recorder.lists.push(list);
  return list;
}

interface ConfigMapList {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly ConfigMap[];
}

function firstQuery(match: List['match'], wanted: number): URLSearchParams {
  switch (match) {
    case 'newest':
      return new URLSearchParams();
    case 'any':
      return new URLSearchParams({ resourceVersion: '0' });
    case 'notOlderThan':
      return new URLSearchParams({ resourceVersion: String(wanted), resourceVersionMatch: 'NotOlderThan' });
    case 'exact':
      return new URLSearchParams({ resourceVersion: String(wanted), resourceVersionMatch: 'Exact' });
  }
}
