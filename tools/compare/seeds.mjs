// The objects that recordings are about. A recording changes one thing of an object in each step, so that what most steps
// agree on is the object itself.
import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';

/** One for each recorded case: where its object is created and updated, and what must be there before. */
export function seedsOf(shared) {
  const updates = new Map(casesOf(shared, 'validate-update').map((recorded) => [recorded.name, recorded]));
  return casesOf(shared, 'validate-create').map(({ name, steps, nsLabels, cleanup }) => {
    const measured = steps.filter(({ setup }) => !setup);
    const update = updates.get(name);
    const puts = update?.steps.filter(({ method }) => method === 'PUT') ?? [];
    return {
      name,
      labels: nsLabels,
      path: withoutQuery(measured[0].path),
      object: agreed(measured.map(({ body }) => body)),
      before: steps.filter(({ setup }) => setup),
      ...(puts.length > 0 && {
        update: {
          path: withoutQuery(puts[0].path),
          object: agreed(puts.map(({ body }) => body)),
          before: update.steps.filter(({ setup }) => setup),
        },
      }),
      after: [...(update?.cleanup ?? []), ...(cleanup ?? [])],
    };
  });
}

function casesOf(shared, area) {
  const gzip = fs.readFileSync(path.join(shared, 'golden', `${area}.jsonl.gz`));
  const lines = zlib.gunzipSync(gzip).toString().split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line));
}

const withoutQuery = (target) => target.split('?')[0];

/** What most of these values have, member by member. */
function agreed(values) {
  const maps = values.filter(isMap);
  if (maps.length > values.length / 2) {
    const members = new Set(maps.flatMap((map) => Object.keys(map)));
    const object = {};
    for (const member of members) {
      const known = maps.map((map) => map[member]).filter((value) => value !== undefined);
      if (known.length > maps.length / 2) object[member] = agreed(known);
    }
    return object;
  }
  const lists = values.filter(Array.isArray);
  if (lists.length > values.length / 2) {
    const length = mostFrequent(lists.map((list) => list.length));
    const alike = lists.filter((list) => list.length === length);
    return Array.from({ length }, (_, i) => agreed(alike.map((list) => list[i])));
  }
  return JSON.parse(mostFrequent(values.map((value) => JSON.stringify(value ?? null))));
}

export const isMap = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

function mostFrequent(values) {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a)[0][0];
}
