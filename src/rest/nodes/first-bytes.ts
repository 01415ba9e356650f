import type { Readable } from 'node:stream';

/** What comes first, as text; the rest is not read. */
export async function firstBytes(body: Readable, limitBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= limitBytes) break;
    }
  } finally {
    body.destroy();
  }
  return Buffer.concat(chunks).toString('utf8', 0, Math.min(length, limitBytes));
}
