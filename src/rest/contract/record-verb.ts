// A verb under the request's trace: its span, and that of writing the answer.
import { sourceIps } from '../../audit/source-ips.js';
import { errorText } from '../../lib/text/error-text.js';
import { bodyBytes, firstHeader, type HttpResponse, isStream } from '../../lib/http/http.js';
import { type MaybePromise, whenReady } from '../../lib/async/maybe-promise.js';
import { requestScope } from '../../machinery/request-scope.js';
import { RouteRefusal } from '../../machinery/status.js';
import type { Verb } from '../../registry/kind.js';
import type { Attributes, Span } from '../../tracing/trace.js';
import type { RestRequest } from './request.js';

const SPAN_NAMES: Readonly<Record<Verb, string>> = {
  get: 'Get',
  list: 'List',
  watch: 'List',
  create: 'Create',
  update: 'Update',
  patch: 'Patch',
  delete: 'Delete',
  deletecollection: 'Delete',
};

export interface RecordedVerb {
  readonly verb: Verb;
  readonly request: RestRequest;
  /** Works on the request, under the verb's span by then. */
  readonly run: () => MaybePromise<HttpResponse>;
  /** Makes an answer of what `run` throws, or throws it on. */
  readonly refuse: (error: unknown) => MaybePromise<HttpResponse>;
}

export function recordVerb(above: Span, { verb, request, run, refuse }: RecordedVerb): MaybePromise<HttpResponse> {
  const span = above.child(SPAN_NAMES[verb], requestAttributes(request, above.auditId));
  // kube-apiserver ends the span of a list once it has read the store; of a watch, or a list it refuses before, none.
  const end = (): void => {
    if ((verb !== 'list' && verb !== 'watch') || request.listing !== undefined) span.end();
  };
  const write = (answer: HttpResponse): HttpResponse =>
    recordAnswer(span, request, answer, (failed) => {
      const count = request.listing?.count;
      if (!failed) span.event('Writing http response done', count === undefined ? {} : { count });
      end();
    });
  const fail = (error: unknown): MaybePromise<HttpResponse> => {
    try {
      const refused = error instanceof RouteRefusal ? above : span;
      return whenReady(refuse(error), (refusal) =>
        recordAnswer(refused, request, refusal, () => {
          if (refused === span) end();
        }),
      );
    } catch (bug) {
      span.end();
      throw bug;
    }
  };
  request.trace = span;
  // What needs no promise unrecorded needs none here: those that are not recorded run through the same code.
  let answer: MaybePromise<HttpResponse>;
  try {
    answer = run();
  } catch (error) {
    return fail(error);
  }
  return answer instanceof Promise ? answer.then(write, fail) : write(answer);
}

/**
 * Records also what a filter refuses, but only answers that are objects. `done` is called when the last byte is written,
 * and says whether one could not be.
 */
export function recordAnswer(
  above: Span,
  request: Pick<RestRequest, 'http' | 'info'>,
  answer: HttpResponse,
  done: (failed: boolean) => void = () => undefined,
): HttpResponse {
  const isObject = answer.object !== undefined;
  const writing = isObject
    ? above.child('SerializeObject', answerAttributes(request, answer, above.auditId))
    : undefined;
  return whenWritten(answer, writing, (failed) => {
    writing?.end();
    done(failed);
  });
}

/** Notes how storing went, with everything that comes before it. */
export const noteStoring = <T>(span: Span | undefined, sentBytes: number, store: () => Promise<T>): Promise<T> =>
  span === undefined ? store() : noteStored(span, sentBytes, store);

async function noteStored<T>(span: Span, sentBytes: number, store: () => Promise<T>): Promise<T> {
  span.event('About to store object in database');
  try {
    const stored = await store();
    span.event('Write to database call succeeded', { len: sentBytes });
    return stored;
  } catch (error) {
    span.event('Write to database call failed', { len: sentBytes, err: errorText(error) });
    throw error;
  }
}

function whenWritten(answer: HttpResponse, writing: Span | undefined, done: (failed: boolean) => void): HttpResponse {
  const { body } = answer;
  if (!isStream(body)) {
    const size = bodyBytes(body) ?? 0;
    writing?.event('About to start writing response', { size });
    writing?.event('Write call succeeded', { size });
    done(false);
    return answer;
  }
  return {
    ...answer,
    body: {
      async stream(sink) {
        let failed = true;
        writing?.event('About to start writing response');
        try {
          await body.stream(sink);
          failed = false;
        } finally {
          writing?.event(failed ? 'Write call failed' : 'Write call succeeded');
          done(failed);
        }
      },
    },
  };
}

const MAX_USER_AGENT_LENGTH = 1024;

function requestAttributes(request: RestRequest, auditId: string): Attributes {
  const { http, info } = request;
  const agent = http.headers['user-agent'] ?? '';
  return {
    accept: firstHeader(http, 'accept') ?? '',
    'audit-id': auditId,
    client: sourceIps(http)[0] ?? '',
    'api-group': info.apiGroup,
    'api-version': info.apiVersion,
    name: info.name,
    subresource: info.subresource,
    namespace: info.namespace,
    protocol: `HTTP/${http.httpVersion}`,
    resource: info.resource,
    scope: requestScope(info),
    url: info.path,
    'user-agent': agent.length > MAX_USER_AGENT_LENGTH ? `${agent.slice(0, MAX_USER_AGENT_LENGTH)}...TRUNCATED` : agent,
    verb: shownVerb(request),
  };
}

function shownVerb({ http, info }: RestRequest): string {
  if (info.verb === 'list' && info.name === '') return 'LIST';
  // kube-apiserver counts it with what connects.
  if (info.subresource === 'log') return 'CONNECT';
  const applies = (http.headers['content-type'] ?? '').startsWith('application/apply-patch+');
  return http.method === 'PATCH' && applies ? 'APPLY' : http.method;
}

function answerAttributes(
  { http, info }: Pick<RestRequest, 'http' | 'info'>,
  { headers }: HttpResponse,
  auditId: string,
): Attributes {
  return {
    'audit-id': auditId,
    method: http.method,
    url: info.path,
    protocol: `HTTP/${http.httpVersion}`,
    mediaType: String(headers['content-type'] ?? ''),
  };
}
