// What is served beside the API: the index, the version and the metrics.
import type { HttpResponse } from '../lib/http.js';
import type { MetricRegistry } from '../lib/metrics.js';

export interface VersionInfo {
  readonly major: string;
  readonly minor: string;
  readonly emulationMajor: string;
  readonly emulationMinor: string;
  readonly minCompatibilityMajor: string;
  readonly minCompatibilityMinor: string;
  readonly gitVersion: string;
  readonly gitCommit: string;
  readonly gitTreeState: string;
  readonly buildDate: string;
  readonly goVersion: string;
  readonly compiler: string;
  readonly platform: string;
}

export interface VersionInput {
  readonly gitVersion: string;
  readonly emulated: { readonly major: number; readonly minor: number };
  readonly minCompatible: { readonly major: number; readonly minor: number };
  readonly gitCommit?: string;
  readonly buildDate?: string;
}

export function versionInfo({
  gitVersion,
  emulated,
  minCompatible,
  gitCommit = '',
  buildDate,
}: VersionInput): VersionInfo {
  const [, major = '', minor = ''] = /^v(\d+)\.(\d+)/.exec(gitVersion) ?? [];
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  return {
    major,
    minor,
    emulationMajor: String(emulated.major),
    emulationMinor: String(emulated.minor),
    minCompatibilityMajor: String(minCompatible.major),
    minCompatibilityMinor: String(minCompatible.minor),
    gitVersion,
    gitCommit,
    gitTreeState: 'clean',
    buildDate: buildDate ?? '1970-01-01T00:00:00Z',
    // Clients read these; there is no Go here, and saying so is more use than a made-up release.
    goVersion: `node${process.versions.node}`,
    compiler: 'v8',
    platform: `${process.platform}/${architecture}`,
  };
}

/** Two spaces deep, as the reference prints what is not an API object. */
export const rawJson = (status: number, value: unknown): HttpResponse => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value, undefined, 2),
});

export const indexOf = (paths: readonly string[]): HttpResponse => rawJson(200, { paths: [...new Set(paths)].sort() });

export const metricsText = (registry: MetricRegistry): HttpResponse => ({
  status: 200,
  headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores' },
  body: registry.text(),
});

/** The answer for a path that nothing at all is served at. */
export const pageNotFound = (): HttpResponse => ({
  status: 404,
  headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
  body: '404 page not found\n',
});
