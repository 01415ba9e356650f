// The body of a PUT: read and checked once, then made the wanted object by each attempt to write it, here or in a worker.
import type { BodyTrail } from '../../audit/trail.js';
import { offload, type WorkerPool } from '../../lib/async/worker-pool.js';
import { type MaybePromise, whenReady } from '../../lib/async/maybe-promise.js';
import { workOn } from '../../lib/scheduling/sized-work.js';
import type { KubeObject } from '../../machinery/object.js';
import { workersFor } from '../../registry/registry.js';
import type { Found } from '../../registry/update.js';
import { encodeJson } from '../../schema/json/encode.js';
import type { Span } from '../../tracing/trace.js';
import { acceptChanged, expectedOf } from '../body/accept-body.js';
import { readBody } from '../body/decode-body.js';
import {
  type ChangeMade,
  type ChangeRequest,
  checkOnWorker,
  makeOnWorker,
  objectMade,
} from '../change/change-on-worker.js';
import { trackManagers } from '../change/track-managers.js';
import { conversionsOf } from '../change/versions.js';
import { type Endpoint, inVersion, toStorage } from '../contract/endpoint.js';
import { managerName } from '../contract/field-manager.js';
import type { WriteOptions } from '../contract/query-options.js';
import type { RestRequest } from '../contract/request.js';
import type { RestServices } from '../contract/services.js';
import { bodyMediaType } from '../wire/negotiate.js';

const CONVERTED = 'Conversion done';

interface SentUpdateParts {
  readonly services: RestServices;
  readonly endpoint: Endpoint;
  readonly request: RestRequest;
  readonly body: Buffer;
  readonly options: WriteOptions;
}

export class SentUpdate {
  readonly #parts: SentUpdateParts;
  readonly #manager: string;
  readonly #expected: ReturnType<typeof expectedOf>;
  readonly #conversions: ReturnType<typeof conversionsOf>;
  /** What was read first: the first attempt uses it up. */
  #object: KubeObject | undefined;

  constructor(parts: SentUpdateParts) {
    const { endpoint, request, options } = parts;
    this.#parts = parts;
    this.#manager = managerName(options.fieldManager, request.http);
    this.#expected = expectedOf(endpoint, request.info.subresource);
    this.#conversions = conversionsOf(endpoint);
  }

  /** Reads the body, warns of what is in it, and answers the uid that it names. */
  check(): MaybePromise<string | undefined> {
    const { endpoint, request, body } = this.#parts;
    const span = request.trace?.span;
    const inline = (): MaybePromise<KubeObject> => this.#read((text) => request.warn(text), request.trail, span);
    const checked = offload<KubeObject | ChangeMade>(
      workersFor(endpoint.registry, body.length),
      (workers) => checkOnWorker(workers, this.#changeRequest()),
      inline,
    );
    return whenReady(checked, (found) => {
      if ('metadata' in found) {
        this.#object = found;
        return found.metadata.uid;
      }
      span?.event(CONVERTED);
      return found.uid;
    });
  }

  /** The wanted object, made from the current one. */
  change(current: Readonly<KubeObject> | undefined, found: Found): MaybePromise<KubeObject> {
    const { endpoint } = this.#parts;
    const inline = (): MaybePromise<KubeObject> =>
      this.#conversions.settle(() => whenReady(this.#takeObject(), (object) => this.#track(object, current, found)));
    return offload(
      workersFor(endpoint.registry, found.bytes),
      (workers) => changeOnWorker(workers, this.#changeRequest(), found),
      inline,
    );
  }

  /** An attempt uses the object up. Another is rare, so the body is then read again rather than copied before. */
  #takeObject(): MaybePromise<KubeObject> {
    const object = this.#object ?? this.#read(() => undefined);
    this.#object = undefined;
    return object;
  }

  #read(warn: (text: string) => void, trail?: BodyTrail, span?: Span): MaybePromise<KubeObject> {
    const { services, endpoint, request, body, options } = this.#parts;
    const { mediaTypes, converter } = services;
    const reading = { converter, mediaTypes, fieldValidation: options.fieldValidation, warn };
    return whenReady(readBody(request.http, body, this.#expected, reading), (object) => {
      span?.event(CONVERTED);
      trail?.requestObject(object, (sent) => encodeJson(endpoint.type, sent));
      acceptChanged(endpoint, object, request.info, warn);
      return object;
    });
  }

  /** Notes in managedFields who wrote what, and brings the object into the storage version. */
  #track(object: KubeObject, current: Readonly<KubeObject> | undefined, { bytes }: Found): MaybePromise<KubeObject> {
    const { services, endpoint, request } = this.#parts;
    const steps = trackManagers(endpoint, {
      live: current === undefined ? undefined : inVersion(endpoint, current),
      object,
      manager: this.#manager,
      subresource: request.info.subresource,
      now: services.clock(),
      versions: this.#conversions.versions,
    });
    return whenReady(workOn(bytes).run(steps), () => toStorage(endpoint, object));
  }

  // hot: only what is large is made on a worker.
  #changeRequest(): ChangeRequest {
    const { services, endpoint, request, body, options } = this.#parts;
    return {
      endpoint,
      request,
      how: 'update',
      options: { ...options, force: false },
      manager: this.#manager,
      nowMs: services.clock().getTime(),
      body,
      mediaType: bodyMediaType(request.http, services.mediaTypes).name,
      subresource: request.info.subresource,
    };
  }
}

/** The body was read before, and what there was to warn of is known. */
async function changeOnWorker(workers: WorkerPool, change: ChangeRequest, { stored }: Found): Promise<KubeObject> {
  const { endpoint } = change;
  return objectMade(endpoint, await makeOnWorker(workers, change, { live: stored?.json }, () => undefined));
}
