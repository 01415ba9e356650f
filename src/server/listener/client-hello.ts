// The first message of a TLS client, read before its handshake begins: what it says decides which certificate is shown.
//
//   record    16 | version | length | fragment          a message is in one record, rarely in several
//   message   01 | length (3) | version | random (32) | session id | suites | compressions | extensions

export interface ClientHello {
  /** In lower case; empty where the client named none. */
  readonly serverName: string;
  readonly versions: readonly number[];
  readonly suites: readonly number[];
  readonly groups: readonly number[];
  readonly signatureSchemes: readonly number[];
}

/** Collects a client's first bytes until the message is whole, or can be none. */
export class ClientHelloReader {
  readonly #pieces: Buffer[] = [];
  #length = 0;
  #neededBytes = 1;
  #message: Buffer | undefined;

  /** Whether no more bytes are needed. */
  push(piece: Buffer): boolean {
    this.#pieces.push(piece);
    this.#length += piece.length;
    // What is there is looked at again only when it reaches further, so a client that sends byte by byte costs no more.
    if (this.#length < this.#neededBytes) return false;
    const found = messageIn(this.bytes);
    if (typeof found === 'number') {
      this.#neededBytes = found;
      return false;
    }
    this.#message = found;
    return true;
  }

  /** All that was read. */
  get bytes(): Buffer {
    if (this.#pieces.length > 1) this.#pieces.splice(0, this.#pieces.length, Buffer.concat(this.#pieces));
    return this.#pieces[0] ?? Buffer.alloc(0);
  }

  /** `undefined` for what is no such message: TLS itself then says what is wrong with it. */
  get hello(): ClientHello | undefined {
    return this.#message && parseClientHello(this.#message);
  }
}

const HANDSHAKE_RECORD = 22;
const CLIENT_HELLO = 1;
const RECORD_HEADER_BYTES = 5;
const MESSAGE_HEADER_BYTES = 4;
const MAX_FRAGMENT_BYTES = 16_384;
const MAX_MESSAGE_BYTES = 65_536;
/** Four of full size hold the largest message. */
const MAX_RECORDS = 64;

/** The message without its header; how many bytes are needed to go on; `undefined` when it is something else. */
function messageIn(bytes: Buffer): Buffer | number | undefined {
  const fragments: Buffer[] = [];
  let length = 0;
  let end: number | undefined;
  let at = 0;
  while (fragments.length < MAX_RECORDS) {
    if (at < bytes.length && bytes[at] !== HANDSHAKE_RECORD) return undefined;
    const start = at + RECORD_HEADER_BYTES;
    if (bytes.length < start) return start;
    const fragmentBytes = bytes.readUInt16BE(at + 3);
    if (fragmentBytes === 0 || fragmentBytes > MAX_FRAGMENT_BYTES) return undefined;
    at = start + fragmentBytes;
    if (bytes.length < at) return at;
    fragments.push(bytes.subarray(start, at));
    length += fragmentBytes;
    if (length < MESSAGE_HEADER_BYTES) continue;
    end ??= messageEnd(Buffer.concat(fragments));
    if (end === undefined) return undefined;
    if (length >= end) return Buffer.concat(fragments).subarray(MESSAGE_HEADER_BYTES, end);
  }
  return undefined;
}

/** Where the message ends that begins so; `undefined` when it is not to be waited for. */
function messageEnd(start: Buffer): number | undefined {
  const messageBytes = start.readUIntBE(1, 3);
  const isHello = start[0] === CLIENT_HELLO && messageBytes <= MAX_MESSAGE_BYTES;
  return isHello ? MESSAGE_HEADER_BYTES + messageBytes : undefined;
}

const RANDOM_BYTES = 32;
const EXTENSIONS = { serverName: 0, groups: 10, signatureSchemes: 13, versions: 43 };
const HOST_NAME = 0;

function parseClientHello(message: Buffer): ClientHello | undefined {
  try {
    const fields = new Fields(message);
    const version = fields.number(2);
    fields.skip(RANDOM_BYTES);
    fields.vector(1);
    const suites = numbersIn(fields.vector(2));
    fields.vector(1);
    const extensions = new Map<number, Buffer>();
    const all = new Fields(fields.isAtEnd ? Buffer.alloc(0) : fields.vector(2));
    while (!all.isAtEnd) extensions.set(all.number(2), all.vector(2));
    const numbers = (extension: number, lengthBytes: number): number[] | undefined => {
      const body = extensions.get(extension);
      return body && numbersIn(new Fields(body).vector(lengthBytes));
    };
    return {
      serverName: serverNameIn(extensions.get(EXTENSIONS.serverName)),
      versions: numbers(EXTENSIONS.versions, 1) ?? [version],
      suites,
      groups: numbers(EXTENSIONS.groups, 2) ?? [],
      signatureSchemes: numbers(EXTENSIONS.signatureSchemes, 2) ?? [],
    };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function serverNameIn(extension: Buffer | undefined): string {
  if (extension === undefined) return '';
  const names = new Fields(new Fields(extension).vector(2));
  while (!names.isAtEnd) {
    const type = names.number(1);
    const name = names.vector(2);
    if (type === HOST_NAME) return name.toString('latin1').toLowerCase();
  }
  return '';
}

const numbersIn = (bytes: Buffer): number[] =>
  Array.from({ length: Math.floor(bytes.length / 2) }, (_, i) => bytes.readUInt16BE(2 * i));

/** Throws a RangeError where there is less than is asked for. */
class Fields {
  #at = 0;

  constructor(private readonly bytes: Buffer) {}

  get isAtEnd(): boolean {
    return this.#at >= this.bytes.length;
  }

  number(lengthBytes: number): number {
    const number = this.bytes.readUIntBE(this.#at, lengthBytes);
    this.#at += lengthBytes;
    return number;
  }

  skip(lengthBytes: number): void {
    this.#at += lengthBytes;
    if (this.#at > this.bytes.length) throw new RangeError('the message is cut short');
  }

  /** Bytes that follow their own length. */
  vector(lengthBytes: number): Buffer {
    const length = this.number(lengthBytes);
    const start = this.#at;
    this.skip(length);
    return this.bytes.subarray(start, this.#at);
  }
}
