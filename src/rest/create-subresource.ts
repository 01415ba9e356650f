import type { AdmissionAttributes } from '../admission/plugin.js';
import type { HttpResponse } from '../lib/http.js';
import type { KubeObject } from '../machinery/object.js';
import { badRequest } from '../machinery/status.js';
import type { Subresource } from '../registry/kind.js';
import { typeOf } from '../schema/catalogue.js';
import type { StructType } from '../schema/type.js';
import { decodeBody } from './decode-body.js';
import type { Endpoint } from './endpoint.js';
import { negotiate } from './negotiate.js';
import { createOptions } from './query-options.js';
import type { RestRequest } from './request.js';
import { metaType, respondValue } from './respond.js';
import { lifeContext, type RestServices } from './services.js';

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
  const negotiated = negotiate(http, services.mediaTypes);
  const body = await http.body(services.maxBodyBytes);
  const options = createOptions(http.query);
  const object = decodeBody(
    http,
    body,
    { kind, type, defaults: subresource.defaults?.bind(subresource) },
    { mediaTypes: services.mediaTypes, fieldValidation: options.fieldValidation, warn: (text) => request.warn(text) },
  );
  matchParent(object, info.namespace);
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
    operations: services.operations,
    annotate: (key, value) => request.annotate(key, value),
  };
  await services.admission.admit(attributes);
  await services.admission.validate(attributes);
  const { code, object: made } = await subresource.create({
    name: info.name,
    namespace: info.namespace,
    body: object,
    context,
    operations: services.operations,
  });
  return respondValue({ request: http, negotiated }, code, typeOfAnswer(made, type), made);
}

function matchParent({ metadata }: KubeObject, namespace: string): void {
  if (metadata.namespace === undefined || metadata.namespace === '') metadata.namespace = namespace;
  else if (metadata.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
}

const typeOfAnswer = (made: object, type: StructType): StructType =>
  (made as { kind?: string }).kind === 'Status' ? metaType('v1', 'Status') : type;
