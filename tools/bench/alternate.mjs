// Gets on servers measured alternately, by the processor time of the thread that serves: on a machine that others use
// as well, that time says more than a rate.
import fs from 'node:fs';
import { burst, configMap, connect, headersOf, send, startBinnacle } from './servers.mjs';

export const NS = '/api/v1/namespaces/bench';

/** A server with one object to get. */
export async function startWithObject(folder, flags, node) {
  const server = { ...(await startBinnacle(folder, flags, node)), perGetUs: [] };
  const session = connect(server);
  await send(session, headersOf('POST', '/api/v1/namespaces'), JSON.stringify({ metadata: { name: 'bench' } }));
  await send(session, headersOf('POST', `${NS}/configmaps`), configMap({ name: 'one' }));
  session.close();
  return server;
}

/** One of many short rounds: so many gets, by processor time alone. */
async function measureBurst(server, gets, options) {
  const before = processorUs(server);
  await burst(server, `${NS}/configmaps/one`, gets, options);
  const spentUs = (await settledUs(server)) - before;
  server.perGetUs.push(spentUs / gets);
}

/** The processor time when what the last requests left to do later is done. */
async function settledUs(server) {
  for (let last = processorUs(server); ;) {
    await new Promise((resolve) => setTimeout(resolve, SETTLING_MS));
    const now = processorUs(server);
    if (now - last < SETTLED_US) return now;
    last = now;
  }
}

const SETTLING_MS = 25;
const SETTLED_US = 1000;
const WARMING_GETS = 100_000;

/**
 * Short rounds on all servers alternately, each as often first: what else the machine does meets all of them. V8 makes
 * other code of the same server each time it starts, and two of a kind differ by up to a tenth: so there should be
 * several.
 */
export async function measureAlternately(servers, { rounds, gets, ...options }) {
  for (const server of servers) {
    await measureBurst(server, WARMING_GETS, options);
    server.perGetUs = [];
  }
  for (let round = 0; round < rounds; round++) {
    const first = round % servers.length;
    const order = [...servers.slice(first), ...servers.slice(0, first)];
    for (const server of order) await measureBurst(server, gets, options);
  }
}

/** Of the servers of a kind the quicker half of their rounds counts, which other work on the machine met least. */
export function meanUs(kind) {
  return mean(kind.map(quickerHalf));
}

export function shownUs(kind) {
  const each = kind.map((server) => quickerHalf(server).toFixed(2)).join(', ');
  return `${meanUs(kind).toFixed(2)} µs of the processor for a get (${each})`;
}

function quickerHalf({ perGetUs }) {
  const sorted = perGetUs.toSorted((a, b) => a - b);
  return mean(sorted.slice(0, Math.ceil(sorted.length / 2)));
}

function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The sum of all series of a metric whose names begin so. */
export async function metricSum(server, name) {
  const session = connect(server);
  const text = String(await send(session, headersOf('GET', '/metrics')));
  session.close();
  const lines = text.split('\n').filter((line) => line.startsWith(name));
  return lines.reduce((total, line) => total + Number(line.split(' ').at(-1)), 0);
}

/** Of the thread that serves. */
export function processorUs({ child }) {
  const { pid } = child;
  return Number(fs.readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1000;
}
