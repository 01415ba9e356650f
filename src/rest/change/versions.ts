// What server-side apply needs to know of a kind's other versions.
import crypto from 'node:crypto';
import type { MaybePromise } from '../../lib/async/maybe-promise.js';
import {
  apiVersionFault,
  apiVersionOf,
  type JsonObject,
  type KubeObject,
  parseApiVersion,
} from '../../machinery/object.js';
import type { GroupResource } from '../../machinery/status.js';
import { fromStorage } from '../../registry/storage-status.js';
import { OtherVersionError, UnconvertedError, type Versions } from '../../schema/apply/versions.js';
import { typeOf } from '../../schema/catalogue.js';
import { parseJsonTree } from '../../schema/json/decode.js';
import { deepCopy } from '../../schema/deep-copy.js';
import type { KindStorage, KindVersion } from '../../registry/kind.js';
import type { Endpoint } from '../contract/endpoint.js';

/** A kind's versions during one request. */
export interface Conversions {
  readonly versions: Versions;
  /** Runs work that may convert. The work runs again after a webhook was called, so it must have no effects. */
  readonly settle: <T>(work: () => MaybePromise<T>) => MaybePromise<T>;
}

const memo = new WeakMap<Endpoint, Conversions>();

export function conversionsOf(endpoint: Endpoint): Conversions {
  const { storage } = endpoint.definition;
  const convert = storage?.convert?.bind(storage);
  if (convert !== undefined) return webhookConversions(createVersions(endpoint), convert, endpoint.resource);
  let known = memo.get(endpoint);
  if (known === undefined) {
    known = { versions: createVersions(endpoint), settle: (work) => work() };
    memo.set(endpoint, known);
  }
  return known;
}

function createVersions({ definition, kind, type }: Endpoint): Versions {
  const versionAt = (apiVersion: string): KindVersion | undefined => {
    const { group, version } = parseApiVersion(apiVersion);
    if (group !== definition.group) return undefined;
    return [...definition.versions, ...(definition.unservedVersions ?? [])].find((one) => one.version === version);
  };
  return {
    typeAt(apiVersion) {
      if (apiVersion === apiVersionOf(kind)) return type;
      const version = versionAt(apiVersion);
      if (version === undefined && definition.custom) throw new OtherVersionError(unknownVersion(apiVersion));
      return version && (version.type ?? typeOf(definition.group, version.version, definition.kind));
    },
    convert(object, fromApiVersion, toApiVersion) {
      if (definition.custom) return { ...deepCopy(object), apiVersion: toApiVersion };
      const from = versionAt(fromApiVersion);
      const to = versionAt(toApiVersion);
      let converted = deepCopy(object) as unknown as KubeObject;
      if (from?.toStorage !== undefined) converted = from.toStorage(converted);
      if (to?.fromStorage !== undefined) converted = to.fromStorage(converted);
      converted.apiVersion = toApiVersion;
      return converted as unknown as JsonObject;
    },
  };
}

const unknownVersion = (apiVersion: string): string =>
  apiVersionFault(apiVersion) ?? `request to convert CR to an invalid group/version: ${apiVersion}`;

/** What came of a conversion, by the key of what was converted. */
export interface ResolvedConversion {
  readonly key: string;
  readonly object: Uint8Array;
}

/** Thrown through work that cannot call a webhook, to a caller that can, and runs the work again with the result. */
export class ConversionRequired extends Error {
  constructor(
    readonly key: string,
    readonly object: JsonObject,
    readonly apiVersion: string,
  ) {
    super('the conversion has not been made');
  }
}

/** As conversionsOf(), where no webhook can be called: the conversions by webhook have to be passed. */
export function resolvedVersions(endpoint: Endpoint, resolved: readonly ResolvedConversion[] = []): Versions {
  if (endpoint.definition.storage?.convert === undefined) return conversionsOf(endpoint).versions;
  return {
    typeAt: createVersions(endpoint).typeAt,
    convert(object, fromApiVersion, toApiVersion) {
      const stated = { ...object, apiVersion: fromApiVersion };
      const key = crypto
        .createHash('sha256')
        .update(JSON.stringify([toApiVersion, stated]))
        .digest('base64');
      const made = resolved.find((one) => one.key === key);
      if (made === undefined) throw new ConversionRequired(key, stated, toApiVersion);
      return parseJsonTree(made.object).value as JsonObject;
    },
  };
}

/** Thrown through work that cannot wait, to who can. */
class StillConverting extends Error {
  constructor(readonly converted: Promise<void>) {
    super('the conversion is not done yet');
  }
}

/** Conversions are memoized by what was converted: work that runs again builds its objects again, too. */
function webhookConversions(
  { typeAt }: Versions,
  convert: NonNullable<KindStorage['convert']>,
  resource: GroupResource,
): Conversions {
  const known = new Map<string, JsonObject | UnconvertedError>();
  const keep = (key: string) => (made: JsonObject | UnconvertedError) => void known.set(key, made);
  return {
    versions: {
      typeAt,
      convert(object, fromApiVersion, toApiVersion) {
        const stated = { ...object, apiVersion: fromApiVersion };
        const key = JSON.stringify([toApiVersion, stated]);
        const converted = known.get(key);
        if (converted instanceof UnconvertedError) throw converted;
        if (converted !== undefined) return deepCopy(converted);
        const making = convert(stated, toApiVersion).catch((failure: unknown) => new UnconvertedError(failure));
        throw new StillConverting(making.then(keep(key)));
      },
    },
    async settle(work) {
      for (;;) {
        try {
          return await work();
        } catch (error) {
          if (error instanceof UnconvertedError) throw fromStorage(error.why, resource, '');
          if (!(error instanceof StillConverting)) throw error;
          await error.converted;
        }
      }
    },
  };
}
