// Asks a definition's webhook to bring objects into another version.
import { errorText } from '../../lib/error-text.js';
import { setMember } from '../../lib/plain-object.js';
import { apiVersionOf, type GroupVersionKind, type JsonObject, parseApiVersion } from '../../machinery/object.js';
import type { ReviewAnswer } from '../../schema/json/sent-review.js';
import { StorageError } from '../../storage/store.js';
import { restoreMetadata } from './restore-metadata.js';
import type { ConversionRecorder, FailureType } from './metrics.js';
import { ReviewError, readReview, reviewBody, reviewVersion } from './review.js';

export interface Converter {
  /** The objects in another version, in their order. They stay as they are. Throws StorageError. */
  convert(objects: readonly Readonly<JsonObject>[], apiVersion: string): Promise<JsonObject[]>;
}

export interface ConverterOptions {
  readonly reviewVersions: readonly string[];
  /** Sends a review and answers what came back. Rejects with an Error whose message tells why nothing did. */
  readonly ask: (body: string | Buffer) => Promise<ReviewAnswer>;
  readonly newUid: () => string;
  readonly recorder?: ConversionRecorder | undefined;
}

export function webhookConverter({ reviewVersions, ask, newUid, recorder }: ConverterOptions): Converter {
  return {
    async convert(objects, apiVersion) {
      const source = kindOf(objects[0] ?? {});
      const startedMs = performance.now();
      const observe = (failure?: FailureType): void =>
        recorder?.converted(source.version, apiVersion, (performance.now() - startedMs) / 1000, failure);
      try {
        const converted = await convertAll(objects, apiVersion, { reviewVersions, ask, newUid });
        observe();
        return converted;
      } catch (error) {
        if (!(error instanceof ConversionFailure)) throw error;
        observe(error.type);
        const told = error.bare ? error.message : `conversion webhook for ${kindText(source)} ${error.message}`;
        throw new StorageError('conversion', told);
      }
    },
  };
}

class ConversionFailure extends Error {
  constructor(
    readonly type: FailureType,
    message: string,
    /** The message is all that is told. */
    readonly bare = false,
  ) {
    super(message);
  }
}

async function convertAll(
  objects: readonly Readonly<JsonObject>[],
  apiVersion: string,
  { reviewVersions, ask, newUid }: Pick<ConverterOptions, 'reviewVersions' | 'ask' | 'newUid'>,
): Promise<JsonObject[]> {
  const version = reviewVersion(reviewVersions);
  const uid = newUid();
  const body = await reviewBody(version, { uid, desiredAPIVersion: apiVersion, objects });
  const answer = await ask(body).catch((error: unknown) => {
    throw new ConversionFailure('call', `failed: ${errorText(error)}`);
  });
  let converted: readonly unknown[];
  try {
    converted = await readReview(version, uid, answer);
  } catch (error) {
    if (!(error instanceof ReviewError)) throw error;
    throw new ConversionFailure(error.unreadable ? 'call' : 'malformed_response', `failed: ${error.message}`);
  }
  if (converted.length !== objects.length) {
    throw new ConversionFailure('partial_response', `returned ${converted.length} objects, expected ${objects.length}`);
  }
  return converted.map((object, index) => accepted(objects[index] ?? {}, object, apiVersion));
}

/** What came back, with all that a webhook may not change as it was. */
function accepted(original: Readonly<JsonObject>, converted: unknown, apiVersion: string): JsonObject {
  const invalid = (message: string, bare = false): ConversionFailure =>
    new ConversionFailure('invalid_converted_object', message, bare);
  if (converted === null || converted === undefined) throw invalid('unexpected end of JSON input', true);
  if (typeof converted !== 'object' || Array.isArray(converted)) {
    throw invalid(`returned invalid object at index 0: no object`);
  }
  const object = converted as JsonObject;
  const { kind } = object;
  if (typeof kind !== 'string' || kind === '') {
    throw invalid(`Object 'Kind' is missing in '${JSON.stringify(object)}'`, true);
  }
  const got = typeof object['apiVersion'] === 'string' ? object['apiVersion'] : '';
  if (got !== apiVersion) {
    throw invalid(`returned invalid object at index 0: invalid groupVersion (expected ${apiVersion}, received ${got})`);
  }
  const expected = kindOf(original).kind;
  if (kind !== expected) {
    throw invalid(`returned invalid object at index 0: invalid kind (expected ${expected}, received ${kind})`);
  }
  const restored = restoreMetadata(original, object);
  if ('fault' in restored) throw invalid(`returned ${restored.fault}`);
  setMember(object, 'metadata', restored.metadata);
  return object;
}

function kindOf({ apiVersion, kind }: Readonly<JsonObject>): GroupVersionKind {
  return {
    ...parseApiVersion(typeof apiVersion === 'string' ? apiVersion : ''),
    kind: typeof kind === 'string' ? kind : '',
  };
}

const kindText = (kind: GroupVersionKind): string => `${apiVersionOf(kind)}, Kind=${kind.kind}`;
