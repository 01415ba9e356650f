// Finds what is wrong with a tree, by its type, in kube-apiserver's order and words.
//
// Runs only after the fast walk noticed that something is: it carries the path that the fast walk does without.
import { FloatLiteral, isJsonObject } from '../../lib/json/float-literal.js';
import { goQuote } from '../../lib/go/quote.js';
import type { Field, ScalarName, ScalarType, StructType, Type } from '../type.js';
import type { ParsedJson } from './parse.js';
import { decodeScalar, schemaProps } from './scalar.js';
import { DecodeError, Mismatch } from './walk.js';

export interface Explanation {
  /** Why decoding fails: an error of a type's own decoder ends the walk, of all others the first is reported last. */
  readonly error?: string;
  /** The first value that does not fit: what it is, and what it should have been. */
  readonly mismatch?: DecodeError['mismatch'];
  readonly strictErrors: readonly string[];
}

/** As kube-apiserver: no more errors than this, and none twice. */
const strictErrorsLimit = 100;

/** Without a type only duplicates can be wrong. */
export function explain(type: StructType | undefined, tree: unknown, repeated: ParsedJson['repeated']): Explanation {
  const explainer = new Explainer(repeated);
  if (type === undefined) explainer.untyped(tree, '');
  else explainer.value(type, tree, { path: '', fields: [], struct: undefined });
  return { error: explainer.error, mismatch: explainer.mismatch, strictErrors: [...explainer.strictErrors] };
}

interface Place {
  /** `spec.containers[0]` */
  readonly path: string;
  /** The names of the fields only, as Go reports them. */
  readonly fields: readonly string[];
  readonly struct: StructType | undefined;
}

class Explainer {
  error: string | undefined;
  mismatch: DecodeError['mismatch'];
  #ended = false;
  readonly strictErrors = new Set<string>();

  constructor(readonly repeated: ParsedJson['repeated']) {}

  value(type: Type, value: unknown, place: Place): void {
    if (value === null) return;
    switch (type.kind) {
      case 'struct':
        return isJsonObject(value) ? this.#struct(type, value, place) : this.#mismatch(type, value, place);
      case 'list':
        if (!Array.isArray(value)) return this.#mismatch(type, value, place);
        return value.forEach((item, index) =>
          this.value(type.element, item, { ...place, path: `${place.path}[${index}]` }),
        );
      case 'map':
        return isJsonObject(value) ? this.#map(type.value, value, place) : this.#mismatch(type, value, place);
      case 'scalar':
        return this.#scalar(type, value, place);
    }
  }

  untyped(value: unknown, path: string): void {
    if (Array.isArray(value)) value.forEach((item, index) => this.untyped(item, `${path}[${index}]`));
    else if (isJsonObject(value)) this.#members(value, path, (key, member) => this.untyped(member, join(path, key)));
  }

  #struct(type: StructType, value: Record<string, unknown>, place: Place): void {
    const seen = new Set<Field>();
    for (const [key, member] of this.repeated.get(value) ?? Object.entries(value)) {
      const field = type.byJson.get(key);
      if (field === undefined) {
        if (type.preserveUnknown !== true) this.#strict('unknown', join(place.path, key));
        continue;
      }
      if (seen.has(field)) this.#strict('duplicate', join(place.path, key));
      seen.add(field);
      this.value(field.type, member, {
        path: join(place.path, key),
        fields: [...place.fields, key],
        struct: type,
      });
    }
  }

  #map(element: Type, value: Record<string, unknown>, place: Place): void {
    this.#members(value, place.path, (key, member) =>
      this.value(element, member, { ...place, path: join(place.path, key) }),
    );
  }

  #members(value: Record<string, unknown>, path: string, visit: (key: string, member: unknown) => void): void {
    const seen = new Set<string>();
    for (const [key, member] of this.repeated.get(value) ?? Object.entries(value)) {
      if (seen.has(key)) this.#strict('duplicate', join(path, key));
      seen.add(key);
      visit(key, member);
    }
  }

  #scalar(type: ScalarType, value: unknown, place: Place): void {
    const ends = !READ_ON.has(type.scalar);
    if (this.#ended || (this.error !== undefined && !ends)) return;
    const within = schemaIn(type.scalar, value);
    if (within !== undefined) return this.#schema(within, value, place);
    try {
      decodeScalar(type.scalar, (_, schema) => schema)(value, { keys: 0, unknown: 0, count: false });
    } catch (error) {
      if (error instanceof Mismatch) this.#mismatch(type, value, place, ends);
      else if (error instanceof DecodeError) this.error = error.message;
      else throw error;
      this.#ended = ends;
    }
  }

  /** It is decoded by itself: its errors have the path that they have in it. */
  #schema(type: Type, value: unknown, place: Place): void {
    const within = new Explainer(this.repeated);
    within.value(type, value, { path: '', fields: [], struct: undefined });
    const { error, mismatch } = within;
    if (mismatch !== undefined) this.#mismatch(mismatch.type, mismatch.value, place, true);
    else this.error = error ?? this.error;
    this.#ended = error !== undefined;
  }

  #mismatch(type: Type, value: unknown, place: Place, ends = false): void {
    if (this.#ended || (this.error !== undefined && !ends)) return;
    const into =
      place.struct === undefined
        ? 'Go value'
        : `Go struct field ${place.struct.name.slice(place.struct.name.lastIndexOf('.') + 1)}.${place.fields.join('.')}`;
    this.error = `json: cannot unmarshal ${describe(type, value)} into ${into} of type ${goType(type)}`;
    this.mismatch ??= { type, value };
  }

  #strict(sort: 'unknown' | 'duplicate', path: string): void {
    if (this.strictErrors.size < strictErrorsLimit) this.strictErrors.add(`${sort} field ${goQuote(path)}`);
  }
}

/** Scalars that Go reads itself. */
const READ_ON: ReadonlySet<ScalarName> = new Set(['string', 'bool', 'int32', 'int64', 'double', 'bytes']);

/** What a schema or a list must be where either may stand. */
function schemaIn(scalar: ScalarName, value: unknown): Type | undefined {
  if (!scalar.startsWith('schemaOr')) return undefined;
  if (isJsonObject(value)) return schemaProps();
  if (!Array.isArray(value) || scalar === 'schemaOrBool') return undefined;
  return { kind: 'list', element: scalar === 'schemaOrArray' ? schemaProps() : { kind: 'scalar', scalar: 'string' } };
}

const join = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`);

function describe(type: Type, value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (isJsonObject(value)) return 'object';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'bool';
  const isInteger = type.kind === 'scalar' && ['int32', 'int64', 'double', 'intOrString'].includes(type.scalar);
  if (!isInteger) return 'number';
  return `number ${value instanceof FloatLiteral ? value.text : String(value)}`;
}

export function goType(type: Type): string {
  switch (type.kind) {
    case 'list':
      return type.name === undefined ? `[]${goElementType(type.element)}` : shortName(type.name);
    case 'map':
      return type.name === undefined ? `map[string]${goElementType(type.value)}` : shortName(type.name);
    case 'struct':
      return shortName(type.name);
    case 'scalar':
      return type.name === undefined ? (goScalars[type.scalar] ?? type.scalar) : shortName(type.name);
  }
}

const shortName = (name: string): string => name.split('.').slice(-2).join('.');

/** Scalars with decoders of their own report what they are decoded from, and only their containers their own name. */
const goElementType = (type: Type): string =>
  (type.kind === 'scalar' ? goStructs[type.scalar] : undefined) ?? goType(type);

const goStructs: Readonly<Record<string, string>> = {
  quantity: 'resource.Quantity',
  time: 'v1.Time',
  microTime: 'v1.MicroTime',
  duration: 'v1.Duration',
  intOrString: 'intstr.IntOrString',
  any: 'v1.JSON',
  rawExtension: 'runtime.RawExtension',
  schemaOrStringArray: 'v1.JSONSchemaPropsOrStringArray',
};

const goScalars: Readonly<Record<string, string>> = {
  double: 'float64',
  bytes: '[]uint8',
  time: 'string',
  microTime: 'string',
  duration: 'string',
  intOrString: 'int32',
};
