// Cuts what comes off a stream into messages that have a head with their length in front.
//
//   chunk  ▒▒head▒|message|▒head▒|mess      take() → [message]
//   chunk  age|▒head▒|message|▒he           take() → [message, message]
export interface MessageHead {
  readonly bytes: number;
  /** The length of the message, of a buffer that begins with its head. Throws for what is none. */
  readonly lengthIn: (buffer: Buffer) => number;
}

export class MessageSplitter {
  #chunks: Buffer[] = [];
  #length = 0;

  constructor(private readonly head: MessageHead) {}

  /** The messages that a chunk completes, without their heads: views of what came. */
  take(chunk: Buffer): Buffer[] {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    const messages: Buffer[] = [];
    for (;;) {
      const end = this.#nextEnd();
      if (end === undefined || this.#length < end) return messages;
      const all = this.#chunks.length === 1 ? (this.#chunks[0] ?? chunk) : Buffer.concat(this.#chunks);
      messages.push(all.subarray(this.head.bytes, end));
      const rest = all.subarray(end);
      this.#chunks = rest.length === 0 ? [] : [rest];
      this.#length = rest.length;
    }
  }

  /** A message has begun, and its length is known. */
  get isInside(): boolean {
    return this.#length >= this.head.bytes;
  }

  /** Where the next message ends; undefined while its head is not whole. */
  #nextEnd(): number | undefined {
    const { bytes, lengthIn } = this.head;
    let [first] = this.#chunks;
    if (first === undefined || this.#length < bytes) return undefined;
    if (first.length < bytes) {
      first = Buffer.concat(this.#chunks);
      this.#chunks = [first];
    }
    return bytes + lengthIn(first);
  }
}
