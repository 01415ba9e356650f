// Asks an extension server for its resources: one that answers is available.
import { OutboundError, requestErrorText } from '../outbound/outbound-error.js';
import type { APIService } from '../schema/generated/apiregistration.v1.js';
import { identityHeaders } from './identity-headers.js';
import type { Judgement } from './remote-condition.js';
import type { RemoteServer, RemoteServers } from './remote-servers.js';

const CHECKER = { name: 'system:kube-aggregator', groups: ['system:masters'] };
const TIMEOUT_MS = 5000;
/** All at once: a server that lost a connection may still be there, and one that hangs is known by then. */
const ATTEMPTS = 5;

export async function checkDiscovery(service: Readonly<APIService>, servers: RemoteServers): Promise<Judgement> {
  let why = '';
  const attempt = async (): Promise<Judgement> => {
    why = (await failureOf(service, servers)) ?? '';
    return why === '' ? PASSED : Promise.reject(new Error(why));
  };
  return Promise.any(Array.from({ length: ATTEMPTS }, attempt)).catch(() => ({
    type: 'Available',
    status: 'False',
    reason: 'FailedDiscoveryCheck',
    message: why,
  }));
}

async function failureOf(service: Readonly<APIService>, servers: RemoteServers): Promise<string | undefined> {
  try {
    return await ask(await servers.reachUnverified(service), service);
  } catch (error) {
    return OutboundError.from(error).message;
  }
}

const PASSED: Judgement = { type: 'Available', status: 'True', reason: 'Passed', message: 'all checks passed' };

/** Undefined: all is well. */
async function ask({ client, origin }: RemoteServer, { spec }: Readonly<APIService>): Promise<string | undefined> {
  const url = new URL(`/apis/${spec.group}/${spec.version}`, origin);
  const failing = (why: string): string => `failing or missing response from ${url.href}: ${why}`;
  try {
    const headers = identityHeaders(CHECKER);
    const { status, body } = await client.request({ method: 'GET', url, headers, timeoutMs: TIMEOUT_MS });
    body.resume();
    return status >= 200 && status < 300 ? undefined : failing(`bad status from ${url.href}: ${status}`);
  } catch (error) {
    const failure = OutboundError.from(error);
    const late = failure.failure === 'timeout' ? ' (Client.Timeout exceeded while awaiting headers)' : '';
    return failing(`${requestErrorText('GET', url, failure)}${late}`);
  }
}
