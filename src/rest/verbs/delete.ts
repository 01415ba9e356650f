import type { AdmissionAttributes } from '../../admission/plugin.js';
import { goQuote } from '../../lib/go/quote.js';
import type { HttpRequest, HttpResponse } from '../../lib/http/http.js';
import { workOn } from '../../lib/scheduling/sized-work.js';
import { FieldPath, invalid as invalidField } from '../../machinery/field-error.js';
import { forbidden, invalid, type Status, StatusError } from '../../machinery/status.js';
import { checkDeleteOptions, UNSAFE_DELETE } from '../../registry/delete-options.js';
import { deleteCollection } from '../../registry/delete-collection.js';
import { deleteUnreadable } from '../../registry/delete-unreadable.js';
import { deleteObject } from '../../registry/delete.js';
import type { DeleteOptions } from '../../registry/kind.js';
import { metaType } from '../../schema/catalogue.js';
import { encodeJson } from '../../schema/json/encode.js';
import { apiVersionFault, type KubeObject } from '../../machinery/object.js';
import { decodeLarge } from '../body/decode-large.js';
import type { Endpoint } from '../contract/endpoint.js';
import { respondList } from './list.js';
import { bodyMediaType, negotiate } from '../wire/negotiate.js';
import { deleteOptionsFromQuery, listOptions } from '../contract/query-options.js';
import type { BodyVerb } from '../contract/metrics.js';
import { readRequestBody } from '../body/read-body.js';
import type { RestRequest } from '../contract/request.js';
import { requireNamespace } from '../body/require-namespace.js';
import { respondStatus, respondValue } from '../answer/respond.js';
import { respondTimed } from '../answer/timed.js';
import { selectionOf } from '../contract/selection.js';
import { lifeContext, type RestServices } from '../contract/services.js';
import { DecodeError } from '../../schema/json/decode.js';
import type { SentKind } from '../../schema/json/sent-kind.js';
import { decodeObject, kindOf, WireError } from '../wire/codec.js';

export async function removeObject(
  services: RestServices,
  endpoint: Endpoint,
  request: RestRequest,
): Promise<HttpResponse> {
  const { http, info } = request;
  const negotiated = negotiate(http, services.mediaTypes);
  const options = await readDeleteOptions(services, endpoint, request, 'delete');
  const isNamespace = endpoint.resource.group === '' && endpoint.resource.resource === 'namespaces';
  const namespace = isNamespace ? info.name : info.namespace;
  if (options[UNSAFE_DELETE]) return removeUnreadable(services, endpoint, request, namespace);
  warnOfUnsetPolicy(endpoint, request, options);
  requireNamespace(endpoint, info);
  const context = lifeContext(services, request, namespace, (options.dryRun?.length ?? 0) > 0);
  const span = request.trace?.span;
  span?.event('About to delete object from database');
  const { answer, deleted } = await deleteObject(endpoint.registry, {
    name: info.name,
    options,
    context: endpoint.definition.namespaced ? context : { ...context, namespace: '' },
    admit: admitDelete(services, endpoint, request, { namespace, name: info.name, options, context }),
  });
  span?.event('Object deleted from database');
  span?.event('About to write a response');
  const code = !deleted && options.orphanDependents === false ? 202 : 200;
  if ('json' in answer)
    return respondTimed(
      request,
      { endpoint, request: http, negotiated, clock: services.clock, converter: services.converter },
      code,
      answer,
    );
  // In the requested form: there is nothing in it to be made a table or metadata of.
  const { media, pretty } = negotiated;
  return respondValue({ request: http, negotiated: { media, pretty } }, code, metaType('Status'), answer);
}

/** Requires a permission of its own: what the object would have held back happens no more. */
async function removeUnreadable(
  services: RestServices,
  endpoint: Endpoint,
  request: RestRequest,
  namespace: string,
): Promise<HttpResponse> {
  const { http, info, user } = request;
  request.annotate('apiserver.k8s.io/unsafe-delete-ignore-read-error', '');
  const { group, version, resource } = endpoint.resource;
  const attributes = {
    user,
    verb: 'unsafe-delete-ignore-read-errors',
    resourceRequest: true,
    apiGroup: group,
    apiVersion: version,
    resource,
    subresource: '',
    namespace,
    name: info.name,
    path: info.path,
  };
  const { decision, reason } = await services.authorizer.authorize(attributes, http);
  if (decision !== 'allow') {
    const why = `not permitted to do ${goQuote(attributes.verb)}, reason: ${reason}`;
    throw forbidden({ group, resource }, info.name, why);
  }
  requireNamespace(endpoint, info);
  const dryRun = http.query.getAll('dryRun').length > 0;
  await deleteUnreadable(endpoint.registry, endpoint.definition.namespaced ? namespace : '', info.name, dryRun);
  const details = { name: info.name, kind: endpoint.kind.kind };
  const gone: Status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details, code: 200 };
  return respondStatus(http, gone, 200, services.mediaTypes);
}

export async function removeCollection(
  services: RestServices,
  endpoint: Endpoint,
  request: RestRequest,
): Promise<HttpResponse> {
  const { http, info } = request;
  const negotiated = negotiate(http, services.mediaTypes);
  const selected = listOptions(http.query, false);
  const selection = selectionOf(endpoint, selected, info.name);
  const options = await readDeleteOptions(services, endpoint, request, 'delete_collection');
  if (options[UNSAFE_DELETE]) {
    const why = 'is not allowed with DELETECOLLECTION, try again after removing the option';
    const kind = { group: 'meta.k8s.io', kind: 'DeleteOptions' };
    throw invalid(kind, '', [invalidField(FieldPath.of(UNSAFE_DELETE), true, why)]);
  }
  warnOfUnsetPolicy(endpoint, request, options);
  const context = lifeContext(services, request, info.namespace, (options.dryRun?.length ?? 0) > 0);
  const result = await deleteCollection(
    endpoint.registry,
    {
      namespace: info.namespace,
      ...selection,
      resourceVersion: selected.resourceVersion,
      resourceVersionMatch: selected.resourceVersionMatch,
      limit: selected.limit,
      continue: selected.continue,
      trace: request.trace,
    },
    {
      options,
      context,
      admit: admitDelete(services, endpoint, request, { namespace: info.namespace, name: '', options, context }),
    },
  );
  request.trace?.span?.event('About to write a response');
  return respondList(
    { endpoint, request: http, negotiated, clock: services.clock, converter: services.converter },
    result,
  );
}

function warnOfUnsetPolicy({ definition }: Endpoint, request: RestRequest, options: DeleteOptions): void {
  const text = definition.strategy.delete?.unsetPolicyWarning;
  if (text !== undefined && options.propagationPolicy === undefined && options.orphanDependents === undefined) {
    request.warn(text);
  }
}

function admitDelete(
  services: RestServices,
  endpoint: Endpoint,
  request: RestRequest,
  about: Pick<AdmissionAttributes, 'namespace' | 'name' | 'options' | 'context'>,
): (old: Readonly<KubeObject>) => Promise<void> {
  return async (old) => {
    // hot: each member by name, because an object that is made of another by spreading has a shape of its own.
    const attributes: AdmissionAttributes = {
      operation: 'DELETE',
      kind: endpoint.kind,
      resource: endpoint.resource,
      subresource: '',
      namespace: about.namespace,
      name: about.name,
      old,
      options: optionsShown(endpoint, about.options, old),
      context: about.context,
      operations: services.ownOperations,
      annotate: (key, value, level) => request.annotate(key, value, level),
    };
    await services.admission.admit(attributes);
    await services.admission.validate(attributes);
  };
}

/** What ends in steps is deleted as the very object that was found, and admission reviews that object. */
function optionsShown(
  { definition }: Endpoint,
  options: AdmissionAttributes['options'],
  { metadata: { uid } }: Readonly<KubeObject>,
): AdmissionAttributes['options'] {
  if (definition.strategy.delete?.terminate === undefined) return options;
  const { preconditions } = options as DeleteOptions;
  return { ...options, preconditions: { uid, ...preconditions } };
}

/** From the body where there is one, else from the query. */
async function readDeleteOptions(
  services: RestServices,
  endpoint: Endpoint,
  request: RestRequest,
  verb: BodyVerb,
): Promise<DeleteOptions> {
  const { http, trail } = request;
  // kube-apiserver sends no warning for a collection.
  const span = verb === 'delete' ? request.trace?.span : undefined;
  const body = await readRequestBody(services, endpoint, request, verb);
  const sent = body.length === 0 ? deleteOptionsFromQuery(http.query) : await decodeDeleteOptions(services, http, body);
  if (body.length > 0) {
    span?.event('Decoded delete options');
    // kube-apiserver records options in the form it works on.
    trail?.requestObject(INTERNAL, () => encodeJson(metaType('DeleteOptions'), { ...sent, ...INTERNAL }));
    span?.event('Recorded the audit event');
  }
  const options = sent[UNSAFE_DELETE] === undefined ? sent : withUnsafe(services, sent);
  checkDeleteOptions(options);
  return options;
}

function withUnsafe({ features }: RestServices, sent: DeleteOptions): DeleteOptions {
  const { [UNSAFE_DELETE]: unsafe, ...usual } = sent;
  return unsafe && features.enabled('AllowUnsafeMalformedObjectDeletion') ? sent : usual;
}

const INTERNAL = { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/__internal' };

async function decodeDeleteOptions(services: RestServices, http: HttpRequest, body: Buffer): Promise<DeleteOptions> {
  const media = bodyMediaType(http, services.mediaTypes);
  const type = metaType('DeleteOptions');
  try {
    if (workOn(body.length).isLarge) {
      const { object } = await decodeLarge(services.converter, { media, type, bytes: body, strict: false });
      const { kind = '', apiVersion = '' } = object as Partial<SentKind>;
      checkKind({ kind, apiVersion });
      return object as DeleteOptions;
    }
    checkKind(kindOf(media, body));
    return decodeObject(media, type, body, false).object as DeleteOptions;
  } catch (error) {
    if (error instanceof WireError || error instanceof DecodeError) throw notOptions(error.message);
    throw error;
  }
}

function checkKind({ kind, apiVersion }: SentKind): void {
  const odd = apiVersionFault(apiVersion);
  if (odd !== undefined) throw notOptions(odd);
  if (kind === '' || kind === 'DeleteOptions') return;
  const version = goQuote(apiVersion || 'meta.k8s.io/v1');
  throw notOptions(`no kind ${goQuote(kind)} is registered for version ${version} in scheme ${META_SCHEME}`);
}

const META_SCHEME = '"k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27"';

/** kube-apiserver treats options that it cannot decode as an internal error. */
const notOptions = (message: string): StatusError => new StatusError(500, '', message);
