// Calls to a KMS plugin over its socket, and what a failed one is called.
import { GrpcError, INTERNAL, NoAnswer } from '../../outbound/grpc-error.js';
import { grpcStatusName, LazyGrpc, type LazyGrpcOptions } from '../../outbound/lazy-grpc.js';
import { NO_SERVICE, EncryptionError } from '../encryption-error.js';

export interface KmsPluginClientOptions extends LazyGrpcOptions {
  /** For a call and all it waits for. */
  readonly timeoutMs: number;
}

export class KmsPluginClient {
  readonly #calls: LazyGrpc;
  readonly #timeoutMs: number;

  constructor(options: KmsPluginClientOptions) {
    this.#calls = new LazyGrpc(options);
    this.#timeoutMs = options.timeoutMs;
  }

  /** Rejects with an EncryptionError. */
  async call<T>(method: string, request: Buffer, response: { decode(bytes: Buffer): T }): Promise<T> {
    const answer = await this.#answer(method, request);
    try {
      return response.decode(answer);
    } catch {
      throw refused(INTERNAL, UNREADABLE);
    }
  }

  async #answer(method: string, message: Buffer): Promise<Buffer> {
    try {
      return await this.#calls.call(method, message, this.#timeoutMs);
    } catch (error) {
      if (error instanceof NoAnswer) throw new EncryptionError(error.message, NO_SERVICE);
      if (!(error instanceof GrpcError)) throw error;
      throw refused(error.status, error.message);
    }
  }

  close(): void {
    this.#calls.close();
  }
}

const UNREADABLE = 'grpc: failed to unmarshal the received message: proto: cannot parse invalid wire-format data';

function refused(status: number, why: string): EncryptionError {
  const name = grpcStatusName(status);
  return new EncryptionError(`rpc error: code = ${name} desc = ${why}`, name);
}
