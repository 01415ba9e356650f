// What a name in a proxy's path stands for: `name`, `name:port` or `scheme:name:port`, and where that is.
import { parseInt64 } from '../../machinery/label-requirement.js';
import type { GroupResource } from '../../machinery/status.js';
import { badRequest, notFound, serviceUnavailable } from '../../machinery/status.js';
import type { HttpClient } from '../../outbound/http-client.js';
import type { EndpointAddress, Endpoints, Pod, Service } from '../../schema/generated/core.v1.js';
import type { RestServices } from '../contract/services.js';
import { locateKubelet } from './kubelet-location.js';
import { MAX_PORT, type Origin, originOf, type Scheme } from './origin.js';
import { checkProxiedAddress, checkProxiedHost } from './proxied-address.js';

export interface ProxiedOrigin extends Origin {
  readonly client: HttpClient;
}

export interface ProxiedName {
  readonly scheme: Scheme | '';
  readonly name: string;
  readonly port: string;
}

type Services = Pick<RestServices, 'nodes' | 'lookup' | 'random'>;

const PODS = { group: '', resource: 'pods' };
const SERVICES = { group: '', resource: 'services' };
const ENDPOINTS = { group: '', resource: 'endpoints' };
const NODES = { group: '', resource: 'nodes' };

/** `singular`: what is proxied to, as an error names it. */
function parseProxiedName(text: string, singular: string): ProxiedName {
  const parts = text.split(':');
  const [scheme, name, port] =
    parts.length === 3 ? parts : parts.length === 2 ? ['', ...parts] : parts.length === 1 ? ['', parts[0], ''] : [];
  if (!name || (scheme !== '' && scheme !== 'http' && scheme !== 'https')) {
    throw badRequest(`invalid ${singular} request ${JSON.stringify(text)}`);
  }
  return { scheme, name, port: port ?? '' };
}

export async function podOrigin({ nodes, lookup }: Services, namespace: string, id: string): Promise<ProxiedOrigin> {
  const { scheme, name, port } = parseProxiedName(id, 'pod');
  const pod = await found<Pod>(lookup.get(PODS, namespace, name), PODS, name);
  const ownPort = (pod.spec?.containers ?? []).find(({ ports }) => ports?.[0] !== undefined)?.ports?.[0]?.containerPort;
  const ip = pod.status?.podIPs?.[0]?.ip ?? '';
  checkProxiedAddress(ip);
  const chosen = port !== '' || ownPort === undefined ? port : String(ownPort);
  return { ...reachable(scheme, ip, chosen), client: nodes.others };
}

export async function nodeOrigin({ nodes, lookup }: Services, id: string): Promise<ProxiedOrigin> {
  const { scheme, name, port } = parseProxiedName(id, 'node');
  const kubelet = await locateKubelet(nodes, lookup, name, NODES);
  await checkProxiedHost(kubelet.hostname, nodes.resolveHost);
  if (port === '' || port === kubelet.port) return { ...kubelet, client: nodes.kubelets };
  return { ...reachable(scheme, kubelet.hostname, port), client: nodes.others };
}

/** A port that no connection can have is found out by trying. */
function reachable(scheme: ProxiedName['scheme'], host: string, port: string): Origin {
  if (/^\d+$/.test(port) && Number(port) > MAX_PORT) {
    throw serviceUnavailable(`error trying to reach service: dial tcp: address ${port}: invalid port`);
  }
  return originOf(scheme || 'http', host, port);
}

/** One of the service's endpoints that is a pod of its namespace, by the port that is meant. */
export async function serviceOrigin(services: Services, namespace: string, id: string): Promise<ProxiedOrigin> {
  const { lookup, nodes, random } = services;
  const { scheme, name, port } = parseProxiedName(id, 'service');
  const number = parseInt64(port);
  const portName = number === undefined ? port : await portNameOf(services, namespace, name, number);
  // The endpoints are the service's, and are reported as the service where they are missing.
  const { subsets = [] } = await found<Endpoints>(lookup.get(ENDPOINTS, namespace, name), SERVICES, name);
  if (subsets.length === 0) throw serviceUnavailable(`no endpoints available for service ${JSON.stringify(name)}`);
  for (const { addresses = [], ports = [] } of fromRandom(subsets, random)) {
    for (const { name: known = '', port: chosen } of ports) {
      if (known !== portName) continue;
      for (const address of fromRandom(addresses, random)) {
        if (!(await isPodOf(services, namespace, address))) continue;
        return { ...reachable(scheme, address.ip, String(chosen)), client: nodes.others };
      }
    }
  }
  throw serviceUnavailable(`no endpoints available for service ${JSON.stringify(id)}`);
}

async function portNameOf({ lookup }: Services, namespace: string, name: string, port: bigint): Promise<string> {
  const service = await found<Service>(lookup.get(SERVICES, namespace, name), SERVICES, name);
  const declared = service.spec?.ports?.find((one) => BigInt(one.port) === port);
  if (declared !== undefined) return declared.name ?? '';
  throw serviceUnavailable(`no service port ${port} found for service ${JSON.stringify(name)}`);
}

/** Whoever may write endpoints must not reach by them what they could not reach themselves. */
async function isPodOf({ lookup }: Services, namespace: string, { ip, targetRef }: EndpointAddress): Promise<boolean> {
  if (targetRef === undefined || (targetRef.namespace ?? '') !== namespace) return false;
  const pod = (await lookup.get(PODS, namespace, targetRef.name ?? '')) as unknown as Pod | undefined;
  return pod?.status?.podIPs?.some((one) => one.ip === ip) === true;
}

async function found<T>(looked: unknown, resource: GroupResource, name: string): Promise<T> {
  const object = (await looked) as T | undefined;
  if (object === undefined) throw notFound(resource, name);
  return object;
}

function fromRandom<T>(items: readonly T[], random: () => number): readonly T[] {
  const start = Math.floor(random() * items.length);
  return [...items.slice(start), ...items.slice(0, start)];
}
