import type { AdmissionAttributes } from '../../admission/plugin.js';
import type { HttpRequest, HttpResponse } from '../../lib/http/http.js';
import { workOn } from '../../lib/scheduling/sized-work.js';
import { apiVersionOf, type KubeObject } from '../../machinery/object.js';
import { badRequest, StatusError } from '../../machinery/status.js';
import type { Subresource } from '../../registry/kind.js';
import { managedFieldSteps } from '../../schema/apply/field-manager.js';
import { singleVersion } from '../../schema/apply/versions.js';
import { typeOf } from '../../schema/catalogue.js';
import { encodeJson } from '../../schema/json/encode.js';
import type { StructType } from '../../schema/type.js';
import { readBody } from '../body/decode-body.js';
import { decodeSized } from '../body/decode-large.js';
import type { Endpoint } from '../contract/endpoint.js';
import { managerName } from '../contract/field-manager.js';
import { bodyMediaType, negotiate, WITHOUT_TABLES } from '../wire/negotiate.js';
import { createOptions } from '../contract/query-options.js';
import { noteStoring } from '../contract/record-verb.js';
import type { RestRequest } from '../contract/request.js';
import { metaType } from '../answer/formed-value.js';
import { respondSized } from '../answer/respond.js';
import { readRequestBody } from '../body/read-body.js';
import { lifeContext, type RestServices } from '../contract/services.js';
import { WireError } from '../wire/codec.js';

/** POST to a subresource that acts on its parent: binding, eviction, token. */
export async function createSubresource(
  services: RestServices,
  endpoint: Endpoint,
  request: RestRequest,
  subresource: Subresource,
): Promise<HttpResponse> {
  const { http, info } = request;
  const kind = {
    group: subresource.group ?? endpoint.kind.group,
    version: subresource.version ?? endpoint.kind.version,
    kind: subresource.kind,
  };
  const type = typeOf(kind.group, kind.version, kind.kind);
  if (type === undefined || subresource.create === undefined)
    throw new Error(`no type or action for ${info.subresource}`);
  const negotiated = negotiate(http, services.mediaTypes, WITHOUT_TABLES);
  const span = request.trace?.span;
  const body = await readRequestBody(services, endpoint, request, 'create');
  const options = createOptions(http);
  const { mediaTypes, converter } = services;
  const other = subresource.alsoVersions && (await sentVersion(services, http, body, subresource));
  const sent = other === undefined ? kind : { group: kind.group, version: other, kind: kind.kind };
  const sentType = (other && typeOf(sent.group, other, sent.kind)) || type;
  span?.event('About to convert to expected version');
  const expected = { kind: sent, type: sentType, defaults: subresource.defaults?.bind(subresource) };
  const { fieldValidation } = options;
  const warn = (text: string): void => request.warn(text);
  const object = await readBody(http, body, expected, { converter, mediaTypes, fieldValidation, warn });
  span?.event('Conversion done');
  request.trail?.requestObject(object, (sentBody) => encodeJson(sentType, sentBody));
  object.apiVersion = apiVersionOf(kind);
  matchParent(object, info.namespace);
  const noting = managedFieldSteps({
    type,
    live: undefined,
    newObject: object,
    manager: managerName(options.fieldManager, http),
    apiVersion: object.apiVersion,
    subresource: info.subresource,
    time: services.clock(),
    resetFields: [],
    versions: singleVersion(object.apiVersion, type),
  });
  const work = workOn(body.length);
  await work.run(noting);
  const context = lifeContext(services, request, info.namespace, options.dryRun);
  const attributes: AdmissionAttributes = {
    operation: 'CREATE',
    kind,
    resource: endpoint.resource,
    subresource: info.subresource,
    namespace: info.namespace,
    name: info.name,
    object,
    options,
    context,
    operations: services.ownOperations,
    annotate: (key, value, level) => request.annotate(key, value, level),
  };
  const { create } = subresource;
  const { code, object: made } = await noteStoring(span, body.length, async () => {
    await services.admission.admit(attributes);
    if (subresource.reviewsComplete !== true) await services.admission.validate(attributes);
    return create({
      name: info.name,
      namespace: info.namespace,
      body: object,
      context,
      operations: services.operations,
      review: (complete) => services.admission.validate({ ...attributes, object: complete }),
      annotate: (key, value) => request.annotate(key, value),
    });
  });
  span?.event('About to write a response');
  const rendering = { request: http, negotiated, converter: services.converter, work };
  return respondSized(rendering, code, typeOfAnswer(made, type), made);
}

/** Which of the other versions that a subresource accepts the body is in; undefined for its own or an unknown one. */
async function sentVersion(
  { mediaTypes, converter }: RestServices,
  http: HttpRequest,
  body: Buffer,
  { group, alsoVersions = [] }: Subresource,
): Promise<string | undefined> {
  try {
    const media = bodyMediaType(http, mediaTypes);
    const type = metaType('v1', 'PartialObjectMetadata');
    const { object } = await decodeSized(converter, { media, type, bytes: body, strict: false });
    const { apiVersion = '' } = object as KubeObject;
    return alsoVersions.find((version) => apiVersion === apiVersionOf({ group: group ?? '', version }));
  } catch (error) {
    // Errors in the body are reported when it is decoded in full.
    if (error instanceof WireError || error instanceof StatusError) return undefined;
    throw error;
  }
}

function matchParent({ metadata }: KubeObject, namespace: string): void {
  if (metadata.namespace === undefined || metadata.namespace === '') metadata.namespace = namespace;
  else if (metadata.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
}

export const typeOfAnswer = (made: object, type: StructType): StructType =>
  (made as { kind?: string }).kind === 'Status' ? metaType('v1', 'Status') : type;
