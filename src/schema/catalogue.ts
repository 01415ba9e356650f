// The catalogue at run time: types by kind or by OpenAPI name, materialised file by file on first use.
import { apiVersionOf } from '../machinery/object.js';
import { describeField, describeType } from './descriptions.js';
import { catalogueTexts } from './generated/texts.js';
import { type CatalogueFile, type Declaration, type Member, parseCatalogueFile, type Struct } from './notation.js';
import {
  type EmbeddedMessage,
  type Field,
  SCALAR_NAMES,
  type ScalarName,
  type ScalarType,
  type StructType,
  type Type,
} from './type.js';

/** The type of a kind, including the option and review kinds that every group version understands. */
export function typeOf(group: string, version: string, kind: string): StructType | undefined {
  const apiVersion = apiVersionOf({ group, version });
  const own = kindIn(fileByApiVersion().get(apiVersion), kind);
  if (own !== undefined) return own;
  const shared = kindsOfEveryVersion.has(kind) || (apiVersion === 'v1' && kindsOfCoreVersion.has(kind));
  return shared ? kindIn('meta.v1', kind) : undefined;
}

/** The type with an OpenAPI name such as `io.k8s.api.core.v1.PodSpec`. */
export function typeByName(name: string): StructType | undefined {
  const dot = name.lastIndexOf('.');
  const file = fileByPackage().get(name.slice(0, dot));
  return file === undefined ? undefined : structIn(file, name.slice(dot + 1));
}

/** As typeByName, for a name the program itself wrote. */
export function mustType(name: string): StructType {
  const type = typeByName(name);
  if (type === undefined) throw new Error(`the catalogue has no type ${name}`);
  return type;
}

/** A type of apimachinery's meta/v1: `metaType('Status')`. */
export const metaType = (name: string): StructType => mustType(`io.k8s.apimachinery.pkg.apis.meta.v1.${name}`);

/** The group versions the catalogue knows, with the kinds of each. */
export function catalogueKinds(): Map<string, string[]> {
  const kinds = new Map<string, string[]>();
  for (const [apiVersion, file] of fileByApiVersion()) {
    const declarations = [...parsed(file).declarations.values()];
    kinds.set(
      apiVersion,
      declarations.filter((declaration) => isKind(file, declaration)).map(({ name }) => name),
    );
  }
  return kinds;
}

/** Every type's OpenAPI name. */
export function catalogueTypeNames(): string[] {
  return Object.keys(catalogueTexts).flatMap((file) => {
    const { package: prefix, declarations } = parsed(file);
    return [...declarations.values()].filter(({ is }) => is === 'struct').map(({ name }) => `${prefix}.${name}`);
  });
}

const kindsOfEveryVersion = new Set([
  'WatchEvent',
  'ListOptions',
  'GetOptions',
  'DeleteOptions',
  'CreateOptions',
  'UpdateOptions',
  'PatchOptions',
]);
const kindsOfCoreVersion = new Set(['Status', 'APIVersions', 'APIGroup', 'APIGroupList', 'APIResourceList']);

const scalarNames: ReadonlySet<string> = new Set(SCALAR_NAMES);
const isScalarName = (text: string): text is ScalarName => scalarNames.has(text);

const parsedFiles = new Map<string, CatalogueFile>();
const types = new Map<string, Type>();
let byApiVersion: Map<string, string> | undefined;
let byPackage: Map<string, string> | undefined;

function fileByApiVersion(): Map<string, string> {
  byApiVersion ??= new Map(
    Object.entries(catalogueTexts)
      .filter(([, { apiVersion }]) => apiVersion !== '')
      .map(([file, { apiVersion }]) => [apiVersion, file]),
  );
  return byApiVersion;
}

function fileByPackage(): Map<string, string> {
  byPackage ??= new Map(Object.entries(catalogueTexts).map(([file, { package: prefix }]) => [prefix, file]));
  return byPackage;
}

function parsed(file: string): CatalogueFile {
  let known = parsedFiles.get(file);
  if (known === undefined) {
    const source = catalogueTexts[file];
    if (source === undefined) throw new Error(`the catalogue has no file ${file}`);
    known = parseCatalogueFile(source.text);
    parsedFiles.set(file, known);
  }
  return known;
}

function kindIn(file: string | undefined, kind: string): StructType | undefined {
  if (file === undefined) return undefined;
  const declaration = parsed(file).declarations.get(kind);
  if (declaration === undefined || !isKind(file, declaration)) return undefined;
  return structIn(file, kind);
}

function isKind(file: string, declaration: Declaration): boolean {
  if (declaration.is === 'struct') return declaration.isKind || declaration.name === 'WatchEvent';
  if (declaration.is !== 'alias') return false;
  const [home, name] = splitReference(file, declaration.type);
  const target = isScalarName(declaration.type) ? undefined : parsed(home).declarations.get(name);
  return target !== undefined && isKind(home, target);
}

function structIn(file: string, name: string): StructType | undefined {
  if (!parsed(file).declarations.has(name)) return undefined;
  const type = resolve(file, name);
  return type.kind === 'struct' ? type : undefined;
}

/** The type a text such as `map[string][]core.v1.Pod` stands for, in a file. */
function resolve(file: string, text: string): Type {
  const key = `${file} ${text}`;
  let type = types.get(key);
  if (type === undefined) {
    type = build(file, text);
    types.set(key, type);
  }
  return type;
}

function build(file: string, text: string): Type {
  if (text.startsWith('*')) return resolve(file, text.slice(1));
  if (text.startsWith('[]')) return { kind: 'list', element: resolve(file, text.slice(2)) };
  if (text.startsWith('map[')) return { kind: 'map', value: resolve(file, text.slice(text.indexOf(']') + 1)) };
  if (isScalarName(text)) return { kind: 'scalar', scalar: text };
  const [home, name] = splitReference(file, text);
  if (home !== file) return resolve(home, name);
  const declaration = parsed(file).declarations.get(name);
  if (declaration === undefined) throw new Error(`${file}: the catalogue has no type ${text}`);
  const fullName = `${parsed(file).package}.${name}`;
  if (declaration.is === 'alias') {
    const target = resolve(file, declaration.type);
    if (target.kind === 'map') return { ...target, name: fullName };
    if (target.kind !== 'list') return target;
    return { ...target, name: fullName, ...(declaration.message && { message: true }) };
  }
  if (declaration.is === 'string') {
    const named: ScalarType = { kind: 'scalar', scalar: 'string', name: fullName };
    return declaration.published ? { ...named, enum: declaration.values.toSorted() } : named;
  }
  return new CatalogueStruct(file, fullName, declaration);
}

function splitReference(file: string, text: string): [home: string, name: string] {
  const dot = text.lastIndexOf('.');
  return dot < 0 ? [file, text] : [text.slice(0, dot), text.slice(dot + 1)];
}

class CatalogueStruct implements StructType {
  readonly kind = 'struct';
  readonly mapType?: 'atomic' | 'granular';
  readonly isKind: boolean;
  readonly union: boolean;
  readonly #file: string;
  readonly #declaration: Struct;
  #fields: readonly Field[] | undefined;
  #byJson: ReadonlyMap<string, Field> | undefined;

  constructor(
    file: string,
    readonly name: string,
    declaration: Struct,
  ) {
    this.#file = file;
    this.#declaration = declaration;
    this.isKind = declaration.isKind;
    this.union = declaration.union;
    if (declaration.mapType !== undefined) this.mapType = declaration.mapType;
  }

  get description(): string | undefined {
    return describeType(this.#file, this.#declaration.name);
  }

  get fields(): readonly Field[] {
    this.#fields ??= this.expand(false);
    return this.#fields;
  }

  get byJson(): ReadonlyMap<string, Field> {
    this.#byJson ??= new Map(this.fields.map((field) => [field.json, field]));
    return this.#byJson;
  }

  get embedded(): readonly EmbeddedMessage[] {
    return this.#declaration.members
      .filter((member) => member.inline && member.proto > 0)
      .map((member) => ({ proto: member.proto, type: this.#inlined(member) }));
  }

  /** The fields with inlined members flattened in; `embedded` when they are seen through a type that inlines this one. */
  expand(embedded: boolean): readonly Field[] {
    const own = this.#declaration.members.flatMap((member) =>
      member.inline
        ? this.#inlined(member).expand(embedded || member.proto > 0)
        : [new CatalogueField(this.#file, this.#declaration.name, member, embedded)],
    );
    return this.isKind ? [...typeMeta, ...own] : own;
  }

  #inlined(member: Member): CatalogueStruct {
    const type = resolve(this.#file, member.type);
    if (!(type instanceof CatalogueStruct)) throw new Error(`${this.name}: ${member.type} cannot be inlined`);
    return type;
  }
}

class CatalogueField implements Field {
  readonly json: string;
  readonly proto: number;
  readonly omitEmpty: boolean;
  readonly omitZero: boolean;
  readonly pointer: boolean;
  readonly required: boolean;
  readonly default?: unknown;
  readonly nullable?: boolean;
  readonly listType?: 'atomic' | 'set' | 'map';
  readonly listMapKeys?: readonly string[];
  readonly mapType?: 'atomic' | 'granular';
  readonly patchStrategy?: readonly ('merge' | 'replace' | 'retainKeys')[];
  readonly patchMergeKey?: string;
  readonly discriminator?: boolean;
  readonly embedded?: boolean;
  readonly #file: string;
  readonly #owner: string;
  readonly #text: string;
  #type: Type | undefined;

  constructor(file: string, owner: string, member: Member, embedded: boolean) {
    if (embedded) this.embedded = true;
    this.#file = file;
    this.#owner = owner;
    this.#text = member.type;
    this.json = member.json;
    this.proto = member.proto;
    this.omitEmpty = member.omitEmpty;
    this.omitZero = member.omitZero;
    this.pointer = member.pointer;
    this.required = member.required;
    for (const word of member.words) {
      const equals = word.indexOf('=');
      const values = word.slice(equals + 1).split(',');
      switch (equals < 0 ? word : word.slice(0, equals)) {
        case 'list':
          this.listType = oneOf(['atomic', 'set', 'map'], values[0]);
          if (values.length > 1) this.listMapKeys = values.slice(1);
          break;
        case 'map':
          this.mapType = oneOf(['atomic', 'granular'], values[0]);
          break;
        case 'patch':
          this.patchStrategy = values.map((value) => oneOf(['merge', 'replace', 'retainKeys'], value));
          break;
        case 'key':
          this.patchMergeKey = values[0] ?? '';
          break;
        case 'default':
          this.default = JSON.parse(word.slice(equals + 1));
          break;
        case 'nullable':
          this.nullable = true;
          break;
        case 'discriminator':
          this.discriminator = true;
          break;
      }
    }
  }

  get type(): Type {
    this.#type ??= resolve(this.#file, this.#text);
    return this.#type;
  }

  get description(): string | undefined {
    return describeField(this.#file, this.#owner, this.json);
  }
}

const TYPE_META = {
  kind: 'The kind of object this is, such as `Pod`. A request may leave it out where its path already tells.',
  // The conformance suite looks for the first two words.
  apiVersion: 'APIVersion defines the schema the object is written in by its group and version, such as `apps/v1`.',
};

const typeMeta: readonly Field[] = Object.entries(TYPE_META).map(([json, description]) => ({
  json,
  description,
  type: { kind: 'scalar', scalar: 'string' },
  proto: 0,
  omitEmpty: true,
  pointer: false,
  required: false,
}));

function oneOf<const T extends string>(allowed: readonly T[], word: string | undefined): T {
  const found = allowed.find((value) => value === word);
  if (found === undefined) throw new Error(`the catalogue knows ${allowed.join(', ')}, not ${word}`);
  return found;
}
