// Blocks of base64 between BEGIN and END lines.

export interface PemBlock {
  readonly type: string;
  /** `Proc-Type: …` lines before the data. */
  readonly hasHeaders: boolean;
  readonly bytes: Buffer;
}

const BLOCK = /^-----BEGIN ([^\n]*?)-----[ \t\r]*\n([\s\S]*?)^-----END \1-----[ \t\r]*$/gm;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Every well-formed block, in order; what lies between is passed over. */
export function decodePem(text: string): PemBlock[] {
  const blocks: PemBlock[] = [];
  for (const [, type = '', content = ''] of text.matchAll(BLOCK)) {
    const lines = content.split('\n').map((line) => line.trim());
    const body = lines.filter((line) => !line.includes(':')).join('');
    if (!BASE64.test(body) || body.length % 4 !== 0) continue;
    blocks.push({ type, hasHeaders: lines.some((line) => line.includes(':')), bytes: Buffer.from(body, 'base64') });
  }
  return blocks;
}
