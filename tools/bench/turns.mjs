// Gets on servers that take turns, by their rate and by the processor time of the thread that serves: on a machine that
// others use as well, that time says more.
import fs from 'node:fs';
import { burst, configMap, connect, load, median, send, startBinnacle } from './servers.mjs';

export const NS = '/api/v1/namespaces/bench';

/** A server with one object to get. */
export async function startWithObject(folder, flags, node) {
  const server = { ...(await startBinnacle(folder, flags, node)), rates: [], processorUs: 0, gets: 0, perGetUs: [] };
  const session = connect(server);
  await send(session, 'POST', '/api/v1/namespaces', JSON.stringify({ metadata: { name: 'bench' } }));
  await send(session, 'POST', `${NS}/configmaps`, configMap({ name: 'one' }));
  session.close();
  return server;
}

/** One round: the rate. */
export async function measureGets(server, options) {
  const before = processorUs(server);
  const rate = await load(server, `${NS}/configmaps/one`, options);
  const spentUs = processorUs(server) - before;
  // The first second is for warming up; it is not counted in the rate.
  const gets = rate * (options.seconds + 1);
  server.processorUs += spentUs;
  server.gets += gets;
  server.perGetUs.push(spentUs / gets);
  server.rates.push(rate);
  return rate;
}

/** One of many short rounds: so many gets, by processor time alone. */
export async function measureBurst(server, gets, options) {
  const before = processorUs(server);
  await burst(server, `${NS}/configmaps/one`, gets, options);
  const spentUs = processorUs(server) - before;
  server.processorUs += spentUs;
  server.gets += gets;
  server.perGetUs.push(spentUs / gets);
}

export function shown({ rates, processorUs: us, gets }) {
  const rate = median([...rates])
    .toFixed(0)
    .padStart(7);
  return `${rate} gets/s, ${(us / gets).toFixed(1)} µs of the processor each`;
}

/** The sum of all series of a metric whose names begin so. */
export async function metricSum(server, name) {
  const session = connect(server);
  const text = String(await send(session, 'GET', '/metrics'));
  session.close();
  const lines = text.split('\n').filter((line) => line.startsWith(name));
  return lines.reduce((total, line) => total + Number(line.split(' ').at(-1)), 0);
}

/** Of the thread that serves. */
export function processorUs({ child }) {
  const { pid } = child;
  return Number(fs.readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1000;
}
