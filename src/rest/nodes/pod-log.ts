// A container's log: requested from its kubelet, and passed on as it comes.
import { encodeQuery } from '../../lib/go/url-parts.js';
import { type HttpResponse, isWebSocketRequest, type ResponseStream } from '../../lib/http/http.js';
import { badRequest, genericResponse, internalError, StatusError } from '../../machinery/status.js';
import type { OutboundResponse } from '../../outbound/messages.js';
import { OutboundError, requestErrorText } from '../../outbound/outbound-error.js';
import { requestDecompressed, streamOf } from '../../outbound/proxy/forward.js';
import type { Pod } from '../../schema/generated/core.v1.js';
import { negotiate, type NegotiatedPath } from '../wire/negotiate.js';
import { checkLogOptions, type LogOptions, readLogOptions } from './pod-log-options.js';
import type { RestRequest } from '../contract/request.js';
import type { RestServices } from '../contract/services.js';
import { locateKubelet } from './kubelet-location.js';
import { containerOf } from './containers.js';
import { firstBytes } from './first-bytes.js';
import { logMessages } from './log-messages.js';

const PODS = { group: '', resource: 'pods' };
const LOGS = { group: '', resource: 'pods/log' };
/** The log is text whatever form is requested; a client that accepts none of an object's forms is refused. */
const LOG_PATH: NegotiatedPath = { tables: false, texts: ['text/plain'] };

export async function podLog(
  services: RestServices,
  request: RestRequest,
  findPod: () => Promise<Pod>,
): Promise<HttpResponse> {
  const { nodes, lookup, features } = services;
  const { http, info } = request;
  negotiate(http, services.mediaTypes, LOG_PATH);
  const span = request.trace?.span;
  span?.event('About to process Get options');
  const options = readLogOptions(http.query);
  const { unverified } = options;
  span?.event('About to Get from storage');
  nodes
    .logMetrics()
    .usage.with(unverified ? 'skip_tls_allowed' : 'enforce_tls')
    .inc();
  checkLogOptions(options, info.name, features);
  const pod = await findPod();
  const container = containerOf(pod, options.container);
  if (!pod.spec?.nodeName) return { status: 204, headers: {}, body: undefined };
  const { url, host } = await locateKubelet(nodes, lookup, pod.spec.nodeName, PODS);
  const query = kubeletQuery(options, features.enabled('PodLogsQuerySplitStreams'));
  const path = `/containerLogs/${info.namespace}/${info.name}/${container}`;
  const target = query === '' ? path : `${path}?${query}`;

  const client = unverified ? nodes.unverifiedKubelets : nodes.kubelets;
  const outgoing = { method: 'GET', url, target, headers: { host }, sendUserAgent: true, signal: http.signal };
  const answer = await requestDecompressed(client, outgoing).catch((error: unknown) => {
    const failed = OutboundError.from(error);
    if (failed.message.includes('x509:')) nodes.logMetrics().tlsFailures.with().inc();
    throw new StatusError(500, '', requestErrorText('GET', `https://${host}${target}`, failed));
  });
  await checkAnswer(answer, info.name);
  span?.event('About to write a response');
  const stream = streamOf(answer.body);
  // A log that breaks off has ended: what there was of it has been sent.
  const log: ResponseStream = { stream: (sink) => stream.stream(sink).catch(() => undefined) };
  if (http.upgrade !== undefined && isWebSocketRequest(http)) {
    const messages = logMessages(request, log);
    if (messages.status !== 101) answer.body.destroy();
    return messages;
  }
  return { status: 200, headers: { 'content-type': 'text/plain' }, body: log };
}

function kubeletQuery(options: LogOptions, splitStreams: boolean): string {
  const parameters: [string, string][] = [];
  for (const name of ['follow', 'previous', 'timestamps'] as const) if (options[name]) parameters.push([name, 'true']);
  for (const name of ['sinceSeconds', 'sinceTime', 'tailLines', 'limitBytes'] as const) {
    const value = options[name];
    if (value !== undefined) parameters.push([name, String(value)]);
  }
  if (splitStreams) parameters.push(['stream', options.stream ?? 'All']);
  return encodeQuery(parameters);
}

/** As much of a kubelet's error as is passed on. */
const MAX_COMPLAINT_BYTES = 50_000;

async function checkAnswer({ status, headers, body }: OutboundResponse, podName: string): Promise<void> {
  if (status >= 200 && status <= 206) return;
  if (REDIRECTS.has(status) && headers.location !== undefined) {
    body.destroy();
    const redirected = new OutboundError('protocol', 'redirects forbidden');
    throw new StatusError(500, '', requestErrorText('GET', headers.location, redirected));
  }
  const complaint = await firstBytes(body, MAX_COMPLAINT_BYTES).catch((error: unknown) => {
    throw internalError(OutboundError.from(error).message);
  });
  if (status === 500) throw internalError(complaint);
  if (status === 400) throw badRequest(complaint);
  throw genericResponse(status, LOGS, podName, complaint);
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
