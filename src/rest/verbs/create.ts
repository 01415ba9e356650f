import { offload, type WorkerPool } from '../../lib/async/worker-pool.js';
import type { HttpResponse } from '../../lib/http/http.js';
import { type MaybePromise, whenReady } from '../../lib/async/maybe-promise.js';
import { LARGE, workOn } from '../../lib/scheduling/sized-work.js';
import { yieldToEventLoop } from '../../lib/scheduling/yield.js';
import type { KubeObject } from '../../machinery/object.js';
import { create } from '../../registry/create.js';
import { workersFor } from '../../registry/registry.js';
import { encodeJson } from '../../schema/json/encode.js';
import type { AdmissionAttributes } from '../../admission/plugin.js';
import { tidyAdmitted } from './after-admission.js';
import { acceptNew, expectedOf } from '../body/accept-body.js';
import { type ChangeRequest, makeOnWorker, objectMade, wantedOf } from '../change/change-on-worker.js';
import { readBody } from '../body/decode-body.js';
import { type Endpoint, toStorage } from '../contract/endpoint.js';
import { managerName } from '../contract/field-manager.js';
import { trackManagers } from '../change/track-managers.js';
import { bodyMediaType, negotiate, WITHOUT_TABLES } from '../wire/negotiate.js';
import { typeOfAnswer } from './create-subresource.js';
import { createOptions, type WriteOptions } from '../contract/query-options.js';
import { noteStoring } from '../contract/record-verb.js';
import type { RestRequest } from '../contract/request.js';
import { respondSized } from '../answer/respond.js';
import { respondTimed } from '../answer/timed.js';
import { readRequestBody } from '../body/read-body.js';
import { lifeContext, type RestServices } from '../contract/services.js';
import { conversionsOf } from '../change/versions.js';

// hot: one parse, one encode and one durable write.
export async function createObject(
  services: RestServices,
  endpoint: Endpoint,
  request: RestRequest,
): Promise<HttpResponse> {
  const { http, info } = request;
  const { definition, registry } = endpoint;
  const path = definition.virtual?.create === undefined ? undefined : WITHOUT_TABLES;
  const negotiated = negotiate(http, services.mediaTypes, path);
  bodyMediaType(http, services.mediaTypes);
  const span = request.trace?.span;
  const body = await readRequestBody(services, endpoint, request, 'create');
  const work = workOn(body.length);
  const options = createOptions(http);
  span?.event('About to convert to expected version');
  const sent: SentNew = { services, endpoint, request, body, options };
  const making = offload(
    workersFor(registry, body.length),
    (workers) => makeNewOnWorker(workers, sent),
    () => makeInline(sent),
  );
  const object = making instanceof Promise ? await making : making;
  if (work.isLarge) await work.pause();
  const namespace = namespaceOf(endpoint, info.namespace, object);
  const context = lifeContext(services, request, namespace, options.dryRun);
  const attributes: AdmissionAttributes = {
    operation: 'CREATE',
    kind: endpoint.kind,
    resource: endpoint.resource,
    subresource: '',
    namespace,
    // A custom resource may be created at the path of any, by the name its body has.
    name: info.name || (object.metadata.name ?? ''),
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
    const { virtual } = definition;
    if (virtual?.create !== undefined) {
      await services.admission.validate(attributes);
      const made = await virtual.create(object, context);
      const answer = typeOfAnswer(made, endpoint.type);
      const answering = virtual.largeAnswers === true ? LARGE : work;
      const rendering = { request: http, negotiated, converter: services.converter, work: answering };
      return () => respondSized(rendering, 201, answer, made);
    }
    if (work.isLarge) await work.pause();
    const stored = await create(registry, {
      object,
      bytes: body.length,
      context: definition.namespaced ? context : { ...context, namespace: '' },
      admit: (finished) =>
        services.admission.validate({
          ...attributes,
          object: finished,
          // The requested name, whatever a webhook has made of it; a name that was generated is known only now.
          name: attributes.name || (finished.metadata.name ?? ''),
        }),
    });
    return () =>
      respondTimed(
        request,
        { endpoint, request: http, negotiated, clock: services.clock, converter: services.converter },
        201,
        stored,
      );
  });
  span?.event('About to write a response');
  return respond();
}

interface SentNew {
  readonly services: RestServices;
  readonly endpoint: Endpoint;
  readonly request: RestRequest;
  readonly body: Buffer;
  readonly options: WriteOptions;
}

/** The object that was sent, as it is stored. */
function makeInline(sent: SentNew): MaybePromise<KubeObject> {
  const { services, endpoint, request, body, options } = sent;
  const { mediaTypes, converter } = services;
  const { fieldValidation } = options;
  const warn = (text: string): void => request.warn(text);
  const reading = readBody(request.http, body, expectedOf(endpoint), { converter, mediaTypes, fieldValidation, warn });
  if (!(reading instanceof Promise)) return noted(sent, reading);
  return reading.then(async (decoded) => {
    await yieldToEventLoop();
    return noted(sent, decoded);
  });
}

function noted({ services, endpoint, request, body, options }: SentNew, decoded: KubeObject): MaybePromise<KubeObject> {
  request.trace?.span?.event('Conversion done');
  request.trail?.requestObject(decoded, (object) => encodeJson(endpoint.type, object));
  acceptNew(endpoint, decoded, request.info, (text) => request.warn(text));
  const { versions, settle } = conversionsOf(endpoint);
  const manager = managerName(options.fieldManager, request.http);
  const { managedFields } = decoded.metadata;
  const noting = settle(() => {
    if (managedFields !== undefined) decoded.metadata.managedFields = managedFields;
    const now = services.clock();
    const work = workOn(body.length);
    const write = { live: undefined, object: decoded, manager, subresource: '', now, small: !work.isLarge, versions };
    return work.run(trackManagers(endpoint, write));
  });
  return whenReady(noting, () => toStorage(endpoint, decoded));
}

async function makeNewOnWorker(
  workers: WorkerPool,
  { services, endpoint, request, body, options }: SentNew,
): Promise<KubeObject> {
  const change: ChangeRequest = {
    endpoint,
    request,
    how: 'create',
    options: { ...options, force: false },
    manager: managerName(options.fieldManager, request.http),
    nowMs: services.clock().getTime(),
    body,
    mediaType: bodyMediaType(request.http, services.mediaTypes).name,
    subresource: '',
  };
  const made = await makeOnWorker(workers, change, wantedOf(request));
  request.trace?.span?.event('Conversion done');
  return objectMade(endpoint, made);
}

/** A namespace is in itself, for what reads the namespace of a request. */
function namespaceOf(endpoint: Endpoint, namespace: string, object: KubeObject): string {
  const { group, resource } = endpoint.resource;
  if (group === '' && resource === 'namespaces') return object.metadata.name ?? '';
  return namespace;
}
