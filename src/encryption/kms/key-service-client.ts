// Calls to a key service over its socket, and what a failed one is called.
import { type ProtoValue, readFields } from '../../lib/protobuf-wire.js';
import { GrpcError, INTERNAL, NoAnswer } from '../../outbound/grpc-error.js';
import { grpcStatusName, WaitingGrpc, type WaitingGrpcOptions } from '../../outbound/waiting-grpc.js';
import { NO_SERVICE, SealError } from '../seal-error.js';

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

  /** Hands over the fields of the answer. Rejects with a SealError. */
  async call(method: string, message: Buffer, take: (field: number, value: ProtoValue) => void): Promise<void> {
    const answer = await this.#answer(method, message);
    try {
      readFields(answer, take);
    } catch {
      throw refused(INTERNAL, UNREADABLE);
    }
  }

  async #answer(method: string, message: Buffer): Promise<Buffer> {
    try {
      return await this.#calls.call(method, message, this.#timeoutMs);
    } catch (error) {
      if (error instanceof NoAnswer) throw new SealError(error.message, NO_SERVICE);
      if (!(error instanceof GrpcError)) throw error;
      throw refused(error.status, error.message);
    }
  }

  close(): void {
    this.#calls.close();
  }
}

const UNREADABLE = 'grpc: failed to unmarshal the received message: proto: cannot parse invalid wire-format data';

function refused(status: number, why: string): SealError {
  const name = grpcStatusName(status);
  return new SealError(`rpc error: code = ${name} desc = ${why}`, name);
}
