import type { Logger } from '../../lib/telemetry/log.js';
import { Backoff } from '../../lib/async/backoff.js';
import { StatusError } from '../../machinery/status.js';
import {
  restCall,
  type RestCall,
  RestCallError,
  type RestObserver,
  SHORT_ANSWER_BYTES,
} from '../../machinery/rest-call.js';
import { reviewUrl } from '../../machinery/review-url.js';
import { isQualifiedName } from '../../machinery/validation/names.js';
import { reviewText } from '../../schema/review-webhook.js';
import { mustType } from '../../schema/catalogue.js';
import type { Pod } from '../../schema/generated/core.v1.js';
import type { ImageReviewSpec, ImageReviewStatus } from '../../schema/generated/imagepolicy.v1alpha1.js';
import { DecodeError, decodeTree } from '../../schema/json/decode.js';
import { readSentReview } from '../../schema/json/sent-review.js';
import { forbid, onlyWhere } from '../forbid.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../plugin.js';

export interface ImagePolicySettings {
  readonly client: RestCall['client'];
  /** The backend's address. */
  readonly server: URL;
  /** How long answers are cached; 0 for not at all. */
  readonly allowTtlMs: number;
  readonly denyTtlMs: number;
  readonly retryBackoffMs: number;
  /** Pods pass when the backend fails. */
  readonly defaultAllow: boolean;
}

export interface ImagePolicyParts {
  readonly settings: ImagePolicySettings;
  readonly nowMs: () => number;
  readonly random: () => number;
  readonly wait: (ms: number) => Promise<void>;
  readonly log: Logger;
  readonly observe?: RestObserver | undefined;
}

const PREFIX = 'imagepolicywebhook.image-policy.k8s.io/';
const SENT_ANNOTATIONS = '.image-policy.k8s.io/';
const MAX_CACHED = 1024;
const TIMEOUT_MS = 30_000;
const ATTEMPTS = 5;
const BACKOFF_FACTOR = 1.5;
const BACKOFF_JITTER = 0.2;

/** Asks a backend whether the images of a pod may run. */
export function imagePolicyWebhook(parts: ImagePolicyParts): AdmissionPlugin {
  const cached = new Answers(parts);
  const validate = async (attributes: AdmissionAttributes): Promise<void> => {
    const spec = specOf(attributes);
    const key = JSON.stringify(spec);
    const status = cached.get(key) ?? (await ask(parts, spec, attributes));
    if (status === undefined) return;
    cached.set(key, status);
    for (const [name, value] of Object.entries(status.auditAnnotations ?? {})) {
      if (isQualifiedName(PREFIX + name).length === 0) attributes.annotate(PREFIX + name, value);
    }
    if (status.allowed) return;
    throw forbid(
      attributes,
      status.reason
        ? `image policy webhook backend denied one or more images: ${status.reason}`
        : 'one or more images rejected by webhook backend',
    );
  };
  return {
    name: 'ImagePolicyWebhook',
    handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
    validate: onlyWhere(
      ({ group, resource }, subresource) =>
        resource === 'pods' && group === '' && (subresource === '' || subresource === 'ephemeralcontainers'),
      validate,
    ),
  };
}

/** Containers come before init containers; of ephemeral ones the others are known already. */
function specOf({ object, subresource, namespace }: AdmissionAttributes): ImageReviewSpec {
  const { spec, metadata } = object as Pod;
  const listed =
    subresource === ''
      ? [...(spec.containers ?? []), ...(spec.initContainers ?? [])]
      : (spec.ephemeralContainers ?? []);
  const sent = Object.entries(metadata?.annotations ?? {})
    .filter(([name]) => name.includes(SENT_ANNOTATIONS))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    ...(listed.length > 0 && { containers: listed.map(({ image }) => (image ? { image } : {})) }),
    ...(sent.length > 0 && { annotations: Object.fromEntries(sent) }),
    namespace,
  };
}

/** Undefined where the backend failed and that lets pods pass. */
async function ask(
  parts: ImagePolicyParts,
  spec: ImageReviewSpec,
  attributes: AdmissionAttributes,
): Promise<ImageReviewStatus | undefined> {
  const { settings, log } = parts;
  const body = reviewText({
    kind: REVIEW.kind,
    apiVersion: `${REVIEW.group}/${REVIEW.version}`,
    metadata: {},
    spec,
    status: { allowed: false },
  });
  try {
    const answer = await withRetries(parts, () =>
      restCall({
        client: settings.client,
        url: reviewUrl(settings.server, TIMEOUT_MS),
        body,
        timeoutMs: TIMEOUT_MS,
        maxBytes: SHORT_ANSWER_BYTES,
        wait: parts.wait,
        observe: parts.observe,
      }),
    );
    const { tree } = readSentReview(answer, REVIEW, SCHEME);
    const { status } = decodeTree(mustType(REVIEW_TYPE), tree ?? {}, { strict: false }).object as ImageAnswer;
    return status ?? { allowed: false };
  } catch (error) {
    if (!(error instanceof StatusError || error instanceof RestCallError || error instanceof DecodeError)) throw error;
    log.warning(`the image policy backend failed: ${error.message}`);
    if (settings.defaultAllow) {
      attributes.annotate(`${PREFIX}failed-open`, 'true');
      return undefined;
    }
    // A refusal by the backend is passed on in its own words.
    throw error instanceof StatusError && error.reason === 'Forbidden' ? error : forbid(attributes, error.message);
  }
}

interface ImageAnswer {
  readonly status?: ImageReviewStatus;
}

const REVIEW_TYPE = 'io.k8s.api.imagepolicy.v1alpha1.ImageReview';
const REVIEW = { group: 'imagepolicy.k8s.io', version: 'v1alpha1', kind: 'ImageReview' } as const;

/** This one knows all the server's types. */
const SCHEME = 'pkg/api/legacyscheme/scheme.go:30';

const RETRIED: ReadonlySet<string> = new Set(['InternalError', 'Timeout', 'TooManyRequests']);

async function withRetries<T>({ settings, random, wait }: ImagePolicyParts, call: () => Promise<T>): Promise<T> {
  const jitter = { part: BACKOFF_JITTER, random };
  const backoff = new Backoff({ firstMs: settings.retryBackoffMs, factor: BACKOFF_FACTOR, jitter });
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      const passing = error instanceof StatusError && RETRIED.has(error.reason);
      if (!passing || attempt === ATTEMPTS) throw error;
    }
    await wait(backoff.next());
  }
}

class Answers {
  private readonly known = new Map<string, { readonly status: ImageReviewStatus; readonly untilMs: number }>();

  constructor(private readonly parts: ImagePolicyParts) {}

  get(key: string): ImageReviewStatus | undefined {
    const found = this.known.get(key);
    return found !== undefined && found.untilMs > this.parts.nowMs() ? found.status : undefined;
  }

  set(key: string, status: ImageReviewStatus): void {
    if (this.get(key) !== undefined) return;
    const { settings, nowMs } = this.parts;
    const ttlMs = status.allowed ? settings.allowTtlMs : settings.denyTtlMs;
    this.known.delete(key);
    if (ttlMs > 0) this.known.set(key, { status, untilMs: nowMs() + ttlMs });
    for (const oldest of this.known.keys()) {
      if (this.known.size <= MAX_CACHED) break;
      this.known.delete(oldest);
    }
  }
}
