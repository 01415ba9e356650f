// A CRD as kinds that can be served: one for each of its versions, over one store.
import type { ExpressionChecker } from '../cel/expression-check.js';
import type { WorkerPool, WorkerRequirement } from '../lib/async/worker-pool.js';
import { goValueText } from '../lib/go/value.js';
import { once } from '../lib/values/once.js';
import { apiVersionOf, type JsonObject, type KubeObject, parseApiVersion } from '../machinery/object.js';
import { needsPruning } from '../machinery/needs-pruning.js';
import { type Schema, schemaHas } from '../apis/apiextensions/schema-walk.js';
import type { KindDefinition, KindVersion, Subresource, Verb } from '../registry/kind.js';
import { refOf } from '../registry/kind-ref.js';
import type { EndpointTypes } from '../rest/contract/endpoint.js';
import { compareVersions } from '../rest/discovery/group-priorities.js';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionVersion,
} from '../schema/generated/apiextensions.v1.js';
import { deepCopy } from '../schema/deep-copy.js';
import { equalTrees } from '../schema/deep-equal.js';
import type { StructType, Unstructured } from '../schema/type.js';
import type { ResourceStore, ResourceStoreOptions } from '../storage/store.js';
import { coercion, OF_ANOTHER_KIND } from './coerce.js';
import { columnsOf } from './columns.js';
import { compileType, listTypeOf } from './compile-type.js';
import type { Converter, Form } from './conversion/converter.js';
import { VersionView } from './conversion/version-view.js';
import { crdFrom, crdJson } from './crd-json.js';
import { parseJsonPath } from './json-path.js';
import { publishedSchemas } from './published-schema.js';
import { namesIn, scaleAccess } from './scale.js';
import { renewingOnWorker } from './renew.worker.js';
import { dropForbiddenNulls, setDefaults } from './set-defaults.js';
import { prunedTo, storedCodec, writtenCodec } from './stored-codec.js';
import { customStrategy } from './strategy.js';
import { withoutUnknownDefaults } from './pruned-schema.js';

export interface CustomKind {
  readonly group: string;
  readonly plural: string;
  /** The kind as it is stored, whether or not that version is served. */
  readonly definition: KindDefinition;
  readonly served: readonly ServedVersion[];
  readonly store: Omit<ResourceStoreOptions, 'prefix'>;
  /** The store as the kind sees it, where objects lie in it in several versions. */
  readonly view?: (base: ResourceStore) => ResourceStore;
}

export interface ServedVersion extends Pick<CustomKind, 'view'> {
  readonly definition: KindDefinition;
  readonly version: KindVersion;
  readonly types: EndpointTypes;
}

interface CompiledVersion {
  readonly stated: CustomResourceDefinitionVersion;
  /** Walked on first use. */
  readonly schema: () => Schema | undefined;
  readonly type: StructType;
  /** As that of the version that is stored. */
  readonly sameForm: boolean;
  readonly kindVersion: KindVersion;
}

export interface CustomKindOptions {
  /** Called on each creation. */
  readonly terminating: () => boolean;
  /** False: nothing is selectable, though CRDs name it (the gate CustomResourceFieldSelectors). */
  readonly selectableFields?: boolean;
  /** Compiles the rules of schemas. */
  readonly expressions?: Pick<ExpressionChecker, 'rulesOn' | 'evaluated'>;
  /** Converts by a CRD's webhook. */
  readonly converterOf?: (definition: Readonly<CustomResourceDefinition>) => Converter;
  /** Where large objects that were converted are looked through. */
  readonly workers?: WorkerPool | undefined;
}

export function customKind(source: Readonly<CustomResourceDefinition>, options: CustomKindOptions): CustomKind {
  const crd = options.selectableFields === false ? withoutSelectableFields(source) : source;
  const { spec, status } = crd;
  const names = status.acceptedNames;
  const versions = compileVersions(crd);
  const stored = versions.find(({ stated }) => stated.storage);
  if (stored === undefined) throw new Error(`${crd.metadata.name ?? ''} has no version to store`);
  const converter = spec.conversion?.strategy === 'Webhook' ? options.converterOf?.(crd) : undefined;
  const requirement = definitionFor(source);
  const parts = { ...options, stored, versions, converter, requirement };
  const definitions = new Map(versions.map((version) => [version, definitionOfVersion(crd, version, parts)]));
  const definitionOf = (version: CompiledVersion): KindDefinition => definitions.get(version) as KindDefinition;
  const viewOf = (version: CompiledVersion): Pick<CustomKind, 'view'> =>
    converter === undefined ? {} : { view: versionView(crd, version, { ...parts, converter }) };
  const served = versions.filter(({ stated }) => stated.served);
  const codec =
    converter === undefined
      ? storedCodec({ apiVersion: apiVersionIn(crd, stored), type: stored.type, schema: stored.schema })
      : writtenCodec(new Map(versions.map((version) => [apiVersionIn(crd, version), version])));
  return {
    group: spec.group,
    plural: names.plural,
    definition: definitionOf(stored),
    ...viewOf(stored),
    served: served.map((version) => ({
      definition: definitionOf(version),
      ...viewOf(version),
      version: version.kindVersion,
      types: { type: version.type, listType: listTypeOf(typeName(crd, version.stated.name, names.listKind ?? '')) },
    })),
    store: {
      resource: { group: spec.group, resource: names.plural },
      namespaced: spec.scope === 'Namespaced',
      custom: true,
      codec:
        options.workers === undefined
          ? codec
          : renewingOnWorker(codec, options.workers, requirement, refOf(definitionOf(stored))),
      fieldsOf: (object) =>
        Object.assign({}, ...served.map(({ stated }) => selectableFields(stated)(object))) as Record<string, string>,
    },
  };
}

let kindsMade = 0;

/** Each kind that is made has an id of its own: CRDs of one name may follow each other. */
function definitionFor(crd: Readonly<CustomResourceDefinition>): WorkerRequirement {
  return {
    id: `${crd.metadata.name ?? ''} ${++kindsMade}`,
    json: () => crdJson(crd),
  };
}

/** Builds the kind on a worker. */
export function customKindFrom(json: Buffer, options: CustomKindOptions): CustomKind {
  return customKind(crdFrom(json), options);
}

function withoutSelectableFields(crd: Readonly<CustomResourceDefinition>): Readonly<CustomResourceDefinition> {
  const versions = (crd.spec.versions ?? []).map(({ selectableFields: _, ...version }) => version);
  return { ...crd, spec: { ...crd.spec, versions } };
}

function compileVersions(crd: Readonly<CustomResourceDefinition>): CompiledVersion[] {
  const { spec, status } = crd;
  const preserveUnknown = spec.preserveUnknownFields === true;
  const schemas = (spec.versions ?? []).map((stated) => {
    const written = stated.schema?.openAPIV3Schema;
    return { stated, schema: once(() => (preserveUnknown ? written : written && withoutUnknownDefaults(written))) };
  });
  const storage = schemas.find(({ stated }) => stated.storage);
  const types = new Map<string, StructType>();
  const strange = coercion({ schema: undefined, preserveUnknown });
  const readAs: Unstructured['readAs'] = ({ kind, apiVersion }) => {
    const { group, version } = parseApiVersion(typeof apiVersion === 'string' ? apiVersion : '');
    if (kind !== status.acceptedNames.kind || group !== spec.group) return OF_ANOTHER_KIND;
    return types.get(version)?.unstructured ?? strange;
  };
  return schemas.map(({ stated, schema }) => {
    const name = typeName(crd, stated.name, status.acceptedNames.kind);
    const written = stated.schema?.openAPIV3Schema;
    const type = compileType({ name, schema: written, members: schema, preserveUnknown, readAs });
    types.set(stated.name, type);
    const sameForm = stated.storage || equalTrees(written, storage?.stated.schema?.openAPIV3Schema);
    const kindVersion: KindVersion = {
      version: stated.name,
      type,
      ...(written !== undefined && { defaults: (object) => setDefaults(object, schema()) }),
      ...(!stated.storage && conversion(crd, { type, sameForm })),
      ...(stated.deprecated && { deprecationWarning: stated.deprecationWarning ?? deprecation(crd, stated.name) }),
    };
    return { stated, schema, type, sameForm, kindVersion };
  });
}

const apiVersionIn = ({ spec }: Readonly<CustomResourceDefinition>, { stated }: CompiledVersion): string =>
  apiVersionOf({ group: spec.group, version: stated.name });

interface ViewParts extends Pick<CustomKindOptions, 'workers'> {
  readonly stored: CompiledVersion;
  readonly converter: Converter;
  readonly requirement: WorkerRequirement;
}

/** The objects in one version, each converted from the one it was written in. */
function versionView(
  crd: Readonly<CustomResourceDefinition>,
  version: CompiledVersion,
  { stored, converter, requirement, workers }: ViewParts,
): (base: ResourceStore) => ResourceStore {
  const { stated, type, schema } = version;
  const apiVersion = apiVersionIn(crd, version);
  const formOf = (into: string): Form => {
    const wanted = into === apiVersion ? version : stored;
    return {
      prune: (object) => prunedTo(wanted.type, object),
      elsewhere: workers && {
        workers,
        requires: requirement,
        kind: {
          group: crd.spec.group,
          plural: crd.status.acceptedNames.plural,
          custom: { id: requirement.id, version: wanted.stated.name },
        },
      },
    };
  };
  return (base) =>
    new VersionView({
      base,
      options: {
        ...base.options,
        codec: storedCodec({ apiVersion, type, schema }),
        fieldsOf: selectableFields(stated),
        typeName: `${apiVersion}, Kind=${crd.status.acceptedNames.kind}`,
      },
      apiVersion,
      storageApiVersion: apiVersionIn(crd, stored),
      converter,
      formOf,
      nowMs: () => performance.now(),
    });
}

/** `test.example.v1.Widget`: the group's parts reversed. */
const typeName = ({ spec }: Readonly<CustomResourceDefinition>, version: string, kind: string): string =>
  [...spec.group.split('.').reverse(), version, kind].join('.');

/** How a version that is not the stored one is made from it, and back. */
function conversion(
  { spec }: Readonly<CustomResourceDefinition>,
  { type, sameForm }: Pick<CompiledVersion, 'type' | 'sameForm'>,
): Pick<KindVersion, 'toStorage' | 'fromStorage'> {
  // Its store is one of that version already.
  if (sameForm || spec.conversion?.strategy === 'Webhook') return {};
  return {
    // What is read has the defaults of the version it lies in, and no others.
    fromStorage(object) {
      type.unstructured?.coerce(object as JsonObject & KubeObject, false);
      return object;
    },
  };
}

/** Drops what a version does not know and fills in what it has defaults for, in place. */
function inFormOf({ type, schema }: Pick<CompiledVersion, 'type' | 'schema'>, object: KubeObject): void {
  type.unstructured?.coerce(object as JsonObject & KubeObject, false);
  setDefaults(object, schema());
}

function deprecation({ spec }: Readonly<CustomResourceDefinition>, version: string): string {
  const [newest] = (spec.versions ?? [])
    .filter(({ name, served, deprecated }) => served && !deprecated && compareVersions(name, version) < 0)
    .map(({ name }) => name)
    .sort(compareVersions);
  const { kind } = spec.names;
  const use = newest === undefined ? '' : `; use ${spec.group}/${newest} ${kind}`;
  return `${spec.group}/${version} ${kind} is deprecated${use}`;
}

interface DefinitionParts extends CustomKindOptions {
  readonly converter: Converter | undefined;
  readonly requirement: WorkerRequirement;
  readonly stored: CompiledVersion;
  readonly versions: readonly CompiledVersion[];
}

const EVERY_VERB: readonly Verb[] = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
const TERMINATING_VERBS: readonly Verb[] = ['delete', 'deletecollection', 'get', 'list', 'watch'];

function definitionOfVersion(
  crd: Readonly<CustomResourceDefinition>,
  version: CompiledVersion,
  { stored, versions, terminating, expressions, converter, requirement, workers }: DefinitionParts,
): KindDefinition {
  const { spec, status } = crd;
  const names = status.acceptedNames;
  const { stated, schema } = version;
  const subresources = stated.subresources ?? {};
  const pruned = converter === undefined && spec.preserveUnknownFields !== true && !version.sameForm;
  const isUntyped = ({ type, nullable }: Schema): boolean => type === undefined && nullable !== true;
  const mayHoldNulls = once(() => spec.preserveUnknownFields !== true && schemaHas(schema(), isUntyped));
  return {
    group: spec.group,
    kind: names.kind,
    listKind: names.listKind ?? '',
    plural: names.plural,
    singular: names.singular ?? '',
    ...(names.shortNames && { shortNames: names.shortNames }),
    ...(names.categories && { categories: names.categories }),
    namespaced: spec.scope === 'Namespaced',
    versions: versions.filter(({ stated: { served } }) => served).map(({ kindVersion }) => kindVersion),
    unservedVersions: versions.filter(({ stated: { served } }) => !served).map(({ kindVersion }) => kindVersion),
    storageVersion: converter === undefined ? stored.stated.name : stated.name,
    storage: {
      shownVersion: stored.stated.name,
      ...(converter && {
        convert: async (object: Readonly<JsonObject>, apiVersion: string) => {
          const elsewhere = workers && { workers, requires: requirement };
          const [converted] = await converter.convert([object], apiVersion, { elsewhere });
          return ((await converted?.object()) ?? {}) as JsonObject;
        },
      }),
    },
    custom: true,
    origin: { requirement, version: stated.name },
    shownVerbs: () => (terminating() ? TERMINATING_VERBS : EVERY_VERB),
    strategy: customStrategy({
      prune(object) {
        // An applied null is valid where no type is stated, and what is read has none.
        if (!needsPruning(object)) return mayHoldNulls() && dropForbiddenNulls(object, schema());
        version.type.unstructured?.coerce(object as JsonObject & KubeObject, false);
        return true;
      },
      group: spec.group,
      plural: names.plural,
      stated: stated.schema?.openAPIV3Schema,
      schema,
      subresources,
      terminating,
      ...(expressions && { expressions }),
      ...(pruned && {
        toStored: (object: KubeObject) => inFormOf(stored, object),
        asServed(object: Readonly<KubeObject>) {
          const seen = deepCopy(object) as JsonObject & KubeObject;
          version.type.unstructured?.coerce(seen, false);
          return seen;
        },
      }),
    }),
    subresources: subresourcesOf(crd, stated),
    table: columnsOf(stated.additionalPrinterColumns),
    selection: { fields: selectableFields(stated) },
    openApiSchema: publishedSchemas({
      kind: { group: spec.group, version: stated.name, kind: names.kind },
      listKind: names.listKind ?? '',
      plural: names.plural,
      typeName: version.type.name,
      listTypeName: typeName(crd, stated.name, names.listKind ?? ''),
      schema: stated.schema?.openAPIV3Schema,
      preserveUnknown: spec.preserveUnknownFields === true,
      selectableFields: stated.selectableFields ?? [],
    }),
  };
}

function subresourcesOf(
  { spec, status }: Readonly<CustomResourceDefinition>,
  { subresources = {} }: CustomResourceDefinitionVersion,
): Record<string, Subresource> {
  const verbs: readonly Verb[] = ['get', 'patch', 'update'];
  const replicasPaths = Object.fromEntries(
    (spec.versions ?? []).flatMap(({ name, subresources: of }) =>
      of?.scale === undefined ? [] : [[name, namesIn(of.scale.specReplicasPath)]],
    ),
  ) as Record<string, string[]>;
  return {
    ...(subresources.status && { status: { kind: status.acceptedNames.kind, verbs } }),
    ...(subresources.scale && {
      scale: {
        group: 'autoscaling',
        version: 'v1',
        kind: 'Scale',
        verbs,
        scale: scaleAccess(subresources.scale, replicasPaths),
      },
    }),
  };
}

/** The fields a version lets be selected, and an object's values of them as text. */
function selectableFields({
  selectableFields: stated = [],
}: CustomResourceDefinitionVersion): (object: Readonly<KubeObject>) => Record<string, string> {
  const paths = stated.map(({ jsonPath }) => ({ name: jsonPath.replace(/^\./, ''), path: parseJsonPath(jsonPath) }));
  return (object) =>
    Object.fromEntries(
      paths.map(({ name, path }) => {
        const value = path?.(object)[0];
        return [name, value === undefined || value === null ? '' : goValueText(value)];
      }),
    );
}
