import { type Attributes, SCOPES, type Span, type Trace } from '../tracing/trace.js';
import type { GrpcConnection } from './grpc.js';
import { GrpcError } from './grpc-error.js';

/** What is called; `GrpcConnection` is one. */
type Callee = Pick<GrpcConnection, 'peer' | 'call'>;

export interface UnaryCall {
  /** `/package.Service/Method` */
  readonly method: string;
  readonly message: Buffer;
  readonly timeoutMs: number;
}

/** A unary call within a trace: sends the trace context, and records the call as a child span. */
export function tracedCall(connection: Callee, trace: Trace, call: UnaryCall): Promise<Buffer> {
  const { method, message, timeoutMs } = call;
  const { headers, span } = trace.calling(method.slice(1), SCOPES.grpc, () => callAttributes(connection, method));
  const answer = connection.call(method, message, timeoutMs, headers);
  return span === undefined ? answer : recorded(span, message.length, answer);
}

async function recorded(span: Span, sentBytes: number, answer: Promise<Buffer>): Promise<Buffer> {
  span.event('message', messageAttributes('SENT', sentBytes));
  try {
    const received = await answer;
    span.event('message', messageAttributes('RECEIVED', received.length));
    span.set({ 'rpc.grpc.status_code': 0 });
    return received;
  } catch (error) {
    if (error instanceof GrpcError) {
      span.set({ 'rpc.grpc.status_code': error.status });
      span.fail(error.message);
    }
    throw error;
  } finally {
    span.end();
  }
}

const messageAttributes = (type: 'SENT' | 'RECEIVED', bytes: number): Attributes => ({
  'message.type': type,
  'message.id': 1,
  'message.uncompressed_size': bytes,
});

function callAttributes({ peer }: Callee, method: string): Attributes {
  const [, service = '', name = ''] = method.split('/');
  return {
    'rpc.system': 'grpc',
    'rpc.service': service,
    'rpc.method': name,
    ...(peer.address !== '' && { 'net.sock.peer.addr': peer.address, 'net.sock.peer.port': peer.port }),
  };
}
