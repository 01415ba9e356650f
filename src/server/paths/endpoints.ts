// What is served beside the API: the index, the version and the metrics.
import type { HttpResponse } from '../../lib/http/http.js';

/** Two spaces deep, as kube-apiserver encodes what is not an API object. */
export const rawJson = (status: number, value: unknown): HttpResponse => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value, undefined, 2),
});

export const indexOf = (paths: readonly string[]): HttpResponse => rawJson(200, { paths: [...new Set(paths)].sort() });

export const metricsAnswer = (text: string): HttpResponse => ({
  status: 200,
  headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores' },
  body: text,
});
