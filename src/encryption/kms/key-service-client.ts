// Calls to a key service over its socket, and what a failed one is called.
import { DEADLINE_EXCEEDED, GrpcError } from '../../outbound/grpc.js';
import { grpcStatusName, WaitingGrpc, type WaitingGrpcOptions } from '../../outbound/waiting-grpc.js';
import { SealError } from '../seal-error.js';

export interface KeyServiceClientOptions extends WaitingGrpcOptions {
  /** For a call and all it waits for. */
  readonly timeoutMs: number;
}

export class KeyServiceClient {
  readonly #calls: WaitingGrpc;
  readonly #timeoutMs: number;

  constructor(options: KeyServiceClientOptions) {
    this.#calls = new WaitingGrpc(options);
    this.#timeoutMs = options.timeoutMs;
  }

  /** Rejects with a SealError. */
  async call(method: string, message: Buffer): Promise<Buffer> {
    try {
      return await this.#calls.call(method, message, this.#timeoutMs);
    } catch (error) {
      if (!(error instanceof GrpcError)) throw error;
      const name = grpcStatusName(error.status);
      const why = error.status === DEADLINE_EXCEEDED ? 'context deadline exceeded' : error.message;
      throw new SealError(`rpc error: code = ${name} desc = ${why}`, name);
    }
  }

  close(): void {
    this.#calls.close();
  }
}
