// An ordinary day in a cluster, played to a server request by request: nodes with a connection and four watches each, followers
// that watch everything, and the writes and reads that a cluster makes most.
import { setTimeout as sleep } from 'node:timers/promises';
import * as objects from './day-objects.mjs';
import { connect, headersOf, send } from './servers.mjs';

const NS = '/api/v1/namespaces/day';
const SLICES = '/apis/discovery.k8s.io/v1/namespaces/day/endpointslices';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const JSON_TYPE = 'application/json';
const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const [MERGE, STRATEGIC] = ['merge', 'strategic-merge'].map((kind) => ({
  'content-type': `application/${kind}-patch+json`,
}));

export class Day {
  /** What watches were sent; roughly, where it is not JSON. */
  events = 0;
  #server;
  #session;
  #nodes;
  #pods;
  #followers;
  #accept;
  #sent = 0;
  #leaseVersions = [];

  constructor(server, { nodes, pods, followers = 3, protobuf = false }) {
    this.#server = server;
    this.#session = connect(server);
    this.#nodes = nodes;
    this.#pods = pods;
    this.#followers = followers;
    this.#accept = protobuf ? { accept: PROTOBUF } : {};
  }

  /** Each by its number: a pod is created, bound, reported and deleted by the same. */
  work = {
    lease: (n) => this.#renew(n % this.#nodes),
    'node status': (n) =>
      this.#ask('PATCH', `/api/v1/nodes/n${n % this.#nodes}/status`, objects.nodeStatus(++this.#sent), STRATEGIC),
    create: (n) => this.#ask('POST', `${NS}/pods`, objects.pod(`churn-${n}`)),
    bind: (n) =>
      this.#ask('POST', `${NS}/pods/churn-${n}/binding`, objects.binding(`churn-${n}`, `n${n % this.#nodes}`)),
    'pod status': (n) => this.#ask('PATCH', `${NS}/pods/churn-${n}/status`, objects.podStatus('Running'), STRATEGIC),
    event: (n) => this.#ask('POST', `${NS}/events`, objects.event(`churn-${n}`)),
    slice: (n) =>
      this.#ask('PATCH', `${SLICES}/s${n % 50}`, { metadata: { annotations: { sent: String(++this.#sent) } } }, MERGE),
    delete: (n) => this.#ask('DELETE', `${NS}/pods/churn-${n}?gracePeriodSeconds=0`),
    get: (n) => this.#ask('GET', `${NS}/pods/p${n % this.#pods}`),
    'list of 500': (n) => this.#afterChange(n, `${NS}/pods?limit=500`),
    'list by label': (n) => this.#afterChange(n, `${NS}/pods?labelSelector=app%3Dapp3&limit=100`),
  };

  /** What is there before anything is measured, and who watches. */
  async begin() {
    await this.#ask('POST', '/api/v1/namespaces', { metadata: { name: 'day' } });
    await this.#ask('POST', `${NS}/serviceaccounts`, { metadata: { name: 'default' } });
    await inParallel(this.#nodes, async (i) => {
      await this.#ask('POST', '/api/v1/nodes', objects.node(i));
      await this.#ask('PATCH', `/api/v1/nodes/n${i}/status`, objects.nodeStatus(0), STRATEGIC);
      this.#leaseVersions[i] = versionIn(await this.#ask('POST', LEASES, objects.lease(i, 0), { accept: JSON_TYPE }));
    });
    await inParallel(this.#pods, async (i) => {
      await this.#ask('POST', `${NS}/pods`, objects.pod(`p${i}`, `n${i % this.#nodes}`));
      await this.#ask('PATCH', `${NS}/pods/p${i}/status`, objects.podStatus('Running'), STRATEGIC);
    });
    await inParallel(50, async (i) => {
      await this.#ask('POST', SLICES, objects.slice(i, this.#nodes));
      await this.#ask('POST', `${NS}/services`, objects.service(i));
    });
    await this.#watchAll();
  }

  /** When no more events come. */
  async settle() {
    for (let last = -1; this.events !== last;) {
      last = this.events;
      await sleep(100);
    }
  }

  async #renew(i) {
    const renewed = objects.lease(i, ++this.#sent, this.#leaseVersions[i]);
    this.#leaseVersions[i] = versionIn(await this.#ask('PUT', `${LEASES}/n${i}`, renewed, { accept: JSON_TYPE }));
  }

  /** The list after a change, as in a cluster that lives: no answer is there from before. */
  async #afterChange(n, target) {
    const { status } = objects.podStatus('Running');
    const changed = { status: { ...status, message: String(++this.#sent) } };
    await this.#ask('PATCH', `${NS}/pods/p${n % this.#pods}/status`, changed, STRATEGIC);
    await this.#ask('GET', target);
  }

  #ask(method, target, body, headers = {}) {
    const sent = headersOf(method, target, { ...this.#accept, ...headers });
    return send(this.#session, sent, body && JSON.stringify(body));
  }

  async #watchAll() {
    const ofNode = (i) => [
      `/api/v1/pods?fieldSelector=spec.nodeName%3Dn${i}`,
      `/api/v1/nodes?fieldSelector=metadata.name%3Dn${i}`,
      '/api/v1/services',
      '/apis/discovery.k8s.io/v1/endpointslices',
    ];
    const all = ['/api/v1/pods', '/api/v1/nodes', '/api/v1/events', '/apis/coordination.k8s.io/v1/leases'];
    for (let i = 0; i < this.#nodes; i++) await this.#watch(ofNode(i));
    for (let i = 0; i < this.#followers; i++) await this.#watch(all);
    await this.settle();
  }

  async #watch(targets) {
    const own = connect(this.#server);
    const isJson = this.#accept.accept === undefined;
    const form = isJson ? {} : { accept: `${PROTOBUF};stream=watch` };
    for (const target of targets) {
      const stream = own.request(headersOf('GET', `${target}${target.includes('?') ? '&' : '?'}watch=1`, form));
      // Counted roughly where events are not lines: a piece is one or more.
      stream.on('data', (chunk) => (this.events += isJson ? linesIn(chunk) : 1));
      stream.on('error', () => undefined);
      await new Promise((resolve) => stream.on('response', resolve));
    }
  }
}

function versionIn(answer) {
  return /"resourceVersion":"(\d+)"/.exec(String(answer))?.[1];
}

function linesIn(chunk) {
  let lines = 0;
  for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines++;
  return lines;
}

export async function inParallel(many, work, workers = 16) {
  let at = 0;
  const worker = async () => {
    while (at < many) await work(at++);
  };
  await Promise.all(Array.from({ length: workers }, worker));
}
