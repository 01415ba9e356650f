// A whole API without sockets, filters or disks: requests go straight to the router, objects into memory.
import { answeredJson } from '../../audit/answered-json.js';
import { recordedPatch } from '../../audit/patch-json.js';
import { sentJson } from '../../audit/trail.js';
import { whenReady } from '../../lib/async/maybe-promise.js';
import { append } from '../../lib/values/append.js';
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { createRestMetrics } from '../../rest/contract/metrics.js';
import { WatchBuffers } from '../../rest/wire/watch-buffers.js';
import { parseRequestInfo } from '../../filters/request-info.js';
import { testRequest } from '../../filters/testing.js';
import type { AdmissionChain } from '../../admission/plugin.js';
import type { Authorizer } from '../../authz/authorizer.js';
import type { WorkerPool } from '../../lib/async/worker-pool.js';
import type { Clock } from '../../lib/async/clock.js';
import { MetricRegistry } from '../../lib/telemetry/metrics.js';
import type { Dialer } from '../../outbound/dialer.js';
import { OutboundError } from '../../outbound/outbound-error.js';
import type { KeyValueStore } from '../../kv/kv.js';
import { openMemoryStore } from '../../kv/memory.js';
import { type HttpResponse, isStream, type ResponseSink } from '../../lib/http/http.js';
import { apiEnablement, type EmulatedApis, type RuntimeConfig } from '../../machinery/api-enablement.js';
import { chooseFeatureGates } from '../../machinery/feature-gates.js';
import { RELEASE } from '../../machinery/names.js';
import type { ObjectMeta } from '../../machinery/object.js';
import { requestEntityTooLarge, type StatusDetails } from '../../machinery/status.js';
import type { UserInfo } from '../../machinery/user.js';
import type { KindDefinition, LifeContext } from '../../registry/kind.js';
import { convertInline } from '../../rest/wire/convert-bytes.js';
import { MEDIA_TYPES_WITH_CBOR } from '../../rest/wire/media-types.js';
import { createRouter, type Router } from '../../rest/router.js';
import type { RestServices } from '../../rest/contract/services.js';
import { fieldsText } from '../../schema/lazy-fields.js';
import { EncodedBytes } from '../../storage/encoded-bytes.js';
import { createResourceStore } from '../../storage/create-store.js';
import type { ObjectCodec } from '../../storage/store.js';
import { type KubeletFlags, buildNodeAccess } from '../outgoing/node-access.js';
import { withDefaultsOf } from '../kinds/kinds.js';
import { Resources } from '../kinds/resources.js';

export interface TestApiOptions {
  readonly kinds: readonly KindDefinition[];
  /** The feature gates; by default those of this release. */
  readonly gates?: Readonly<Record<string, boolean>>;
  readonly emulated?: EmulatedApis;
  readonly runtimeConfig?: RuntimeConfig;
  readonly kv?: KeyValueStore;
  readonly cache?: boolean;
  readonly admission?: Partial<AdmissionChain>;
  readonly authorize?: Authorizer['authorize'];
  readonly services?: Partial<RestServices>;
  readonly workers?: WorkerPool;
  /** Connects to nodes; by default no node can be reached. */
  readonly dialer?: Dialer;
}

export interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON. */
  readonly body?: object | string | Buffer;
  readonly user?: UserInfo;
  /** Aborts when the client is gone. */
  readonly signal?: AbortSignal;
}

/** What tests look at in an answer, of whatever kind it is. */
export interface Body {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: ObjectMeta & { readonly continue?: string; readonly remainingItemCount?: number };
  readonly message: string;
  readonly reason?: string;
  readonly code?: number;
  readonly details?: StatusDetails;
  readonly data?: Readonly<Record<string, string>>;
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status: unknown;
  readonly items: readonly Body[];
  readonly rows: readonly { readonly cells: readonly unknown[]; readonly object: Body | null }[];
  readonly columnDefinitions: readonly { readonly name: string }[] | null;
}

export interface Answer {
  readonly status: number;
  readonly headers: HttpResponse['headers'];
  readonly bytes: Buffer;
  readonly warnings: readonly string[];
  readonly annotations: ReadonlyMap<string, string>;
  /** The layers that latency was recorded for. */
  readonly layers: readonly string[];
  readonly recorded: Recorded;
  readonly body: Body;
}

/** What an audit would have of the request and its answer. */
export interface Recorded {
  name: string | undefined;
  sent: string | undefined;
  answered: string | undefined;
}

export interface WatchedEvent {
  readonly type: string;
  readonly object: Body;
}

/** An open watch. */
export interface TestWatch {
  readonly status: number;
  readonly headers: HttpResponse['headers'];
  /** The next event of a JSON watch. */
  next(): Promise<WatchedEvent>;
  /** The next piece of any watch, as written. */
  nextBytes(): Promise<Buffer>;
  /** Settles when the server has ended the stream; `stop` makes it do so. */
  readonly ended: Promise<void>;
  stop(): void;
}

export class TestApi {
  readonly kv: KeyValueStore;
  /** Objects in other forms than the stored one. */
  readonly encoded = new EncodedBytes();
  readonly resources: Resources;
  nowMs = Date.parse('2024-05-01T10:00:00Z');
  readonly #timers = new Set<{ readonly atMs: number; readonly callback: () => void }>();
  readonly #clock: Clock = {
    now: () => this.nowMs,
    after: (ms, callback) => {
      const timer = { atMs: this.nowMs + ms, callback };
      this.#timers.add(timer);
      return () => this.#timers.delete(timer);
    },
  };
  /** What the filters hand requests to. */
  readonly router: Router;
  readonly #services: RestServices;

  constructor(options: TestApiOptions) {
    this.kv = options.kv ?? openMemoryStore();
    const clock = (): Date => new Date(this.nowMs);
    this.resources = new Resources({
      prefix: '/registry',
      openStore: (store) =>
        createResourceStore({
          kv: this.kv,
          options: { ...store, codec: freezing(store.codec) },
          cache: options.cache ?? true,
          clock: this.#clock,
          encoded: this.encoded,
        }),
      clock,
      garbageCollection: true,
      deleteCollectionWorkers: 1,
      enablement: apiEnablement(options.runtimeConfig ?? {}, options.emulated),
      ...(options.workers && { workers: options.workers }),
    });
    const { gates: features, errors } = chooseFeatureGates(
      new Map(Object.entries(options.gates ?? {})),
      options.emulated?.version ?? RELEASE,
    );
    assert.deepEqual(errors, []);
    for (const kind of options.kinds) this.resources.add(withDefaultsOf(kind, features));
    this.#services = {
      admission: { admit: async () => {}, validate: async () => {}, ...options.admission },
      authorizer: {
        authorize: options.authorize ?? (() => ({ decision: 'allow', reason: '' })),
        rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
      },
      features,
      kindOptions: { allowPrivileged: true, eventTtlSeconds: 3600 },
      lookup: this.resources.lookup,
      operations: this.resources.operations,
      ownOperations: this.resources.operations,
      nodes: buildNodeAccess(AGENT_FLAGS, {
        dialer: options.dialer ?? NOWHERE,
        metrics: new MetricRegistry(),
        onDrained: () => undefined,
      }),
      mediaTypes: MEDIA_TYPES_WITH_CBOR,
      converter: convertInline,
      clock,
      random: () => 0,
      minWatchSeconds: 1800,
      watchBuffers: new WatchBuffers(),
      metrics: createRestMetrics(new MetricRegistry()),
      maxBodyBytes: 3 * 1024 * 1024,
      shutdown: new AbortController().signal,
      ...options.services,
    };
    this.router = createRouter(this.#services, this.resources.find);
  }

  /** The server's own part in the life of objects. */
  readonly context = (): LifeContext => ({
    user: { name: 'system:apiserver', groups: [] },
    namespace: '',
    now: this.#services.clock,
    features: this.#services.features,
    dryRun: false,
    options: this.#services.kindOptions,
    lookup: this.resources.lookup,
    warn: () => undefined,
  });

  /** Lets time pass for the stores, once what is under way has come to wait for it. */
  async advance(ms: number): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.nowMs += ms;
    const due = [...this.#timers].filter(({ atMs }) => atMs <= this.nowMs);
    for (const timer of due) {
      this.#timers.delete(timer);
      timer.callback();
    }
  }

  async send(method: string, target: string, sent: Sent = {}): Promise<Answer> {
    const { response, warnings, annotations, layers, recorded } = await this.#handle(method, target, sent);
    recorded.answered = response.object && String(await answeredJson(response));
    const bytes = await allOf(response);
    return {
      status: response.status,
      headers: response.headers,
      bytes,
      warnings,
      annotations,
      layers: [...layers].sort(),
      recorded,
      get body() {
        return JSON.parse(bytes.toString()) as Body;
      },
    };
  }

  readonly get = (target: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
    this.send('GET', target, { headers });
  readonly post = (
    target: string,
    body: Sent['body'],
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> => this.send('POST', target, { headers, ...(body !== undefined && { body }) });
  readonly put = (
    target: string,
    body: Sent['body'],
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> => this.send('PUT', target, { headers, ...(body !== undefined && { body }) });
  readonly delete = (target: string, body?: Sent['body']): Promise<Answer> =>
    this.send('DELETE', target, body === undefined ? {} : { body });
  readonly patch = (target: string, type: string, body: Sent['body']): Promise<Answer> =>
    this.send('PATCH', target, { headers: { 'content-type': type }, ...(body !== undefined && { body }) });

  async watch(target: string, headers: Readonly<Record<string, string>> = {}): Promise<TestWatch> {
    const { response } = await this.#handle('GET', target, { headers });
    if (!isStream(response.body)) throw new Error(`not a watch: ${response.status} ${String(response.body)}`);
    const stopped = new AbortController();
    const chunks: Buffer[] = [];
    // Several events may be written at once.
    const lines: string[] = [];
    let wake = (): void => undefined;
    const sink: ResponseSink = {
      write(chunk) {
        chunks.push(Buffer.from(chunk));
        wake();
        return true;
      },
      drained: () => Promise.resolve(),
      pendingBytes: 0,
      signal: stopped.signal,
    };
    const ended = response.body.stream(sink);
    const over = ended.then(() => true);
    const nextBytes = async (): Promise<Buffer> => {
      for (;;) {
        const chunk = chunks.shift();
        if (chunk !== undefined) return chunk;
        const written = new Promise<boolean>((resolve) => (wake = () => resolve(false)));
        if ((await Promise.race([written, over])) && chunks.length === 0) throw new Error('the watch is over');
      }
    };
    return {
      status: response.status,
      headers: response.headers,
      nextBytes,
      async next() {
        while (lines.length === 0) append(lines, (await nextBytes()).toString().split('\n').filter(Boolean));
        return JSON.parse(lines.shift() ?? '') as WatchedEvent;
      },
      ended,
      stop: () => stopped.abort(),
    };
  }

  async #handle(
    method: string,
    target: string,
    sent: Sent,
  ): Promise<{
    response: HttpResponse;
    warnings: string[];
    annotations: Map<string, string>;
    layers: Set<string>;
    recorded: Recorded;
  }> {
    const bytes = bytesOf(sent.body);
    const http = testRequest(method, target, {
      headers: sent.headers ?? {},
      ...(sent.signal && { signal: sent.signal }),
      body: (limit) =>
        bytes.length > limit
          ? Promise.reject(requestEntityTooLarge(`limit is ${limit}`))
          : Promise.resolve(Buffer.from(bytes)),
      bodyStream: () => (bytes.length === 0 ? undefined : Readable.from([bytes])),
    });
    const info = parseRequestInfo(http);
    if (typeof info !== 'object') throw new Error(`not a well-formed path: ${target}`);
    const warnings: string[] = [];
    const annotations = new Map<string, string>();
    const layers = new Set<string>();
    const recorded: Recorded = { name: undefined, sent: undefined, answered: undefined };
    const response = await this.router.handle({
      http,
      info,
      user: sent.user ?? { name: 'tester', groups: [] },
      warn: (text) => warnings.push(text),
      annotate: (key, value) => annotations.set(key, value),
      spent: (layer) => layers.add(layer),
      trail: {
        wantsSent: 'unmanaged',
        requestObject(object, encode) {
          recorded.name = object.metadata?.name;
          recorded.sent = sentJson(object, 'unmanaged', encode);
        },
        requestEncoded({ name }, json) {
          recorded.name = name;
          recorded.sent = json?.toString();
        },
        requestPatch: (patch, workers) =>
          whenReady(recordedPatch(patch, workers), (json) => void (recorded.sent = String(json))),
        annotateAtEnd: (key, value) => annotations.set(key, value),
      },
    });
    return { response, warnings, annotations, layers, recorded };
  }
}

const AGENT_FLAGS: KubeletFlags = {
  kubeletCertificateAuthority: '',
  kubeletClientCertificate: '',
  kubeletClientKey: '',
  kubeletPort: 10_250,
  kubeletPreferredAddressTypes: ['Hostname', 'InternalIP'],
  maxConnectionBytesPerSec: 0,
};

const NOWHERE: Dialer = {
  dial: ({ host, port }) =>
    Promise.reject(new OutboundError('dial', `dial tcp ${host}:${port}: connect: connection refused`)),
};

/** What comes out of a store or went into it is shared: whoever changes it fails here. */
const freezing = (codec: ObjectCodec): ObjectCodec => ({
  encodeJson: (object) => codec.encodeJson(deepFreeze(object)),
  encodeStorage: (object, mediaType) => codec.encodeStorage(deepFreeze(object), mediaType),
  decodeJson: (bytes) => deepFreeze(codec.decodeJson(bytes)),
  decodeStorage: (bytes) => deepFreeze(codec.decodeStorage(bytes)),
  *decodePieces(bytes) {
    const object = yield* codec.decodePieces?.(bytes) ?? [];
    return object && deepFreeze(object);
  },
  ...(codec.isStoredAsOther && { isStoredAsOther: codec.isStoredAsOther.bind(codec) }),
  ...(codec.renew && { renew: codec.renew.bind(codec) }),
  ...(codec.renewOlder && { renewOlder: codec.renewOlder.bind(codec) }),
});

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  // Nobody can change a set of owned fields that is shared or unread.
  if (fieldsText(value) !== undefined) return value;
  for (const member of Object.values(value)) deepFreeze(member);
  return Object.freeze(value);
}

function bytesOf(body: Sent['body']): Buffer {
  if (body === undefined) return Buffer.alloc(0);
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

async function allOf({ body }: HttpResponse): Promise<Buffer> {
  if (body === undefined) return Buffer.alloc(0);
  if (typeof body === 'string') return Buffer.from(body);
  if (Buffer.isBuffer(body)) return body;
  if (!isStream(body)) return Buffer.concat(body as readonly Buffer[]);
  const chunks: Buffer[] = [];
  await body.stream({
    write: (chunk) => chunks.push(Buffer.from(chunk)) > 0,
    drained: () => Promise.resolve(),
    pendingBytes: 0,
    signal: new AbortController().signal,
  });
  return Buffer.concat(chunks);
}
