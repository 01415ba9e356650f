// Calls a CRD's webhook to convert objects into another version.
import { offload, workersForBytes } from '../../lib/async/worker-pool.js';
import { errorText } from '../../lib/text/error-text.js';
import {
  apiVersionOf,
  type GroupVersionKind,
  type JsonObject,
  type KubeObject,
  parseApiVersion,
} from '../../machinery/object.js';
import { DecodeError } from '../../schema/json/decode.js';
import type { ReviewAnswer } from '../../schema/json/sent-review.js';
import { StorageError } from '../../storage/store.js';
import { acceptOnWorker, type Elsewhere } from './accept.worker.js';
import { acceptConverted, type ConversionRequest, ConversionFailure } from './accept-converted.js';
import type { ConversionRecorder, FailureType } from './metrics.js';
import { reviewBody, reviewVersion } from './review.js';
import type { Converted } from './converted.js';

export interface Converter {
  /** The objects in another version, in their order. They stay as they are. Throws StorageError. */
  convert(objects: readonly Readonly<JsonObject>[], apiVersion: string, form?: Form): Promise<Converted[]>;
}

/** What is made of the objects that came back; without it they stay as they are. */
export interface Form {
  /** Drops what the version does not know, in place. Throws DecodeError. */
  readonly prune?: (object: JsonObject) => KubeObject;
  /** The workers that do so with the objects of a long answer. */
  readonly elsewhere?: Elsewhere | undefined;
}

export interface ConverterOptions {
  readonly reviewVersions: readonly string[];
  /** Sends a review and returns the answer. Rejects with an Error whose message says why there is none. */
  readonly ask: (body: string | Buffer) => Promise<ReviewAnswer>;
  readonly newUid: () => string;
  readonly recorder?: ConversionRecorder | undefined;
}

export function webhookConverter({ reviewVersions, ask, newUid, recorder }: ConverterOptions): Converter {
  return {
    async convert(objects, apiVersion, form = {}) {
      const source = kindOf(objects[0] ?? {});
      const startedMs = performance.now();
      const observe = (failure?: FailureType): void =>
        recorder?.converted(source.version, apiVersion, (performance.now() - startedMs) / 1000, failure);
      try {
        const converted = await convertAll(objects, apiVersion, form, { reviewVersions, ask, newUid });
        observe();
        return converted;
      } catch (error) {
        if (!(error instanceof ConversionFailure)) throw error;
        observe(error.type);
        const message = error.bare ? error.message : `conversion webhook for ${kindText(source)} ${error.message}`;
        throw new StorageError('conversion', message);
      }
    },
  };
}

async function convertAll(
  objects: readonly Readonly<JsonObject>[],
  apiVersion: string,
  form: Form,
  { reviewVersions, ask, newUid }: Pick<ConverterOptions, 'reviewVersions' | 'ask' | 'newUid'>,
): Promise<Converted[]> {
  const version = reviewVersion(reviewVersions);
  const uid = newUid();
  const body = await reviewBody(version, { uid, desiredAPIVersion: apiVersion, objects });
  const answer = await ask(body).catch((error: unknown) => {
    throw new ConversionFailure('call', `failed: ${errorText(error)}`);
  });
  const originals = objects.map((object) => ({ kind: kindOf(object).kind, metadata: object['metadata'] }));
  const request: ConversionRequest = { version, uid, apiVersion, originals };
  const inline = (): Converted[] =>
    acceptConverted(request, answer).map((object) => ({ object: () => inForm(form, object) }));
  const { elsewhere } = form;
  if (elsewhere === undefined) return inline();
  return offload(
    workersForBytes(elsewhere.workers, answer.body.length),
    () => acceptOnWorker(elsewhere, request, answer),
    inline,
  );
}

/** Throws StorageError. */
export function inForm({ prune }: Form, object: JsonObject): KubeObject {
  if (prune === undefined) return object as JsonObject & KubeObject;
  try {
    return prune(object);
  } catch (error) {
    if (error instanceof DecodeError) throw new StorageError('conversion', error.message);
    throw error;
  }
}

function kindOf({ apiVersion, kind }: Readonly<JsonObject>): GroupVersionKind {
  return {
    ...parseApiVersion(typeof apiVersion === 'string' ? apiVersion : ''),
    kind: typeof kind === 'string' ? kind : '',
  };
}

const kindText = (kind: GroupVersionKind): string => `${apiVersionOf(kind)}, Kind=${kind.kind}`;
