import { trimEnd } from '../../../lib/text/trim-end.js';
import { goQuote } from '../../../lib/go/quote.js';
import type { Volume, VolumeProjection } from '../../../schema/generated/core.v1.js';

interface VirtualPath {
  readonly path: string;
  /** Where it comes from, when a volume has several sources. */
  readonly source: string;
}

/** Files of one volume that would lie in each other's place. */
export function overlappingPathWarnings(volumes: readonly Volume[] | undefined): string[] {
  const found: string[] = [];
  for (const { name, configMap, secret, downwardAPI, projected } of volumes ?? []) {
    const warnOverlap = (description: string, paths: readonly VirtualPath[]): void => {
      for (const overlap of overlaps(paths)) {
        found.push(`volume ${goQuote(name)} (${description}): overlapping paths: ${overlap}`);
      }
    };
    if (configMap?.items) warnOverlap(`ConfigMap ${goQuote(configMap.name ?? '')}`, pathsOf(configMap.items, ''));
    if (secret?.items) warnOverlap(`Secret ${goQuote(secret.secretName ?? '')}`, pathsOf(secret.items, ''));
    if (downwardAPI?.items) warnOverlap('DownwardAPI', pathsOf(downwardAPI.items, ''));
    const sources = projected?.sources ?? [];
    for (const source of sources) {
      if (Object.values(source).every((each) => each === undefined)) {
        found.push(`volume ${goQuote(name)} (Projected) has no sources provided`);
      }
    }
    warnOverlap('Projected', sources.flatMap(projectedPaths));
  }
  return found;
}

const pathsOf = (items: readonly { path: string }[], source: string): VirtualPath[] =>
  items.map(({ path }) => ({ path, source }));

function projectedPaths(projection: Readonly<VolumeProjection>): VirtualPath[] {
  const { configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = projection;
  if (configMap?.items) return pathsOf(configMap.items, `ConfigMap ${goQuote(configMap.name ?? '')}`);
  if (secret?.items) return pathsOf(secret.items, `Secret ${goQuote(secret.name ?? '')}`);
  if (downwardAPI?.items) return pathsOf(downwardAPI.items, 'DownwardAPI');
  if (serviceAccountToken) return [{ path: serviceAccountToken.path, source: 'ServiceAccountToken' }];
  if (clusterTrustBundle) {
    const name = clusterTrustBundle.name ?? clusterTrustBundle.signerName ?? '';
    return [{ path: clusterTrustBundle.path, source: `ClusterTrustBundle ${goQuote(name)}` }];
  }
  const { certificateChainPath = '', keyPath = '', credentialBundlePath = '' } = podCertificate ?? {};
  return [
    { path: certificateChainPath, source: 'PodCertificate chain' },
    { path: keyPath, source: 'PodCertificate key' },
    { path: credentialBundlePath, source: 'PodCertificate credential bundle' },
  ].filter(({ path }) => path !== '');
}

/** A response has room for fewer warnings than these. */
const MAX_OVERLAPS = 1000;

/**
 * Each path with those before it that are the same, or lie above or below. Sorted with a slash at their ends, all that
 * lies below a path follows it, so one sweep finds the pairs.
 */
function overlaps(paths: readonly VirtualPath[]): string[] {
  const places = paths
    .map(({ path, source }, place) => ({ place, source, path: trimEnd(path, '/') }))
    .filter(({ path }) => path !== '')
    .map((each) => ({ ...each, key: `${each.path}/` }));
  const sorted = places.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.place - b.place));
  const pairs: { readonly earlier: (typeof places)[number]; readonly later: (typeof places)[number] }[] = [];
  const above: typeof places = [];
  for (const each of sorted) {
    while (above.length > 0 && !each.key.startsWith(above.at(-1)?.key ?? '')) above.pop();
    for (const other of above) {
      if (pairs.length >= MAX_OVERLAPS) break;
      pairs.push(other.place < each.place ? { earlier: other, later: each } : { earlier: each, later: other });
    }
    above.push(each);
  }
  pairs.sort((a, b) => a.later.place - b.later.place || a.earlier.place - b.earlier.place);
  return pairs.map(({ earlier, later }) => `${text(later)} with ${text(earlier)}`);
}

const text = ({ path, source }: VirtualPath): string =>
  source === '' ? goQuote(path) : `${goQuote(path)} (${source})`;
