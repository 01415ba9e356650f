// Ways to change an object: every value it has becomes another one or goes, and every member it might have comes.
import { isMap } from './seeds.mjs';

const TEXTS = {
  empty: '',
  odd: 'Not Valid!_',
  other: 'other-value',
  dotted: 'a.b',
  domain: 'example.com/x',
  slashes: 'a/b/c',
  upper: 'UPPER',
  camel: 'camelCase',
  dash: '-a',
  under: 'a_b',
  space: ' a',
  foreign: 'ü',
  escaped: '<a>&\u2028',
  star: '*',
  dots: '..',
  path: '/a/../b',
  url: 'https://h.example/x?y',
  number: '5',
  negative: '-1',
  zero: '0',
  percent: '50%',
  tooMuch: '150%',
  address: '10.1.2.3',
  address6: 'fd00::1',
  octal: '010.1.2.3',
  block: '10.0.0.0/8',
  inBlock: '10.0.0.1/8',
  fraction: '1.5m',
  exa: '1Ei',
  ...Object.fromEntries([63, 64, 253, 254, 300].map((length) => [`length${length}`, 'x'.repeat(length)])),
};
const NUMBERS = [-1, 0, 1, 2, 80, 101, 1.5, 65_535, 65_536, 1_000_000, 2 ** 31 - 1, 9_999_999_999];
const MANY = 70;

/** Each change as `[what it is, the object with it]`. */
export function* changed(object) {
  for (const place of placesIn(object)) {
    for (const [how, value] of others(at(object, place)))
      yield [`${place.join('.')} ${how}`, replaced(object, place, value)];
  }
}

function* others(value) {
  yield ['removed', undefined];
  if (typeof value === 'string') {
    yield* Object.entries(TEXTS);
    yield* [
      ['number', 7],
      ['map', {}],
    ];
  } else if (typeof value === 'number') {
    for (const number of NUMBERS) yield [String(number), number];
    yield ['text', '5'];
  } else if (typeof value === 'boolean')
    yield* [
      ['flipped', !value],
      ['text', 'true'],
    ];
  else if (Array.isArray(value)) yield* otherLists(value);
  else if (isMap(value)) {
    yield* [
      ['emptied', {}],
      ['unknown', { ...value, bogusField: 1 }],
      ['list', []],
      ['text', 'x'],
      ['null', null],
    ];
  }
}

function* otherLists(list) {
  yield* [
    ['emptied', []],
    ['map', {}],
    ['text', 'x'],
  ];
  const [first] = list;
  if (first === undefined) return;
  const zero = isMap(first) ? {} : typeof first === 'string' ? '' : 0;
  yield* [
    ['doubled', [...list, first]],
    ['with null', [null, ...list]],
    ['with zero', [...list, zero]],
  ];
  if (list.length > 1)
    yield* [
      ['reversed', [...list].reverse()],
      ['first only', [first]],
    ];
  yield ['many', Array.from({ length: MANY }, (_, i) => numbered(first, i))];
}

/** Another of its sort, by its name or key. */
function numbered(item, i) {
  if (typeof item === 'string') return `${item}${i}`;
  if (!isMap(item)) return item;
  const key = ['name', 'key', 'type'].find((member) => typeof item[member] === 'string');
  return key === undefined ? item : { ...item, [key]: `${item[key]}${i}` };
}

/** Each member that the object's type has and the object has not, with values of several sorts. */
export function* added(object, schema, definitions, place = []) {
  const type = resolved(schema, definitions);
  if (Array.isArray(object)) {
    for (const [i, item] of object.entries()) yield* added(item, type?.items, definitions, [...place, i]);
    return;
  }
  if (!isMap(object)) return;
  for (const [member, of] of Object.entries(type?.properties ?? {})) {
    const inner = [...place, member];
    if (member in object) yield* added(object[member], of, definitions, inner);
    else if (inner.join() !== 'status') {
      for (const value of samplesOf(resolved(of, definitions), definitions)) yield [inner, value];
    }
  }
}

/** `added` as changes of the whole object. */
export function* grown(object, schema, definitions) {
  for (const [place, value] of added(object, schema, definitions)) {
    yield [`${place.join('.')} is ${JSON.stringify(value).slice(0, 60)}`, replaced(object, place, value)];
  }
}

function* samplesOf(type, definitions) {
  const { length300: long } = TEXTS;
  if (type.format === 'date-time') yield* ['2026-01-02T03:04:05Z', 'x'];
  else if (type.type === 'string') yield* ['', 'abc', 'Not Valid!_', 'example.com/x', long, ...(type.enum ?? [])];
  else if (type.type === 'integer' || type.type === 'number') yield* [0, 1, -1, 5, 65_536, 2 ** 31 - 1];
  else if (type.type === 'boolean') yield* [true, false];
  else if (type.type === 'array') {
    const item = sample(type.items, definitions);
    yield* [[], [item], [item, item], [sample(type.items, definitions, 2)], [isMap(item) ? {} : '']];
  } else {
    const least = sample(type, definitions);
    yield* [{}, least, sample(type, definitions, 2)];
    for (const [member, of] of Object.entries(type.properties ?? {})) {
      yield { ...least, [member]: sample(of, definitions, 2) };
    }
  }
  if (type.format === 'int-or-string') yield* [0, 1, -1, 70_000, '50%'];
}

/** A value of a type: what it must have, and all that it may have so many steps down. */
function sample(schema, definitions, whole = 0) {
  const type = resolved(schema, definitions);
  if (type.format === 'date-time') return '2026-01-02T03:04:05Z';
  if (type.format === 'byte') return 'AAEC';
  if (type.format === 'int-or-string') return 1;
  if (type.type === 'string') return type.enum?.[0] ?? 'abc';
  if (type.type === 'integer' || type.type === 'number') return 1;
  if (type.type === 'boolean') return true;
  if (type.type === 'array') return [sample(type.items, definitions, whole)];
  if (type.additionalProperties) return { k: sample(type.additionalProperties, definitions, whole) };
  const members = Object.entries(type.properties ?? {}).filter(
    ([member]) => whole > 0 || type.required?.includes(member),
  );
  return Object.fromEntries(members.map(([member, of]) => [member, sample(of, definitions, whole - 1)]));
}

const resolved = (schema, definitions) =>
  (schema?.$ref === undefined ? schema : definitions[schema.$ref.replace('#/definitions/', '')]) ?? {};

function* placesIn(value, place = []) {
  if (place.length > 0) yield place;
  if (typeof value !== 'object' || value === null) return;
  for (const [member, inner] of Object.entries(value)) yield* placesIn(inner, [...place, member]);
}

const at = (object, place) => place.reduce((value, member) => value?.[member], object);

function replaced(object, place, value) {
  const copy = structuredClone(object);
  const holder = at(copy, place.slice(0, -1));
  const member = place.at(-1);
  if (value !== undefined) holder[member] = value;
  else if (Array.isArray(holder)) holder.splice(Number(member), 1);
  else delete holder[member];
  return copy;
}
