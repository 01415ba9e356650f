// kube-system/extension-apiserver-authentication: how extension servers may authenticate the requests we pass on.
import type { CaBundleSource } from '../authn/ca-bundle.js';
import type { AuthenticationTrust } from '../authn/trust.js';
import type { KubeObject } from '../machinery/object.js';
import type { ConfigMap } from '../schema/generated/core.v1.js';
import { parseCertificate } from '../lib/x509/certificate.js';
import { decodePem } from '../lib/x509/pem.js';
import { deepEqual } from '../lib/values/deep-equal.js';
import { type ServerClient, SERVER_MANAGER } from '../registry/server-client.js';

const RESOURCE = { group: '', resource: 'configmaps' };
const NAMESPACE = 'kube-system';
const NAME = 'extension-apiserver-authentication';

/** Several servers with differing files write one map, so what is there is kept and ours is added. */
export async function ensureAuthenticationConfigMap(
  client: ServerClient,
  trust: AuthenticationTrust,
  nowMs: () => number,
): Promise<void> {
  const current = (await client.get(RESOURCE, NAMESPACE, NAME)) as ConfigMap | undefined;
  if (current === undefined) {
    const data = combinedData({}, trust, nowMs());
    // Servers that trust no client certificates publish nothing.
    if (Object.keys(data).length === 0) return;
    const metadata = { name: NAME, namespace: NAMESPACE };
    const configMap: ConfigMap = { kind: 'ConfigMap', apiVersion: 'v1', metadata, data };
    await client.create(RESOURCE, configMap, SERVER_MANAGER);
    return;
  }
  if (deepEqual(current.data ?? {}, combinedData(current.data ?? {}, trust, nowMs()))) return;
  const change = (object: KubeObject): KubeObject => {
    const data = combinedData((object as ConfigMap).data ?? {}, trust, nowMs());
    return { ...object, data } as KubeObject;
  };
  await client.update({ resource: RESOURCE, object: current, change, manager: SERVER_MANAGER });
}

type Data = Readonly<Record<string, string>>;

function combinedData(existing: Data, { clientCa, requestHeader }: AuthenticationTrust, nowMs: number): Data {
  const data: Record<string, string> = {};
  const clientPem = combinedPem(existing['client-ca-file'], clientCa, nowMs);
  if (clientPem !== '') data['client-ca-file'] = clientPem;
  const headerPem = combinedPem(existing['requestheader-client-ca-file'], requestHeader?.clientCa, nowMs);
  if (headerPem === '') return data;
  const lists = {
    'requestheader-allowed-names': requestHeader?.allowedNames,
    'requestheader-extra-headers-prefix': requestHeader?.extraHeaderPrefixes,
    'requestheader-group-headers': requestHeader?.groupHeaders,
    'requestheader-uid-headers': requestHeader?.uidHeaders,
    'requestheader-username-headers': requestHeader?.usernameHeaders,
  };
  for (const [key, own = []] of Object.entries(lists)) {
    const combined = [...new Set([...readList(existing[key]), ...own])];
    if (combined.length > 0 || key !== 'requestheader-uid-headers') data[key] = JSON.stringify(combined);
  }
  data['requestheader-client-ca-file'] = headerPem;
  return data;
}

/** Every certificate once, without those that are over. A map with our certificates only keeps our file as it is. */
function combinedPem(existing: string | undefined, source: CaBundleSource | undefined, nowMs: number): string {
  const own = source?.current().pem ?? '';
  if (existing === undefined || existing === '' || existing === own) return own;
  const seen = new Set<string>();
  let combined = '';
  for (const { type, bytes } of [...decodePem(existing), ...decodePem(own)]) {
    const body = bytes.toString('base64');
    if (type !== 'CERTIFICATE' || seen.has(body) || isOver(bytes, nowMs)) continue;
    seen.add(body);
    combined += `-----BEGIN CERTIFICATE-----\n${body.replace(/(.{64})(?!$)/g, '$1\n')}\n-----END CERTIFICATE-----\n`;
  }
  return combined;
}

function isOver(bytes: Buffer, nowMs: number): boolean {
  try {
    return parseCertificate(bytes).notAfterMs < nowMs;
  } catch {
    return true;
  }
}

function readList(text: string | undefined): string[] {
  if (text === undefined || text === '') return [];
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
  } catch {
    return [];
  }
}
