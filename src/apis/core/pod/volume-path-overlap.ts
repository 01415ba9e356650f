import { goQuote } from '../../../lib/go-quote.js';
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
    const tell = (description: string, paths: readonly VirtualPath[]): void => {
      for (const overlap of overlaps(paths)) {
        found.push(`volume ${goQuote(name)} (${description}): overlapping paths: ${overlap}`);
      }
    };
    if (configMap?.items) tell(`ConfigMap ${goQuote(configMap.name ?? '')}`, pathsOf(configMap.items, ''));
    if (secret?.items) tell(`Secret ${goQuote(secret.secretName ?? '')}`, pathsOf(secret.items, ''));
    if (downwardAPI?.items) tell('DownwardAPI', pathsOf(downwardAPI.items, ''));
    const sources = projected?.sources ?? [];
    for (const source of sources) {
      if (Object.values(source).every((each) => each === undefined)) {
        found.push(`volume ${goQuote(name)} (Projected) has no sources provided`);
      }
    }
    tell('Projected', sources.flatMap(projectedPaths));
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

function overlaps(paths: readonly VirtualPath[]): string[] {
  const found: string[] = [];
  const before: VirtualPath[] = [];
  for (const { path: raw, source } of paths) {
    const path = raw.replace(/\/+$/, '');
    if (path !== '') {
      for (const other of before) {
        const nested = `${other.path}/`.startsWith(`${path}/`) || `${path}/`.startsWith(`${other.path}/`);
        if (other.path !== '' && nested) found.push(`${text({ path, source })} with ${text(other)}`);
      }
    }
    before.push({ path, source });
  }
  return found;
}

const text = ({ path, source }: VirtualPath): string =>
  source === '' ? goQuote(path) : `${goQuote(path)} (${source})`;
