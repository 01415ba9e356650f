// What a large body makes of an object, computed on a worker: the body is decoded, defaults are filled in, a patch is
// applied, managed fields are recorded, and the object is brought into the form it is stored in.
import type { SentWanted } from '../../audit/trail.js';
import type { SentMetadata } from '../../audit/sent-object.js';
import { type WorkerPool, task } from '../../lib/async/worker-pool.js';
import { bufferOf } from '../../lib/values/buffer-of.js';
import type { JsonObject, KubeObject } from '../../machinery/object.js';
import { decodeTransferredCooperatively, encodeForTransferCooperatively } from '../../registry/transferred-object.js';
import { deserializeStatus, type SerializedStatus } from '../../registry/serialized-status.js';
import { fromStorage } from '../../registry/storage-status.js';
import type { Addressed } from '../body/accept-body.js';
import type { Endpoint } from '../contract/endpoint.js';
import { type EndpointWork, runForEndpoint } from '../contract/endpoint-task.js';
import type { PatchKind } from '../patch/patch-kinds.js';
import type { FieldValidation } from '../contract/query-options.js';
import type { RestRequest } from '../contract/request.js';
import type { ResolvedConversion } from './versions.js';

export interface ChangeWork extends EndpointWork {
  readonly subresource: string;
  readonly how: 'create' | 'update' | PatchKind;
  readonly path: Addressed;
  readonly options: ChangeOptions;
  /** Who writes, when not by apply. */
  readonly manager: string;
  readonly nowMs: number;
  /** As it was sent, or a patch as it was read before. */
  readonly body: Uint8Array;
  /** The media type of an object. */
  readonly mediaType?: string;
  readonly read?: ReadBefore;
  /** What is stored. */
  readonly live?: Uint8Array | undefined;
  /** Only whether the body can be read, and what it says of itself. */
  readonly checkOnly: boolean;
  /** What the audit trail needs of the object as it was read. */
  readonly wantsSent?: SentWanted;
  /** What others have made of the objects that the work wanted in other versions. */
  readonly conversions?: readonly ResolvedConversion[];
}

export interface ChangeOptions {
  readonly fieldValidation: FieldValidation;
  readonly fieldManager: string;
  readonly force: boolean;
}

/** What was reported about a patch when it was read. */
export interface ReadBefore {
  readonly duplicates: readonly string[];
  readonly strictError?: string | undefined;
}

export interface ChangeMade {
  readonly warnings: readonly string[];
  readonly refused?: SerializedStatus;
  /** In the storage version. */
  readonly object?: Uint8Array;
  /** Of a scale: the ones it was seen and sent as. */
  readonly scales?: { readonly live: Uint8Array; readonly sent: Uint8Array };
  /** What the object that was read said of itself. */
  readonly reference?: SentMetadata;
  /** It, in the endpoint's version, as it is recorded. */
  readonly sent?: Uint8Array;
  readonly uid?: string;
  /** A patch as a tree. */
  readonly tree?: Uint8Array;
  readonly read?: ReadBefore;
  /** It could not be made without this conversion. */
  readonly wants?: ResolvedConversion & { readonly apiVersion: string };
}

export const CHANGE = task<ChangeWork, ChangeMade>('change');

/** What the works on one request have in common. */
export type ChangeRequest = Pick<
  ChangeWork,
  'how' | 'options' | 'manager' | 'nowMs' | 'body' | 'mediaType' | 'subresource'
> & { readonly endpoint: Endpoint; readonly request: RestRequest };

export async function makeOnWorker(
  workers: WorkerPool,
  { endpoint, request, ...change }: ChangeRequest,
  more: Partial<Pick<ChangeWork, 'live' | 'checkOnly' | 'wantsSent' | 'read' | 'body'>>,
  warn = (text: string): void => request.warn(text),
): Promise<ChangeMade> {
  const { namespace, name } = request.info;
  const { fieldValidation, fieldManager, force } = change.options;
  const work: Omit<ChangeWork, keyof EndpointWork> = {
    checkOnly: false,
    ...change,
    options: { fieldValidation, fieldManager, force },
    ...more,
    path: { namespace, name },
  };
  const made = await withConversions(endpoint, (conversions) =>
    runForEndpoint(workers, CHANGE, endpoint, { work: { ...work, conversions }, deadlineMs: request.deadlineMs }),
  );
  for (const text of made.warnings) warn(text);
  recordSent(request, made);
  if (made.refused !== undefined) throw deserializeStatus(made.refused);
  return made;
}

/** A conversion that needs a webhook is made on the main thread, and the change made anew with its result. */
async function withConversions(
  { definition, resource }: Endpoint,
  make: (conversions: readonly ResolvedConversion[]) => Promise<ChangeMade>,
): Promise<ChangeMade> {
  const resolved: ResolvedConversion[] = [];
  for (;;) {
    const made = await make(resolved);
    if (made.wants === undefined) return made;
    const { key, apiVersion, object } = made.wants;
    try {
      const wanted = (await decodeTransferredCooperatively(definition, object)) as KubeObject & JsonObject;
      const converted = await definition.storage?.convert?.(wanted, apiVersion);
      resolved.push({ key, object: await encodeForTransferCooperatively(converted ?? wanted) });
    } catch (error) {
      throw fromStorage(error, resource, '');
    }
  }
}

/** The object that a change has made. */
export function objectMade({ definition }: Endpoint, { object }: ChangeMade): Promise<KubeObject> {
  if (object === undefined) throw new Error('a change made no object');
  return decodeTransferredCooperatively(definition, object);
}

/** Passes on what the audit trail needs. */
export const wantedOf = ({ trail }: RestRequest): Pick<ChangeWork, 'wantsSent'> =>
  trail === undefined ? {} : { wantsSent: trail.wantsSent };

function recordSent({ trail }: RestRequest, { reference, sent }: ChangeMade): void {
  if (reference !== undefined) trail?.requestEncoded(reference, sent && bufferOf(sent));
}

/** Whether the body of an update can be read, and what it says of itself. */
export const checkOnWorker = (workers: WorkerPool, change: ChangeRequest): Promise<ChangeMade> =>
  makeOnWorker(workers, change, { checkOnly: true, ...wantedOf(change.request) });
