// gRPC on the server side of our HTTP: a call is a request whose body is framed messages, and its status is what follows the
// answer.
import type { Readable } from 'node:stream';
import { Deadlines } from '../../lib/async/deadlines.js';
import type { HttpHandler, HttpRequest, HttpResponse, ResponseSink } from '../../lib/http/http.js';
import { GrpcError } from '../../outbound/grpc-error.js';
import { framed, messageHead, MessageReader, wholeMessage } from '../../outbound/grpc-messages.js';
import type { BodyErrors } from '../../wire/body-errors.js';
import { GrpcFault, STATUS } from './fault.js';
import { timeoutMsOf } from './timeout.js';

/** One message, one answer: a large one may be in pieces. */
export type UnaryMethod = (message: Buffer) => UnaryAnswer | Promise<UnaryAnswer>;
export type UnaryAnswer = Buffer | readonly Buffer[];

/** Messages both ways. The call is over when it returns, and failed when it throws. */
export interface ServerCall {
  /** Ends when the client sends no more. */
  readonly messages: AsyncIterable<Buffer>;
  /** The message in pieces. False when much is waiting for the client to read: then await `drained`. */
  send(pieces: readonly Buffer[]): boolean;
  readonly pendingBytes: number;
  drained(): Promise<void>;
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
}
export type StreamMethod = (call: ServerCall) => Promise<void>;

export interface GrpcService {
  readonly unary: Readonly<Record<string, UnaryMethod>>;
  readonly streams?: Readonly<Record<string, StreamMethod>>;
}

export interface GrpcOptions {
  /** By the name that paths begin with: `etcdserverpb.KV`. */
  readonly services: Readonly<Record<string, GrpcService>>;
  readonly maxMessageBytes: number;
  /** What failed with no status of its own: a mistake of ours. */
  readonly onError: (error: unknown) => void;
}

export const isGrpc = ({ headers }: HttpRequest): boolean =>
  headers['content-type']?.startsWith('application/grpc') === true;

export const GRPC_BODY_ERRORS: BodyErrors = {
  broken: (why) => new GrpcFault(STATUS.cancelled, why),
  tooLarge: (why) => new GrpcFault(STATUS.resourceExhausted, `grpc: received message larger than max (${why})`),
};

const HEAD_BYTES = 5;
const CONTENT_TYPE: HttpResponse['headers'] = { 'content-type': 'application/grpc' };
const OK: HttpResponse['headers'] = { 'grpc-status': '0' };

export function grpcHandler(options: GrpcOptions): HttpHandler {
  const deadlines = new Deadlines();
  const { maxMessageBytes } = options;
  const failed = (error: unknown): HttpResponse => failure(faultOf(error, options.onError));

  const answerUnary = async (request: HttpRequest, method: UnaryMethod): Promise<HttpResponse> => {
    const body = await request.body(maxMessageBytes + HEAD_BYTES);
    const message = wholeMessage(body, maxMessageBytes) ?? onlyMessage(body, request, maxMessageBytes);
    const answer = method(message);
    const timeoutMs = answer instanceof Promise ? timeoutMsOf(request.headers['grpc-timeout']) : undefined;
    const isLater = answer instanceof Promise && timeoutMs !== undefined;
    const found = await (isLater ? inTime(answer, timeoutMs, deadlines) : answer);
    return {
      status: 200,
      headers: CONTENT_TYPE,
      body: Buffer.isBuffer(found) ? [messageHead(found.length), found] : [messageHead(totalBytes(found)), ...found],
      trailers: OK,
    };
  };

  return (request) => {
    const [, serviceName = '', methodName = ''] = request.path.split('/');
    const service = Object.hasOwn(options.services, serviceName) ? options.services[serviceName] : undefined;
    if (service === undefined) return failure(unimplemented(`unknown service ${serviceName}`));
    if (Object.hasOwn(service.unary, methodName)) {
      return answerUnary(request, service.unary[methodName] as UnaryMethod).catch(failed);
    }
    if (service.streams !== undefined && Object.hasOwn(service.streams, methodName)) {
      return streaming(request, service.streams[methodName] as StreamMethod, options);
    }
    return failure(unimplemented(`unknown method ${methodName} for service ${serviceName}`));
  };
}

const unimplemented = (why: string): GrpcFault => new GrpcFault(STATUS.unimplemented, why);

/** The message of a body that is not simply one: it is refused, unless it is compressed in no way or comes in pieces. */
function onlyMessage(body: Buffer, request: HttpRequest, maxMessageBytes: number): Buffer {
  const [message, ...others] = readerFor(request, maxMessageBytes).take(body);
  if (message === undefined || others.length > 0) {
    throw new GrpcFault(STATUS.internal, 'grpc: a call with one request has another number of messages');
  }
  return message;
}

function readerFor(request: HttpRequest, maxMessageBytes: number): MessageReader {
  const reader = new MessageReader(maxMessageBytes);
  reader.encoding = request.headers['grpc-encoding'] ?? '';
  return reader;
}

function inTime(answer: Promise<UnaryAnswer>, timeoutMs: number, deadlines: Deadlines): Promise<UnaryAnswer> {
  return new Promise((resolve, reject) => {
    const late = new GrpcFault(STATUS.deadlineExceeded, 'context deadline exceeded');
    const deadline = deadlines.set(Date.now(), timeoutMs, () => reject(late));
    answer.then(
      (found) => {
        deadlines.clear(deadline);
        resolve(found);
      },
      (error: unknown) => {
        deadlines.clear(deadline);
        reject(error as Error);
      },
    );
  });
}

function streaming(request: HttpRequest, method: StreamMethod, options: GrpcOptions): HttpResponse {
  const stream = async (sink: ResponseSink): Promise<void> => {
    const body = request.bodyStream();
    const call: ServerCall = {
      messages: messagesOf(body, readerFor(request, options.maxMessageBytes)),
      send: (pieces) => sendPieces(sink, pieces),
      get pendingBytes() {
        return sink.pendingBytes;
      },
      drained: () => sink.drained(),
      signal: request.signal,
    };
    let trailers = OK;
    try {
      await method(call);
    } catch (error) {
      trailers = statusFields(faultOf(error, options.onError));
    }
    sink.trail?.(trailers);
  };
  return { status: 200, headers: CONTENT_TYPE, body: { stream } };
}

function sendPieces(sink: ResponseSink, pieces: readonly Buffer[]): boolean {
  const [only] = pieces;
  if (pieces.length === 1 && only !== undefined) return sink.write(framed(only));
  sink.write(messageHead(totalBytes(pieces)));
  let isOpen = true;
  for (const piece of pieces) isOpen = sink.write(piece);
  return isOpen;
}

const totalBytes = (pieces: readonly Buffer[]): number => pieces.reduce((sum, { length }) => sum + length, 0);

async function* messagesOf(body: Readable | undefined, reader: MessageReader): AsyncIterable<Buffer> {
  if (body === undefined) return;
  for await (const chunk of body) yield* reader.take(chunk as Buffer);
}

/** A call that failed before it was answered has its status in its head. */
const failure = (fault: GrpcFault): HttpResponse => ({
  status: 200,
  headers: { 'content-type': 'application/grpc', ...statusFields(fault) },
  body: undefined,
});

const statusFields = ({ status, message }: GrpcFault): HttpResponse['headers'] => ({
  'grpc-status': String(status),
  'grpc-message': percentEncoded(message),
});

function faultOf(error: unknown, onError: (error: unknown) => void): GrpcFault {
  if (error instanceof GrpcFault) return error;
  if (error instanceof GrpcError) return new GrpcFault(error.status, error.message);
  onError(error);
  return new GrpcFault(STATUS.unknown, 'internal error');
}

/** All but printable ASCII, and the percent sign, as gRPC has it. */
const percentEncoded = (text: string): string =>
  PLAIN.test(text)
    ? text
    : [...Buffer.from(text)]
        .map((byte) =>
          byte >= 0x20 && byte <= 0x7e && byte !== 0x25
            ? String.fromCharCode(byte)
            : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
        )
        .join('');
const PLAIN = /^[ -$&-~]*$/;
