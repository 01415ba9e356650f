// Random patches of an object: each a request that both servers must answer alike. The same seed makes the same patches.
import { isMap } from './seeds.mjs';

const KEYS = new Set(['name', 'containerPort', 'port', 'key', 'ip', 'type', 'mountPath', 'topologyKey', 'uid']);
const ODD = [null, '', 'other', 5, 0, -1, true, [], {}, ['x'], { a: 'b' }, [{ name: 'n' }], 'x'.repeat(70)];
const KINDS = {
  apply: 'application/apply-patch+yaml',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  json: 'application/json-patch+json',
};

/** Numbers of [0, 1) that look random. */
export function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state >>> 8) / 2 ** 24;
  };
}

/** `others`: the object with changes, from which patches take what they change. */
export class Patches {
  constructor(object, others, random) {
    this.object = object;
    this.others = others;
    this.random = random;
  }

  /** A patch of `stored`, which is what the object has become. */
  next(stored) {
    const kind = this.#pick(Object.keys(KINDS));
    const query = new URLSearchParams();
    if (this.#chance(0.3)) query.set('dryRun', 'All');
    if (this.#chance(0.3)) query.set('fieldValidation', this.#pick(['Strict', 'Warn', 'Ignore']));
    if (kind === 'apply' || this.#chance(0.4)) query.set('fieldManager', this.#pick(['m1', 'm2', 'm3']));
    if (kind === 'apply' && this.#chance(0.6)) query.set('force', 'true');
    return { kind, query: query.toString(), contentType: KINDS[kind], body: this.#body(kind, stored) };
  }

  #body(kind, stored) {
    if (kind === 'json') return this.#operations(stored);
    const whole = this.#chance(0.4) ? this.object : this.#pick(this.others);
    const part = this.#part(isMap(whole) ? whole : this.object, this.#pick([0.15, 0.4, 0.8]));
    const { apiVersion, kind: kindName, metadata } = this.object;
    if (kind === 'apply') {
      const said = isMap(part.metadata) ? part.metadata : {};
      return { ...part, apiVersion, kind: kindName, metadata: { ...said, name: metadata.name } };
    }
    const { apiVersion: _version, kind: _kind, ...rest } = part;
    return kind === 'merge' ? this.#withNulls(rest) : this.#withDirectives(rest, 0);
  }

  #chance(share) {
    return this.random() < share;
  }

  #pick(list) {
    return list[Math.floor(this.random() * list.length)];
  }

  /** Some of the members, and most of those that tell the items of a list apart. */
  #part(value, share) {
    if (Array.isArray(value)) {
      const items = value.filter(() => this.#chance(share)).map((item) => this.#part(item, 0.8));
      return this.#chance(0.2) ? items.reverse() : items;
    }
    if (!isMap(value)) return value;
    const members = Object.entries(value).filter(([name]) => this.#chance(KEYS.has(name) ? 0.93 : share));
    return Object.fromEntries(members.map(([name, member]) => [name, this.#part(member, share)]));
  }

  #withNulls(value) {
    if (!isMap(value)) return value;
    const nulled = ([name, member]) => [name, name !== 'name' && this.#chance(0.12) ? null : this.#withNulls(member)];
    return Object.fromEntries(Object.entries(value).map(nulled));
  }

  #withDirectives(value, depth) {
    if (Array.isArray(value)) return this.#directedList(value, depth);
    if (!isMap(value)) return value;
    const directed = {};
    for (const [name, member] of Object.entries(value)) {
      directed[name] = depth > 0 && this.#chance(0.06) ? null : this.#withDirectives(member, depth + 1);
      if (!Array.isArray(member)) continue;
      if (this.#chance(0.15)) directed[`$setElementOrder/${name}`] = member.map(firstMember);
      if (member.length > 0 && !isMap(member[0]) && this.#chance(0.2)) {
        directed[`$deleteFromPrimitiveList/${name}`] = [this.#pick(member)];
      }
    }
    if (depth > 0 && this.#chance(0.04)) directed.$patch = this.#pick(['replace', 'delete', 'merge', 'other']);
    if (depth > 0 && this.#chance(0.04)) directed.$retainKeys = Object.keys(value).filter(() => this.#chance(0.7));
    return directed;
  }

  #directedList(list, depth) {
    const items = list.map((item) => this.#withDirectives(item, depth + 1));
    if (items.length === 0 || !isMap(items[0])) return items;
    if (this.#chance(0.12)) items.push({ $patch: 'replace' });
    else if (this.#chance(0.15)) {
      const at = Math.floor(this.random() * items.length);
      const key = Object.keys(items[at]).find((name) => KEYS.has(name));
      const $patch = this.#pick(['delete', 'delete', 'merge', 'other']);
      items[at] = { ...(key !== undefined && { [key]: items[at][key] }), $patch };
    }
    return items;
  }

  #operations(stored) {
    const places = [...placesIn(stored)];
    return Array.from({ length: 1 + Math.floor(this.random() * 3) }, () => {
      const [place, found] = this.#pick(places);
      const [from, other] = this.#pick(places);
      const value = this.#chance(0.5) ? other : this.#pick(ODD);
      const path = pointer(place) + (this.#chance(0.15) ? this.#pick(['/-', '/0', '/99', '/x', '/-1', '/01']) : '');
      return this.#pick([
        { op: 'replace', path, value },
        { op: 'add', path, value },
        { op: 'remove', path },
        { op: 'test', path, value: this.#chance(0.6) ? found : value },
        { op: 'copy', from: pointer(from), path },
        { op: 'move', from: pointer(from), path },
        this.#pick([
          { op: 'other', path, value },
          { path, value },
          { op: 'add', path },
          { op: 'copy', path },
        ]),
      ]);
    });
  }
}

const firstMember = (item) => (isMap(item) ? Object.fromEntries(Object.entries(item).slice(0, 1)) : item);

const pointer = (place) => place.map((name) => `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

function* placesIn(value, place = []) {
  if (place.length > 0) yield [place, value];
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) yield* placesIn(member, [...place, name]);
}
