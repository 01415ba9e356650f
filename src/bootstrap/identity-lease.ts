// Which servers there are, for all to see: each keeps a Lease in kube-system, and deletes those of servers long gone.
import crypto from 'node:crypto';
import type { KubeObject } from '../machinery/object.js';
import { type ServerClient, SERVER_MANAGER } from '../registry/server-client.js';
import { microTime } from './leader-election/micro-time.js';
import type { Lease } from '../schema/generated/coordination.v1.js';

const LEASES = { group: 'coordination.k8s.io', resource: 'leases' };
const COMPONENT = 'kube-apiserver';
const COMPONENT_LABEL = 'apiserver.kubernetes.io/identity';
const HOSTNAME_LABEL = 'kubernetes.io/hostname';
const LEASE_SECONDS = 3600;
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

export interface IdentityLeaseOptions {
  readonly client: ServerClient;
  readonly hostname: string;
  /** Tells this run of the server from others on the same host. */
  readonly runId: string;
  /** Where other servers hand requests on to this one, if they do. */
  readonly peerAddress?: string | undefined;
  readonly now: () => Date;
}

export const IDENTITY_NAMESPACE = 'kube-system';
const PEER_ADDRESS = 'kubernetes.io/peer-advertise-address';

/** Whether these are the labels of a server's lease. */
export const isServerLease = (labels: Readonly<Record<string, string>> | undefined): boolean =>
  labels?.[COMPONENT_LABEL] === COMPONENT;

/** Makes or renews this server's lease. */
export async function renewIdentityLease(options: IdentityLeaseOptions): Promise<void> {
  const { client, hostname, runId, peerAddress, now } = options;
  const name = identityOf(hostname);
  const current = await client.get(LEASES, IDENTITY_NAMESPACE, name);
  const renewed = (lease: KubeObject): KubeObject => {
    const { metadata, spec } = lease as Lease;
    return {
      ...lease,
      metadata: {
        ...metadata,
        labels: { ...metadata.labels, [COMPONENT_LABEL]: COMPONENT, [HOSTNAME_LABEL]: hostname },
        ...(peerAddress !== undefined && { annotations: { ...metadata.annotations, [PEER_ADDRESS]: peerAddress } }),
      },
      spec: { ...spec, leaseDurationSeconds: LEASE_SECONDS, renewTime: microTime(now().getTime()) },
    } as KubeObject;
  };
  if (current !== undefined)
    return client.update({ resource: LEASES, object: current, change: renewed, manager: SERVER_MANAGER });
  const lease: Lease = {
    kind: 'Lease',
    apiVersion: 'coordination.k8s.io/v1',
    metadata: { name, namespace: IDENTITY_NAMESPACE },
    spec: { holderIdentity: `${name}_${runId}` },
  };
  await client.create(LEASES, renewed(lease), SERVER_MANAGER);
}

/** Deletes the leases of servers that have not renewed them in time. */
export async function collectIdentityLeases(client: ServerClient, now: () => Date): Promise<void> {
  for (const object of await client.list(LEASES)) {
    const { metadata, spec } = object as Lease;
    if (metadata.namespace !== IDENTITY_NAMESPACE || !isServerLease(metadata.labels)) continue;
    if (isExpired(spec, now())) await client.delete(LEASES, object);
  }
}

/** The same on every start on a host, so that a server renews its old lease. */
export function identityOf(hostname: string): string {
  const prefixed = [hostname, COMPONENT].map((text) => {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(Buffer.byteLength(text));
    return Buffer.concat([length, Buffer.from(text)]);
  });
  const hash = crypto.createHash('sha256').update(Buffer.concat(prefixed)).digest();
  return `apiserver-${base32(hash.subarray(0, 16))}`;
}

function isExpired({ renewTime, leaseDurationSeconds }: Lease['spec'], now: Date): boolean {
  if (renewTime === undefined || leaseDurationSeconds === undefined) return true;
  return Date.parse(renewTime) + leaseDurationSeconds * 1000 < now.getTime();
}

function base32(bytes: Uint8Array): string {
  let text = '';
  let [bits, value] = [0, 0];
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xfff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += BASE32[(value >> bits) & 31];
    }
  }
  if (bits > 0) text += BASE32[(value << (5 - bits)) & 31];
  return text;
}
