import type { HttpResponse } from '../lib/http.js';
import { atOnce, inTurns, LARGE_BYTES, nextTurn } from '../lib/turns.js';
import type { KubeObject } from '../machinery/object.js';
import { create } from '../registry/create.js';
import { matchNamespace, wipeSystemFields } from '../registry/system-fields.js';
import { encodeJson } from '../schema/json/encode.js';
import { deepCopy } from '../schema/deep-copy.js';
import type { AdmissionAttributes } from '../admission/plugin.js';
import { tidyAdmitted } from './after-admission.js';
import { readBody, type Expected } from './decode-body.js';
import { type Endpoint, toStorage } from './endpoint.js';
import { managerName } from './field-manager.js';
import { noteSteps } from './note-write.js';
import { negotiate } from './negotiate.js';
import { dedupOwnerReferences } from './owner-references.js';
import { typeOfAnswer } from './create-subresource.js';
import { createOptions } from './query-options.js';
import { noteStoring } from './record-verb.js';
import type { RestRequest } from './request.js';
import { respondObject, respondValue } from './respond.js';
import { lifeContext, type RestServices } from './services.js';
import { conversionsOf } from './versions.js';

// hot: one parse, one encode and one durable write.
export async function createObject(
  services: RestServices,
  endpoint: Endpoint,
  request: RestRequest,
): Promise<HttpResponse> {
  const { http, info } = request;
  const { definition, registry } = endpoint;
  const negotiated = negotiate(http, services.mediaTypes, { tables: endpoint.definition.virtualCreate === undefined });
  const span = request.trace?.span;
  const body = await http.body(services.maxBodyBytes);
  span?.event('limitedReadBody succeeded', { len: body.length });
  const large = body.length > LARGE_BYTES;
  const options = createOptions(http);
  span?.event('About to convert to expected version');
  const reading = readBody(services.converter, http, body, expectedOf(endpoint), {
    mediaTypes: services.mediaTypes,
    fieldValidation: options.fieldValidation,
    warn: (text) => request.warn(text),
  });
  const decoded = reading instanceof Promise ? await reading : reading;
  span?.event('Conversion done');
  request.trail?.requestObject(decoded, (object) => encodeJson(endpoint.type, object));
  if (large) await nextTurn();
  wipeSystemFields(decoded);
  const namespace = namespaceOf(endpoint, info.namespace, decoded);
  matchNamespace(decoded, definition.namespaced, info.namespace);
  dedupOwnerReferences(decoded, (text) => request.warn(text), false);
  const { versions, settle } = conversionsOf(endpoint);
  const manager = managerName(options.fieldManager, http);
  const { managedFields } = decoded.metadata;
  const noted = settle(() => {
    if (managedFields !== undefined) decoded.metadata.managedFields = managedFields;
    const now = services.clock();
    const steps = noteSteps(endpoint, { live: undefined, object: decoded, manager, subresource: '', now, versions });
    return large ? inTurns(steps) : atOnce(steps);
  });
  if (noted !== undefined) await noted;
  if (large) await nextTurn();
  const object = toStorage(endpoint, decoded);
  const context = lifeContext(services, request, namespace, options.dryRun);
  const attributes: AdmissionAttributes = {
    operation: 'CREATE',
    kind: endpoint.kind,
    resource: endpoint.resource,
    subresource: '',
    namespace,
    name: object.metadata.name ?? '',
    object,
    options,
    context,
    operations: services.ownOperations,
    annotate: (key, value, level) => request.annotate(key, value, level),
  };
  const owned = object.metadata.managedFields;
  const respond = await noteStoring(span, body.length, async () => {
    const admitting = services.admission.admit(attributes);
    if (admitting !== undefined) await admitting;
    tidyAdmitted(object, owned, (text) => request.warn(text));
    if (definition.virtualCreate !== undefined) {
      await services.admission.validate(attributes);
      const made = await definition.virtualCreate(object, context);
      return () => respondValue({ request: http, negotiated }, 201, typeOfAnswer(made, endpoint.type), made);
    }
    if (large) await nextTurn();
    const stored = await create(registry, {
      object,
      bytes: body.length,
      context: definition.namespaced ? context : { ...context, namespace: '' },
      admit: (finished) =>
        services.admission.validate({ ...attributes, object: finished, name: finished.metadata.name ?? '' }),
      copy: deepCopy,
    });
    return () =>
      respondObject(
        { endpoint, request: http, negotiated, clock: services.clock, converter: services.converter },
        201,
        stored,
      );
  });
  span?.event('About to write a response');
  return respond();
}

/** A namespace is in itself, for whoever asks where a request happens. */
export function namespaceOf(endpoint: Endpoint, namespace: string, object: KubeObject): string {
  const { group, resource } = endpoint.resource;
  if (group === '' && resource === 'namespaces') return object.metadata.name ?? '';
  return namespace;
}

/** What the body of a write to an endpoint must be. */
export function expectedOf(endpoint: Endpoint): Expected {
  let known = expectations.get(endpoint);
  if (known === undefined) {
    const { kind, type, version } = endpoint;
    known = { kind, type, defaults: version.defaults?.bind(version) };
    expectations.set(endpoint, known);
  }
  return known;
}

const expectations = new WeakMap<Endpoint, Expected>();
