import type { KubeObject } from '../machinery/object.js';
import type { DeleteOptions } from './kind.js';
import { type ResourceRegistry, timestamp } from './registry.js';

export type GracefulStep =
  /** Nothing to wait for. */
  | { readonly kind: 'now' }
  /** Deletion is under way and was not shortened. */
  | { readonly kind: 'pending' }
  /** The object was marked to end after so many seconds. */
  | { readonly kind: 'graceful'; readonly seconds: number };

/** Marks an object of a kind that ends gracefully, the first time or with a shorter time than before. */
export function gracefulStep(registry: ResourceRegistry, object: KubeObject, options: DeleteOptions): GracefulStep {
  const deletion = registry.kind.strategy.delete;
  if (deletion?.gracePeriodSeconds === undefined) return { kind: 'now' };
  const { metadata } = object;
  const sent = options.gracePeriodSeconds;
  const requested = sent !== undefined && sent < 0 ? 1 : sent;
  if (metadata.deletionTimestamp !== undefined) return shorten(registry, object, requested);
  const seconds = deletion.gracePeriodSeconds(object, requested);
  if (seconds === undefined) return { kind: 'now' };
  metadata.deletionTimestamp = timestamp(new Date(registry.clock().getTime() + wrappedMs(seconds)));
  metadata.deletionGracePeriodSeconds = seconds;
  if ((metadata.generation ?? 0) > 0) metadata.generation = (metadata.generation ?? 0) + 1;
  return { kind: 'graceful', seconds };
}

/** A second delete may only shorten the time that is left. */
function shorten(registry: ResourceRegistry, { metadata }: KubeObject, requested: number | undefined): GracefulStep {
  const left = metadata.deletionGracePeriodSeconds ?? 0;
  if (left === 0) return { kind: 'now' };
  if (requested === undefined || requested >= left) return { kind: 'pending' };
  const started = Date.parse(metadata.deletionTimestamp ?? '') - wrappedMs(left);
  const now = registry.clock().getTime();
  let seconds = requested;
  let ends = started + wrappedMs(seconds);
  if (ends < now) {
    ends = now;
    // The whole grace period has passed already: whoever ends the object still gets one second.
    if (seconds !== 0) seconds = 1;
  }
  metadata.deletionTimestamp = timestamp(new Date(ends));
  metadata.deletionGracePeriodSeconds = seconds;
  return { kind: 'graceful', seconds };
}

/** A time that nanoseconds in 64 bits cannot say goes round, as it does in kube-apiserver. */
const wrappedMs = (seconds: number): number => (Math.abs(seconds) <= MAX_SECONDS ? seconds * 1000 : wrapped(seconds));

const wrapped = (seconds: number): number =>
  Number(BigInt.asIntN(64, BigInt(seconds) * NANOSECONDS) / (NANOSECONDS / 1000n));

const NANOSECONDS = 1_000_000_000n;
/** That many have fewer nanoseconds than 64 bits can say. */
const MAX_SECONDS = 9e9;
