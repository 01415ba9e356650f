// How values become observations: when there is something to show, weighed by how long they last, not too often.
import type { GaugeSeries, HistogramSeries } from '../lib/telemetry/metrics.js';

/** Changes that follow each other more closely are not distinguished: the time counts for the one that was seen. */
export const SAMPLE_MS = 0.1;

/** Nothing is shown of queues where there are none. */
export function together(
  requests: () => GaugeSeries,
  seats: () => GaugeSeries,
): (ofRequests: number, ofSeats: number) => void {
  let series: { readonly requests: GaugeSeries; readonly seats: GaugeSeries } | undefined;
  return (ofRequests, ofSeats) => {
    series ??= { requests: requests(), seats: seats() };
    series.requests.add(ofRequests);
    series.seats.add(ofSeats);
  };
}

/** Series are made when there is something to show, and kept. */
export function byFlag(
  yes: () => HistogramSeries,
  no: () => HistogramSeries,
): (seconds: number, flag: boolean) => void {
  let yesSeries: HistogramSeries | undefined;
  let noSeries: HistogramSeries | undefined;
  return (seconds, flag) => (flag ? (yesSeries ??= yes()) : (noSeries ??= no())).observe(seconds);
}

/** A single series that is made when first observed. */
export function once(make: () => HistogramSeries): (value: number) => void {
  let series: HistogramSeries | undefined;
  return (value) => (series ??= make()).observe(value);
}

/** A value that lasts: each nanosecond of it is an observation. */
export function overTime(series: HistogramSeries): (value: number, nowMs: number) => void {
  let last = 0;
  let sinceMs: number | undefined;
  return (value, nowMs) => {
    if (sinceMs !== undefined && nowMs > sinceMs) series.observe(last, Math.round((nowMs - sinceMs) * 1e6));
    last = value;
    sinceMs = nowMs;
  };
}

/** Of changes that follow each other closely, the first stands for all. */
export function sampled(observe: (value: number, nowMs: number) => void): (value: number, nowMs: number) => void {
  let observedMs = -Infinity;
  return (value, nowMs) => {
    if (nowMs - observedMs < SAMPLE_MS) return;
    observedMs = nowMs;
    observe(value, nowMs);
  };
}
