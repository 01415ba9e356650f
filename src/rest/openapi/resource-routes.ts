// The operations of a resource and of its subresources.
import { apiVersionOf, type GroupVersionKind } from '../../machinery/object.js';
import type { Subresource, Verb } from '../../registry/kind.js';
import { metaType, typeOf } from '../../schema/catalogue.js';
import { PATCH_DEFINITION } from '../../schema/openapi/scalars.js';
import type { Endpoint } from '../contract/endpoint.js';
import { EVERY_VERB } from '../discovery/discovery-resources.js';
import type { MediaType } from '../wire/media-types.js';
import { nameParameter, NAMESPACE, optionParameters, PRETTY, queryParametersOf, SUBPATH } from './parameters.js';
import { groupWords, type Parameter, type Route, type RouteMethod, type RouteResponse, UNAUTHORIZED } from './route.js';

export function resourceRoutes(endpoint: Endpoint, mediaTypes: readonly MediaType[]): Route[] {
  const { definition } = endpoint;
  const resource = targetOf(endpoint, mediaTypes);
  const own = (definition.verbs ?? EVERY_VERB).flatMap((verb) => ROUTES_OF_VERB[verb](resource));
  const subresources: Record<string, Subresource> = { ...definition.subresources };
  if (definition.strategy.status !== undefined) {
    subresources['status'] ??= { kind: definition.kind, verbs: ['get', 'patch', 'update'] };
  }
  const below = Object.entries(subresources).flatMap(([name, subresource]) => {
    const target = subresourceTarget(resource, endpoint, name, subresource);
    if (subresource.connect !== undefined) return connectRoutes(target, subresource.connect);
    return subresource.verbs.flatMap((verb) => ROUTES_OF_VERB[verb](target));
  });
  return [...own, ...below];
}

/** What operations work on: a resource or a subresource, and the names it goes by. */
interface Target {
  readonly endpoint: Endpoint;
  readonly words: ReturnType<typeof groupWords>;
  readonly subresource: string;
  /** The documents of custom resources are made elsewhere in kube-apiserver, and differ in some words. */
  readonly custom: boolean;
  /** What is read and written, or of a custom resource's subresource whose it is. */
  readonly kind: GroupVersionKind;
  readonly definition: string;
  readonly namespaced: boolean;
  /** `/apis/apps/v1/` */
  readonly root: string;
  /** Below the root: where objects are created and listed, and where one lies. */
  readonly collection: string;
  readonly item: string;
  readonly collectionParameters: readonly Parameter[];
  readonly itemParameters: readonly Parameter[];
  readonly media: readonly string[];
  readonly streamMedia: readonly string[];
  readonly patchTypes: readonly string[];
}

function targetOf(endpoint: Endpoint, mediaTypes: readonly MediaType[]): Target {
  const { kind, definition, type } = endpoint;
  const collection = definition.namespaced ? `namespaces/{namespace}/${definition.plural}` : definition.plural;
  const collectionParameters = definition.namespaced ? [NAMESPACE] : [];
  const names = mediaTypes.map(({ name }) => name);
  const custom = definition.custom === true;
  const withCbor = names.includes('application/cbor');
  return {
    endpoint,
    words: groupWords(kind),
    subresource: '',
    custom,
    kind,
    definition: type.name,
    namespaced: definition.namespaced,
    root: kind.group === '' ? `/api/${kind.version}/` : `/apis/${apiVersionOf(kind)}/`,
    collection,
    item: `${collection}/{name}`,
    collectionParameters,
    itemParameters: [...collectionParameters, nameParameter(kind.kind)],
    media: custom ? CUSTOM_MEDIA : names,
    streamMedia: custom
      ? []
      : ['application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch'].concat(
          withCbor ? ['application/cbor-seq'] : [],
        ),
    patchTypes: [
      'application/json-patch+json',
      'application/merge-patch+json',
      ...(custom ? [] : ['application/strategic-merge-patch+json']),
      'application/apply-patch+yaml',
      ...(withCbor && !custom ? ['application/apply-patch+cbor'] : []),
    ],
  };
}

const CUSTOM_MEDIA = ['application/json', 'application/yaml'];

function subresourceTarget(parent: Target, endpoint: Endpoint, name: string, subresource: Subresource): Target {
  const { group, version } = endpoint.kind;
  const kind = {
    group: subresource.group ?? group,
    version: subresource.version ?? version,
    kind: subresource.kind,
  };
  const item = `${parent.item}/${name}`;
  const type = kind.kind === endpoint.kind.kind ? endpoint.type : typeOf(kind.group, kind.version, kind.kind);
  return {
    ...parent,
    subresource: name,
    kind: parent.custom ? parent.kind : kind,
    definition: type?.name ?? parent.definition,
    item,
    collection: item,
    collectionParameters: parent.itemParameters,
  };
}

const ANY = ['*/*'];
const STATUS = 'io.k8s.apimachinery.pkg.apis.meta.v1.Status';
const DELETE_OPTIONS = 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions';

const ROUTES_OF_VERB: Readonly<Record<Verb, (target: Target) => readonly Route[]>> = {
  get: (target) => [
    route(target, {
      verb: 'read',
      action: 'get',
      method: 'get',
      description: `Reads ${nounOf(target)}.`,
      parameters: target.custom ? optionParameters().get : [],
      answers: [200],
    }),
  ],
  update: (target) => [
    route(target, {
      verb: 'replace',
      action: 'put',
      method: 'put',
      description: `Replaces ${nounOf(target)} as a whole.`,
      parameters: optionParameters().update,
      body: { definition: target.definition, required: true },
      answers: [200, 201],
    }),
  ],
  patch: (target) => [
    route(target, {
      verb: 'patch',
      action: 'patch',
      method: 'patch',
      description: `Changes parts of ${nounOf(target)}, or applies the fields a manager means to own.`,
      parameters: optionParameters().patch,
      body: { definition: PATCH_DEFINITION, required: true },
      consumes: target.patchTypes,
      answers: target.custom ? [200] : [200, 201],
    }),
  ],
  create: (target) => [
    route(target, {
      verb: 'create',
      action: 'post',
      method: 'post',
      collection: true,
      description: target.subresource === '' ? `Creates ${nounOf(target)}.` : `Sends ${nounOf(target)}.`,
      parameters: optionParameters().create,
      body: { definition: target.definition, required: true },
      answers: [200, 201, 202],
    }),
  ],
  delete: (target) => [
    route(target, {
      verb: 'delete',
      action: 'delete',
      method: 'delete',
      description: `Deletes ${nounOf(target)}, at once or gracefully as the options and the kind say.`,
      parameters: optionParameters().delete,
      body: { definition: DELETE_OPTIONS, required: false },
      produced: answersDeletedObject(target) ? target.definition : STATUS,
      answers: [200, 202],
    }),
  ],
  deletecollection: (target) => [
    route(target, {
      verb: 'delete',
      idInfix: 'Collection',
      action: 'deletecollection',
      method: 'delete',
      collection: true,
      description: `Deletes every ${target.kind.kind} that the selectors choose.`,
      ...(target.custom
        ? { parameters: optionParameters().list }
        : {
            parameters: optionParameters().deletecollection,
            body: { definition: DELETE_OPTIONS, required: false },
          }),
      produced: STATUS,
      answers: [200],
    }),
  ],
  list: (target) =>
    everywhere(target, {
      verb: 'list',
      action: 'list',
      method: 'get',
      description: `Lists objects of kind ${target.kind.kind}; with \`watch=true\`, streams their changes.`,
      produced: target.endpoint.listType.name,
    }),
  watch: (target) => (target.custom ? [] : watchRoutes(target)),
};

/** Kinds that end in phases also answer the object, while they last, but their documents have always said Status. */
function answersDeletedObject({ endpoint }: Target): boolean {
  const rules = endpoint.definition.strategy.delete;
  return rules?.returnsObject === true && rules.terminate === undefined;
}

/** Lists and watches of a namespaced kind also span all namespaces. */
function everywhere(target: Target, operation: Omit<Operation, 'answers'>): Route[] {
  const whole: Operation = {
    ...operation,
    collection: true,
    parameters: optionParameters().list,
    produces: [...target.media, ...target.streamMedia],
    answers: [200],
  };
  if (!target.namespaced) return [route(target, whole)];
  const { plural } = target.endpoint.definition;
  const all = { ...target, namespaced: false, collection: plural, collectionParameters: [] };
  return [route(target, whole), route(all, { ...whole, idSuffix: `${whole.idSuffix ?? ''}ForAllNamespaces` })];
}

/** The paths of old, before a list could be watched. */
function watchRoutes(target: Target): Route[] {
  const produced = metaType('WatchEvent').name;
  const root = `${target.root}watch/`;
  const { verbs = EVERY_VERB } = target.endpoint.definition;
  const one = route(
    { ...target, root },
    {
      verb: 'watch',
      action: 'watch',
      method: 'get',
      description: `Streams the changes of one ${target.kind.kind}. Deprecated: watch the list, with a field selector on metadata.name.`,
      parameters: optionParameters().list,
      produces: [...target.media, ...target.streamMedia],
      produced,
      answers: [200],
    },
  );
  if (!verbs.includes('list')) return [one];
  const lists = everywhere(
    { ...target, root },
    {
      verb: 'watch',
      idSuffix: 'List',
      action: 'watchlist',
      method: 'get',
      description: `Streams the changes of objects of kind ${target.kind.kind}. Deprecated: use \`watch=true\` on the list.`,
      produced,
    },
  );
  return [one, ...lists];
}

const PROXY_METHODS: readonly RouteMethod[] = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options'];

function connectRoutes(target: Target, connector: string): Route[] {
  const { kind } = target;
  const way = connector.slice(connector.indexOf('/') + 1);
  if (way === 'log') {
    const options = typeOf('', 'v1', 'PodLogOptions');
    return [
      route(target, {
        verb: 'read',
        action: 'get',
        method: 'get',
        description: 'Reads the log of a container, or follows it.',
        parameters: options === undefined ? [] : queryParametersOf(options),
        produces: ['text/plain', ...target.media],
        produced: '',
        answers: [200],
      }),
    ];
  }
  const options = typeOf(kind.group, kind.version, kind.kind);
  const parameters = options === undefined ? [] : queryParametersOf(options);
  const proxy = way === 'proxy';
  const methods: readonly RouteMethod[] = proxy ? PROXY_METHODS : ['get', 'post'];
  const connect = (at: Target, idSuffix: string): Route[] =>
    methods.map((method) =>
      route(at, {
        verb: 'connect',
        idInfix: method.charAt(0).toUpperCase() + method.slice(1),
        idSuffix,
        action: 'connect',
        method,
        description: proxy
          ? `Passes ${method.toUpperCase()} requests on to ${nounOf({ ...target, subresource: '' })}.`
          : `Opens a connection for ${way} with ${nounOf({ ...target, subresource: '' })}.`,
        parameters,
        plain: true,
        produces: ANY,
        produced: '',
        answers: [200],
      }),
    );
  if (!proxy) return connect(target, '');
  const below = { ...target, item: `${target.item}/{path}`, itemParameters: [...target.itemParameters, SUBPATH] };
  return [...connect(target, ''), ...connect(below, 'WithPath')];
}

interface Operation {
  readonly verb: string;
  readonly idInfix?: string;
  readonly idSuffix?: string;
  readonly action: string;
  readonly method: RouteMethod;
  readonly description: string;
  /** Works on the collection, not on one object. */
  readonly collection?: boolean;
  readonly parameters?: readonly Parameter[];
  /** Has no `pretty`. */
  readonly plain?: boolean;
  readonly body?: Route['body'];
  readonly consumes?: readonly string[];
  readonly produces?: readonly string[];
  /** The definition of the answer, when not the target's; empty for a text. */
  readonly produced?: string;
  readonly answers: readonly number[];
}

const ANSWER_WORDS: Readonly<Record<number, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted' };

function route(target: Target, operation: Operation): Route {
  const { id, tag } = target.words;
  const { subresource, namespaced } = target;
  const noun = `${namespaced ? 'Namespaced' : ''}${target.endpoint.kind.kind}`;
  const below = subresource.charAt(0).toUpperCase() + subresource.slice(1);
  const scope = operation.collection === true ? target.collectionParameters : target.itemParameters;
  const answers = operation.answers.map((code): RouteResponse => ({
    code,
    description: ANSWER_WORDS[code] ?? '',
    definition: operation.produced ?? target.definition,
  }));
  return {
    path: `${target.root}${operation.collection === true ? target.collection : target.item}`,
    method: operation.method,
    operationId: `${operation.verb}${id}${operation.idInfix ?? ''}${noun}${below}${operation.idSuffix ?? ''}`,
    tags: [tag],
    description: operation.description,
    action: operation.action,
    kind: target.kind,
    parameters: [...(operation.plain === true ? [] : [PRETTY]), ...(operation.parameters ?? []), ...scope],
    ...(operation.body && { body: operation.body }),
    consumes: operation.consumes ?? (target.custom ? CUSTOM_MEDIA : ANY),
    produces: operation.produces ?? target.media,
    responses: [...answers, UNAUTHORIZED],
  };
}

function nounOf({ endpoint, subresource }: Target): string {
  const { kind } = endpoint.kind;
  const article = /^[AEIOU]/.test(kind) ? 'an' : 'a';
  return subresource === '' ? `${article} ${kind}` : `the ${subresource} of ${article} ${kind}`;
}
