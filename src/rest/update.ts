import type { HttpResponse } from '../lib/http.js';
import { matchNamespace } from '../registry/system-fields.js';
import { deepCopy } from '../schema/deep-copy.js';
import { expectedOf } from './create.js';
import { decodeBody } from './decode-body.js';
import { type Endpoint, inVersion, toStorage } from './endpoint.js';
import { managerName } from './field-manager.js';
import { negotiate } from './negotiate.js';
import { noteWrite } from './note-write.js';
import { dedupOwnerReferences } from './owner-references.js';
import { updateOptions } from './query-options.js';
import type { RestRequest } from './request.js';
import { respondObject } from './respond.js';
import type { RestServices } from './services.js';
import { checkName, writeObject } from './write-object.js';

/** PUT of an object or of a subresource that has the object's own form. */
export async function updateObject(
  services: RestServices,
  endpoint: Endpoint,
  request: RestRequest,
): Promise<HttpResponse> {
  const { http, info } = request;
  const negotiated = negotiate(http, services.mediaTypes);
  const body = await http.body(services.maxBodyBytes);
  const options = updateOptions(http.query);
  const sent = decodeBody(http, body, expectedOf(endpoint), {
    mediaTypes: services.mediaTypes,
    fieldValidation: options.fieldValidation,
    warn: (text) => request.warn(text),
  });
  matchNamespace(sent, endpoint.definition.namespaced, info.namespace);
  checkName(sent, info.name);
  dedupOwnerReferences(sent, (text) => request.warn(text), false);
  const manager = managerName(options.fieldManager, http);
  const { stored, created } = await writeObject(services, endpoint, {
    request,
    subresource: info.subresource,
    dryRun: options.dryRun,
    options,
    uid: sent.metadata.uid,
    async change(current) {
      const object = deepCopy(sent);
      const live = current === undefined ? undefined : inVersion(endpoint, current);
      noteWrite(endpoint, { live, object, manager, subresource: info.subresource, now: services.clock() });
      return toStorage(endpoint, object);
    },
  });
  return respondObject({ endpoint, request: http, negotiated, now: services.clock() }, created ? 201 : 200, stored);
}
